//===- RuleAccess.h - the sharding rule that applies to an op ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op may state its rule itself (ShardingRuleOpInterface), and may have one
// as its `sdy.sharding_rule`: a user's, or a print of its own, which loses
// combiners. A user's rule says how shardings spread, and which dims the op is
// to see whole; it can't change how else an op that states a rule is computed
// on local shards.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_RULEACCESS_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_RULEACCESS_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Factor.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include <optional>

namespace mlir::sdy {

/// The rule that the user gave to `op`: it says `custom`, or another one than
/// the op's own, which passes write. Null if there is none.
OpShardingRuleAttr getUserRule(Operation *op);

/// The rule that propagation follows: the user's, else the op's own, else
/// what is written. No factor is retiled or exchanged.
std::optional<shardonnay::FactorRule> getPropagationRule(Operation *op);

/// The rule that the op can be computed by: its own, else what is written.
/// Windowed and need-replication factors are windowed where the op can be
/// computed with them sharded (LocalComputeOpInterface::mayShard),
/// need-replication where not; so are factors that a custom rule has on one
/// side only, and those that a custom rule says are.
std::optional<shardonnay::FactorRule> getComputationRule(Operation *op);

/// The two of which it is one, by how the results are sharded
/// (shardsPickedDim): that of the op as a lookup of some positions, if it is
/// one, and the other one.
std::optional<shardonnay::FactorRule> getPickingRule(Operation *op);
std::optional<shardonnay::FactorRule> getWindowRule(Operation *op);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_RULEACCESS_H
