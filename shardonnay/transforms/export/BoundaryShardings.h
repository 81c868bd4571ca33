//===- BoundaryShardings.h ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_EXPORT_BOUNDARYSHARDINGS_H
#define SHARDONNAY_TRANSFORMS_EXPORT_BOUNDARYSHARDINGS_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/algebra/Mesh.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace shardonnay {

/// What a trim leaves alone.
struct TrimScope {
  bool privateFunctions = false;
  bool closedDims = false;
  /// Whether open dims take the axes in `sdy.given_sharding`, which propagation
  /// writes where a trim might take away what it found.
  bool given = false;
};

/// Replaces the axes of each dim of each argument and result of a function by
/// `trim(axes, size of the dim, mesh)`, a prefix of them, but for what `keeps`
/// says.
void trimBoundaryShardings(
    mlir::ModuleOp module, TrimScope keeps,
    llvm::function_ref<AxisList(AxisList, int64_t, const Mesh &)> trim);
/// The same for the open dims of results of calls.
void trimCallShardings(
    mlir::ModuleOp module,
    llvm::function_ref<AxisList(AxisList, int64_t, const Mesh &)> trim);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_EXPORT_BOUNDARYSHARDINGS_H
