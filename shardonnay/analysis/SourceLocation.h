//===- SourceLocation.h - where in the user's program -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_SOURCELOCATION_H
#define SHARDONNAY_ANALYSIS_SOURCELOCATION_H

#include "mlir/IR/Location.h"
#include <string>

namespace shardonnay {

/// What a location says, in the user's terms.
struct SourceLocation {
  /// "model.py:21:10": the innermost frame that is not in an installed package,
  /// else the innermost one; "" if there is none.
  std::string line;
  /// "jit(step)/Dense_0/dot_general": the outermost name; "" if there is none.
  std::string name;
};

SourceLocation getSourceLocation(mlir::Location loc);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_SOURCELOCATION_H
