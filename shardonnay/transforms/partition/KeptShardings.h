//===- KeptShardings.h - of which tensor a local one is a shard -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_KEPTSHARDINGS_H
#define SHARDONNAY_TRANSFORMS_PARTITION_KEPTSHARDINGS_H

#include "mlir/IR/Operation.h"

namespace shardonnay {

/// Where one op computes `local`, the local results of `op`, and is none of
/// communication nor one that computes `operands`, it gets the shardings that
/// `op` has.
void keepShardings(mlir::Operation *op, mlir::ValueRange operands,
                   mlir::ValueRange local);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_KEPTSHARDINGS_H
