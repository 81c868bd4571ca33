//===- ChildProcess.h - work that may not come back -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_CHILDPROCESS_H
#define SHARDONNAY_PIPELINE_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace shardonnay {

struct ChildLimits {
  /// Time of the processor; of the clock it may take ten times as much.
  uint64_t seconds;
  /// Memory that it may take beyond what this process has.
  uint64_t bytes;
};

/// What `work` writes in a copy of this process; nothing if that crashes, hangs
/// or exceeds the limits. Whatever else it does stays there.
std::optional<std::string>
runInChild(llvm::function_ref<void(llvm::raw_ostream &)> work,
           ChildLimits limits);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_CHILDPROCESS_H
