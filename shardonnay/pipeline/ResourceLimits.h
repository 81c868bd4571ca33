//===- ResourceLimits.h - what a compilation may use ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_RESOURCELIMITS_H
#define SHARDONNAY_PIPELINE_RESOURCELIMITS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include <chrono>
#include <optional>
#include <string>

namespace shardonnay {

/// What a compilation itself may use; nothing that it decides depends on them.
struct ResourceLimits {
  /// Wall-clock seconds; 0: any.
  double seconds = 0;
  /// 2^20 bytes that the process holds in memory; 0: any.
  int64_t megabytes = 0;
};

/// Holds all passes that run on a context to limits. They are looked at after
/// each pass: where one is exceeded no further pass runs.
class ResourceGuard {
public:
  /// The time starts here. The guard has to outlive the passes.
  ResourceGuard(mlir::MLIRContext &context, ResourceLimits limits);
  ResourceGuard(const ResourceGuard &) = delete;
  ResourceGuard &operator=(const ResourceGuard &) = delete;
  ~ResourceGuard();

  /// If a limit was exceeded fails, with an error at the operation of the pass
  /// after which it was, which it names. Not before the passes have come to an
  /// end: what is said of a plan that is only tried goes nowhere.
  llvm::LogicalResult finish() const;

private:
  void check(mlir::Operation *op, llvm::StringRef pass, double passSeconds);
  double elapsed() const;

  mlir::MLIRContext &context;
  ResourceLimits limits;
  std::chrono::steady_clock::time_point start;
  struct Excess {
    mlir::Location loc;
    std::string error;
  };
  std::optional<Excess> excess;
};

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_RESOURCELIMITS_H
