//===- DeviceModelOption.td - a device model for a pass ----*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_TD
#define SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_TD

include "mlir/Pass/PassBase.td"

def DeviceModelOption
    : Option<"deviceModel", "device-model", "std::string", "\"cpu\"",
             "What the devices can do: bytes, cpu, gpu-node, gpu-cluster, "
             "tpu-torus, or the path of a JSON file (cost/DeviceModel.h)">;

#endif // SHARDONNAY_ANALYSIS_DEVICEMODELOPTION_TD
