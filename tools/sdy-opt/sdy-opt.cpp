//===- sdy-opt.cpp - every dialect and pass of Shardonnay, mlir-opt style -===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "shardonnay/frontend/TransformOps.h"
#include "shardonnay/pipeline/BoolElements.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/pipeline/Registration.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

/// What mlir-opt does with a file, of text that jaxlib's MLIR wrote and reads.
static LogicalResult run(StringRef input, StringRef output,
                         DialectRegistry &registry,
                         const MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> result =
      file ? openOutputFile(output, &error) : nullptr;
  if (!result) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (!isBytecode(*file)) {
    std::string packed = file->getBuffer().str();
    shardonnay::packBoolElements(packed);
    file = llvm::MemoryBuffer::getMemBufferCopy(packed,
                                                file->getBufferIdentifier());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  LogicalResult status = MlirOptMain(os, std::move(file), registry, config);
  if (!isBytecode(llvm::MemoryBufferRef(text, output)))
    shardonnay::unpackBoolElements(text);
  result->os() << text;
  if (succeeded(status))
    result->keep();
  return status;
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  shardonnay::registerTransformOps(registry);
  shardonnay::registerAllPasses();
  shardonnay::registerTransformPasses();
  shardonnay::registerAllPipelines();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Shardonnay optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(run(input, output, registry, config));
}
