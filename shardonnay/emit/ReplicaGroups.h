//===- ReplicaGroups.h - which devices communicate --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_REPLICAGROUPS_H
#define SHARDONNAY_EMIT_REPLICAGROUPS_H

#include "mlir/IR/Builders.h"
#include "shardonnay/algebra/Mesh.h"

namespace shardonnay {

/// The groups of partition ids that differ only along `axes`, as a 2-d tensor:
/// a row for each group, its members in the order of their index along `axes`.
mlir::DenseIntElementsAttr buildReplicaGroups(mlir::Builder &builder,
                                              const Mesh &mesh,
                                              const AxisList &axes);

/// Who sends to whom, rows of [source, target] partition ids, so that a device
/// gets the piece of a tensor that `target` (axes per dim) names from one that
/// has it as the piece of `source`: itself if it can, and no device sends
/// twice.
mlir::DenseIntElementsAttr
buildSourceTargetPairs(mlir::Builder &builder, const Mesh &mesh,
                       llvm::ArrayRef<AxisList> source,
                       llvm::ArrayRef<AxisList> target);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_REPLICAGROUPS_H
