//===- Registration.cpp - every dialect, pass and pipeline ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Registration.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/mhlo/Mhlo.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/PortableArtifact.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/models/StableHLO/Models.h"
#include "shardonnay/models/Upstream/Models.h"
#include "shardonnay/mpi/Passes.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/export/Passes.h"
#include "shardonnay/transforms/import/Passes.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/reshard/Passes.h"

namespace shardonnay {

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, mlir::sdy::SdyDialect,
                  mlir::spmd::SpmdDialect, mlir::stablehlo::StablehloDialect,
                  mlir::chlo::ChloDialect, mlir::mhlo::MhloDialect,
                  mlir::quant::QuantDialect>();
  mlir::stablehlo::registerPortableArtifactRefusal(registry);
  registerStablehloModels(registry);
  registerUpstreamDialects(registry);
}

void registerAllPasses() {
  mlir::registerTransformsPasses();
  registerFrontendPasses();
  registerImportPasses();
  registerPropagatePasses();
  registerExportPasses();
  registerReshardPasses();
  registerCollectivesPasses();
  registerPartitionPasses();
  registerEmitPasses();
  registerMpiPasses();
  registerPipelinePasses();
}

} // namespace shardonnay
