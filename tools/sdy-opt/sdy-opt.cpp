//===- sdy-opt.cpp - every dialect and pass of Shardonnay, mlir-opt style -===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/pipeline/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  shardonnay::registerAllPasses();
  shardonnay::registerAllPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Shardonnay optimizer driver\n", registry));
}
