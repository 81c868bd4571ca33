//===- OpSharding.h - the sharding of an op's factors -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `sdy.op_sharding` on an op is a sharding whose dims are the factors of the
// op's rule, in their order: `<@mesh, [{"x"}, {}, {"y"}]>` on a matmul computes
// it with rows by x and the contracted dim by y. It is the sharding option of
// the Mesh dialect's design, and what a user or a search edits. Without open
// dims the op is computed so; with one it is a hint, which propagation follows.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_OPSHARDING_H
#define SHARDONNAY_DIALECT_SDY_OPSHARDING_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include <optional>

namespace mlir::sdy {

inline constexpr llvm::StringLiteral kOpShardingAttr("sdy.op_sharding");

/// As it is written on `op`; null if it is not.
TensorShardingAttr getOpSharding(Operation *op);

/// The axes of each of `numFactors` factors of `op`, if they are written, are
/// required (no dim is open), and are on `mesh`.
std::optional<SmallVector<shardonnay::AxisList, 6>>
getRequiredOpSharding(Operation *op, size_t numFactors, MeshAttr mesh);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_OPSHARDING_H
