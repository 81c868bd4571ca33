//===- DataFlowEdges.h - an edge on every class of values -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_IMPORT_DATAFLOWEDGES_H
#define SHARDONNAY_TRANSFORMS_IMPORT_DATAFLOWEDGES_H

#include "shardonnay/interfaces/DataFlowEdge.h"

namespace shardonnay {

/// Puts an `sdy.data_flow_edge` behind each owner of a class of `op` that has
/// none, with the owner's sharding. An error at `op` where a class is of
/// tensors without a static shape, or of tuples.
mlir::LogicalResult addDataFlowEdges(ShardableDataFlowOpInterface op);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_IMPORT_DATAFLOWEDGES_H
