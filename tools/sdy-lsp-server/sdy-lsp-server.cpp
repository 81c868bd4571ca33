//===- sdy-lsp-server.cpp - editors ask it about programs -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "shardonnay/pipeline/Registration.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
