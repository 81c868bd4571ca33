//===- Models.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Models.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Families.h"

using namespace mlir;

void shardonnay::registerStablehloModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, stablehlo::StablehloDialect *) {
        attachElementwiseModels(*context);
        attachShapeModels(*context);
        attachWindowModels(*context);
        attachDotModels(*context);
        attachConvolutionModels(*context);
        attachWindowReduceModels(*context);
        attachSelectAndScatterModels(*context);
        attachNormModels(*context);
        attachLegacyModels(*context);
        attachReduceModels(*context);
        attachGatherModels(*context);
        attachScatterModels(*context);
        attachDynamicSliceModels(*context);
        attachControlModels(*context);
        attachBatchedModels(*context);
        attachRandomModels(*context);
        attachCollectiveModels(*context);
        attachCustomModels(*context);
        attachCompositeModels(*context);
        attachSplitDimsModels(*context);
      });
  registry.addExtension(+[](MLIRContext *context, chlo::ChloDialect *) {
    attachChloModels(*context);
    attachChloStructuredModels(*context);
    attachChloBroadcastingModels(*context);
    attachChloSplitDimsModels(*context);
  });
}
