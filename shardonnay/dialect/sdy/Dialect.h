//===- Dialect.h - the sdy dialect ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_DIALECT_H
#define SHARDONNAY_DIALECT_SDY_DIALECT_H

#include "mlir/IR/Dialect.h"

#include "shardonnay/dialect/sdy/Dialect.h.inc"

namespace mlir::sdy {

/// A TensorShardingAttr on function arguments and results, a
/// TensorShardingPerValueAttr (one for each result) on operations.
inline constexpr llvm::StringLiteral kShardingAttr("sdy.sharding");
/// An OpShardingRuleAttr, on operations.
inline constexpr llvm::StringLiteral kShardingRuleAttr("sdy.sharding_rule");
/// A TensorShardingAttr on function arguments and results, from propagation to
/// export: the sharding as it was given, where its open dims have axes that do
/// not divide them or are not full. (Others are told by their closed dims.)
inline constexpr llvm::StringLiteral kGivenShardingAttr("sdy.given_sharding");

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_DIALECT_H
