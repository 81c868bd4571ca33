//===- sdy-opt.cpp - every dialect and pass of Shardonnay, mlir-opt style -===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Models.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/export/Passes.h"
#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/reshard/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::chlo::ChloDialect, mlir::func::FuncDialect,
                  mlir::sdy::SdyDialect, mlir::spmd::SpmdDialect,
                  mlir::stablehlo::StablehloDialect>();
  shardonnay::registerStablehloModels(registry);
  mlir::registerTransformsPasses();
  shardonnay::registerReshardPasses();
  shardonnay::registerCollectivesPasses();
  shardonnay::registerPropagatePasses();
  shardonnay::registerExportPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Shardonnay optimizer driver\n", registry));
}
