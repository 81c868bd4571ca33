//===- RecordAttributes.h - a record as attributes --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_RECORDATTRIBUTES_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_RECORDATTRIBUTES_H

#include "shardonnay/report/PropagationAttributes.h"
#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "shardonnay/transforms/propagate/PropagationRecorder.h"

namespace shardonnay {

/// Tells the recorder of origins that the module states already: those of
/// constraints that import applied to other values.
void readOrigins(const ModuleGraph &module, PropagationRecorder &recorder);

/// Where the sharding of a tensor is written.
ShardedPlace placeOf(const ModuleGraph &module, int32_t tensor);

/// What origins call the constraint on `tensor`, seen from another one. Names
/// the op if it has no name.
std::string originName(const ModuleGraph &module, int32_t tensor);

/// Writes `sdy.sharding_origins` on every value that has axes.
void writeOrigins(const ModuleGraph &module, const PropagationRecord &record);

/// Writes `sdy.propagation_edges`.
void writeEdges(const ModuleGraph &module, const PropagationRecord &record);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_RECORDATTRIBUTES_H
