//===- time-passes.cpp - what a pass pipeline takes -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// time-passes FILE PIPELINE [WARM-UP]: runs the pipeline once on the parsed
// module, one thread, verifier off, and prints {"ops", "seconds", "bytes"}: the
// CPU time of the passes alone, and the most memory that the process held
// meanwhile over what it held before. jaxlib_passes.py is the same for jaxlib.
//
// WARM-UP is a small program that the pipeline is run on before, in a context
// of its own: what a process pays once, pages of code above all, is paid then.
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
#include <optional>

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

/// Leaves the heap as if parsing had not been. glibc gives back what is free,
/// but sorts what it can't give back only at the next large allocations, some
/// thousand blocks at each: that would be counted as time of the passes.
static void trimHeap() {
  malloc_trim(0);
  for (int i = 0; i < 1000; ++i) {
    void *volatile memory = malloc(64 << 20);
    free(memory);
  }
}

struct Measured {
  int64_t ops;
  double seconds;
  int64_t bytes;
};

static std::optional<Measured> measure(const mlir::DialectRegistry &registry,
                                       const char *path, const char *pipeline) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(
          path, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  mlir::PassManager passes(&context);
  passes.enableVerifier(false);
  if (!module ||
      mlir::failed(mlir::parsePassPipeline(pipeline, passes, llvm::errs())))
    return std::nullopt;
  int64_t ops = 0;
  module->walk([&](mlir::Operation *) { ++ops; });

  trimHeap();
  // The peak is what is resident now.
  std::ofstream("/proc/self/clear_refs") << 5;
  int64_t before = statusBytes("VmRSS");
  std::clock_t start = std::clock();
  if (mlir::failed(passes.run(*module)))
    return std::nullopt;
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  return Measured{ops, seconds, statusBytes("VmHWM") - before};
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    llvm::errs() << "usage: time-passes FILE PIPELINE [WARM-UP]\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  shardonnay::registerAllPasses();
  shardonnay::registerAllPipelines();
  if (argc == 4 && !measure(registry, argv[3], argv[2]))
    return 1;
  std::optional<Measured> measured = measure(registry, argv[1], argv[2]);
  if (!measured)
    return 1;
  llvm::outs() << llvm::formatv(
      "{{\"ops\": {0}, \"seconds\": {1:f6}, \"bytes\": {2}}\n", measured->ops,
      measured->seconds, measured->bytes);
  return 0;
}
