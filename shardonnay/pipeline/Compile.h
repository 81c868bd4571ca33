//===- Compile.h - from a program's text to a device's ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole compiler as one function, text in, text out: what the Python
// package and the `shardonnay` command call. No MLIR object crosses it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_COMPILE_H
#define SHARDONNAY_PIPELINE_COMPILE_H

#include "shardonnay/pipeline/Manifest.h"
#include "shardonnay/pipeline/Options.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <string>
#include <vector>

namespace shardonnay {

struct CompileOptions : Options {
  /// Write the result as bytecode, not as text. It always has locations.
  bool bytecode = false;
  /// Called before each stage; false ends the compilation, without an error.
  std::function<bool(Stage)> goesOn;
};

/// One line to the user. Notes follow the diagnostic that they belong to.
struct CompileDiagnostic {
  /// "error", "warning", "remark" or "note".
  std::string severity;
  /// "file:line:col", or what else the program's location says; "" if unknown.
  std::string location;
  std::string message;

  /// "file:line:col: error: message".
  std::string str() const;
};

struct CompileResult {
  /// False if parsing or a pass failed: `diagnostics` says why, and `text`,
  /// `manifest` and `report` may be empty.
  bool ok = false;
  /// The module after the last stage: text or bytecode, as the options ask.
  std::string text;
  /// What each device feeds and holds; nothing if the last stage is
  /// before `collectives`.
  std::optional<Manifest> manifest;
  /// Communication, memory and compute per device (report/Report.h); null if
  /// it was not asked for or the last stage is before `partition`.
  llvm::json::Value report = nullptr;
  /// In the order they were emitted.
  std::vector<CompileDiagnostic> diagnostics;
};

/// Compiles a module in MLIR text, or in bytecode that Shardonnay wrote. Never
/// throws or aborts on bad input. `name` stands for the text in locations.
CompileResult compile(llvm::StringRef text, const CompileOptions &options = {},
                      llvm::StringRef name = "<input>");

/// The program as one device would run it (Unpartitioned.h), in `text`.
CompileResult unpartitioned(llvm::StringRef text,
                            llvm::StringRef name = "<input>");

/// Why every value of the program has its sharding: propagates, and leaves the
/// explanation (Explain.h) in `report` and the module after that in `text`.
CompileResult explain(llvm::StringRef text, const CompileOptions &options = {},
                      llvm::StringRef name = "<input>");

/// What a program says, as plain values (OpList.h), in `report`.
CompileResult list(llvm::StringRef text, llvm::StringRef name = "<input>");

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_COMPILE_H
