//===- ComputePrice.h - what a device computes, in time ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time that one device takes for the ops of its program, by a device model:
// of each op the longer of its FLOPs and of the memory that it reads and
// writes. Chains of element-wise ops are fused (FusedChains.h): they read what
// is in memory, and write what is read from there. Loops count as often as they
// run. Communication has a price of its own (CollectiveUses.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_COMPUTEPRICE_H
#define SHARDONNAY_ANALYSIS_COMPUTEPRICE_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/cost/DeviceModel.h"

namespace shardonnay {

/// In byte times; 0 by a model that does not price compute. `module` has local
/// types.
double findComputePrice(mlir::ModuleOp module, const DeviceModel &model);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_COMPUTEPRICE_H
