//===- ModuleDump.cpp - the module as a file ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/ModuleDump.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace shardonnay {

LogicalResult dumpModule(ModuleOp module, StringRef directory, StringRef name) {
  if (directory.empty())
    return success();
  llvm::SmallString<128> path(directory);
  std::error_code error = llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, name + ".mlir");
  if (!error) {
    llvm::raw_fd_ostream os(path, error, llvm::sys::fs::OF_Text);
    if (!error) {
      module.print(os, OpPrintingFlags().enableDebugInfo());
      return success();
    }
  }
  return module.emitError("cannot write the module to '")
         << path << "': " << error.message();
}

} // namespace shardonnay
