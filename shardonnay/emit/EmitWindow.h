//===- EmitWindow.h - windows of a sharded dim in StableHLO -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_EMITWINDOW_H
#define SHARDONNAY_EMIT_EMITWINDOW_H

#include "shardonnay/emit/CollectiveBuilder.h"
#include "shardonnay/plan/WindowPlan.h"

namespace shardonnay {

/// This device's window of dim `dim` of `tensor` (spmd.fetch_window), as
/// planned by planWindows; `mesh` is the problem's. Positions outside the dim
/// are `fill`; null: anything.
mlir::Value emitWindow(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value tensor, int64_t dim,
                       const WindowProblem &problem, mlir::Value fill,
                       const mlir::sdy::NamedMesh &mesh,
                       CollectiveBuilder &collectives);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_EMITWINDOW_H
