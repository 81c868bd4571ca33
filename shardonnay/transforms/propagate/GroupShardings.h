//===- GroupShardings.h - one sharding for a group --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H

#include "shardonnay/transforms/propagate/ModuleGraph.h"

namespace shardonnay {

/// Writes one sharding for each sharding group: the members without one get
/// that of the first that has one. Where members have different ones, warns,
/// and puts an open constraint on each member, to be grouped in its place. Then
/// reads the module, as ModuleGraph::read does.
ModuleGraph shareGroupShardings(mlir::ModuleOp module,
                                bool keepOperations = false,
                                bool conservative = false);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H
