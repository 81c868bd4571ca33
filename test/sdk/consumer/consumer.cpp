//===- consumer.cpp - propagates the shardings of a program ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/pipeline/ParseProgram.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/pipeline/Registration.h"

constexpr llvm::StringLiteral kProgram = R"mlir(
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(
      %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>},
      %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"model"}]>}) -> tensor<8x32xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    return %0 : tensor<8x32xf32>
  }
)mlir";

int main() {
  mlir::DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = shardonnay::parseProgram(kProgram, "program.mlir", context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  shardonnay::addStage(passes, shardonnay::Stage::Import, {});
  shardonnay::addStage(passes, shardonnay::Stage::Propagate, {});
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
