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

/// Replaces the axes of each open dim of each argument and result of a function
/// by `trim(axes, size of the dim, mesh)`, a prefix of them. What was given
/// stays: closed dims, and of open ones the axes in `sdy.given_sharding`, which
/// propagation writes where a trim might take away what it found.
/// `withPrivate`: also of private functions.
void trimBoundaryShardings(
    mlir::ModuleOp module, bool withPrivate,
    llvm::function_ref<AxisList(AxisList, int64_t, const Mesh &)> trim);
/// The same for the results of calls.
void trimCallShardings(
    mlir::ModuleOp module,
    llvm::function_ref<AxisList(AxisList, int64_t, const Mesh &)> trim);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_EXPORT_BOUNDARYSHARDINGS_H
