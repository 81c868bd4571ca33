//===- ShardInterface.h - any op that says its loops and maps ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_SHARDINTERFACE_H
#define SHARDONNAY_MODELS_UPSTREAM_SHARDINTERFACE_H

#include "mlir/IR/MLIRContext.h"

namespace shardonnay {

/// Gives a rule to the ops of the loaded dialect `dialect` that implement
/// `getLoopIteratorTypes` and `getIndexingMaps` of MLIR's ShardingInterface and
/// have none. With `getReductionLoopIteratorKinds`, reductions may be sharded
/// too; without, what they combine with is not known.
void attachShardingInterfaceModels(mlir::MLIRContext &context,
                                   llvm::StringRef dialect);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_UPSTREAM_SHARDINTERFACE_H
