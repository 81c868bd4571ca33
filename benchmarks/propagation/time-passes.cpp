//===- time-passes.cpp - what a pass pipeline takes -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// time-passes FILE PIPELINE: runs the pipeline once on the parsed module, one
// thread, verifier off, and prints {"ops", "seconds", "bytes"}: the CPU time
// of the passes alone, and the most memory that the process held meanwhile over
// what it held before. jaxlib_passes.py is the same for jaxlib.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/pipeline/Registration.h"
#include "llvm/Support/FormatVariadic.h"
#include <ctime>
#include <fstream>
#include <malloc.h>

/// A line of /proc/self/status, in bytes.
static int64_t statusBytes(llvm::StringRef key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == key.str() + ":") {
      int64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: time-passes FILE PIPELINE\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  shardonnay::registerAllPasses();
  shardonnay::registerAllPipelines();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(
          argv[1], mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  mlir::PassManager passes(&context);
  passes.enableVerifier(false);
  if (!module ||
      mlir::failed(mlir::parsePassPipeline(argv[2], passes, llvm::errs())))
    return 1;
  int64_t ops = 0;
  module->walk([&](mlir::Operation *) { ++ops; });

  // What parsing freed is not there to be used again, and the peak is what is
  // resident now.
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
  int64_t before = statusBytes("VmRSS");
  std::clock_t start = std::clock();
  if (mlir::failed(passes.run(*module)))
    return 1;
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  llvm::outs() << llvm::formatv(
      "{{\"ops\": {0}, \"seconds\": {1:f6}, \"bytes\": {2}}\n", ops, seconds,
      statusBytes("VmHWM") - before);
  return 0;
}
