//===- sdy-reduce.cpp - makes a program small that shows a fault ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "shardonnay/pipeline/Registration.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

cl::opt<std::string> input(cl::Positional, cl::desc("<program>"), cl::Required);
cl::opt<std::string> test("test", cl::Required, cl::value_desc("script"),
                          cl::desc("Gets the name of a file; exits with 1 if "
                                   "the program there is interesting, with 0 "
                                   "if not"));
cl::opt<std::string> output("o", cl::value_desc("file"), cl::init("-"),
                            cl::desc("Where to write the smallest program"));

/// Runs the test on `module`; nothing if it could not be run.
std::optional<bool> runTest(ModuleOp module) {
  llvm::SmallString<128> path;
  int descriptor = 0;
  if (llvm::sys::fs::createTemporaryFile("sdy-reduce", "mlir", descriptor,
                                         path))
    return std::nullopt;
  llvm::FileRemover remover(path);
  {
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    module.print(file);
  }
  int status = llvm::sys::ExecuteAndWait(test, {test, path});
  return status < 0 ? std::nullopt : std::optional<bool>(status == 1);
}

LogicalResult run() {
  DialectRegistry registry;
  shardonnay::registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return failure();
  std::optional<bool> interesting = runTest(*module);
  if (!interesting)
    return module->emitError("the test '") << test << "' can't be run";
  if (!*interesting)
    return module->emitError("the program is not interesting: '")
           << test << "' has to exit with 1 for it";
  OwningOpRef<ModuleOp> smallest = shardonnay::reduce(
      *module, [](ModuleOp next) { return runTest(next).value_or(false); });
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file)
    return module->emitError(message);
  smallest->print(file->os());
  file->keep();
  return success();
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "Makes a program small that shows a fault\n");
  return failed(run());
}
