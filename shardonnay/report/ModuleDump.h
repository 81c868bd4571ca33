//===- ModuleDump.h - the module as a file ----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_MODULEDUMP_H
#define SHARDONNAY_REPORT_MODULEDUMP_H

#include "mlir/IR/BuiltinOps.h"

namespace shardonnay {

/// Writes `module`, with locations, as `<directory>/<name>.mlir`, and makes the
/// directory. An empty `directory`: nothing. Fails with an error at the module
/// if it can't be written.
llvm::LogicalResult dumpModule(mlir::ModuleOp module, llvm::StringRef directory,
                               llvm::StringRef name);

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_MODULEDUMP_H
