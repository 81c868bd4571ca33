//===- Reduction.h - how partial values combine -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_REDUCTION_H
#define SHARDONNAY_ALGEBRA_REDUCTION_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace shardonnay {

/// How the parts of a partial tensor combine. These are the kinds that an
/// `unreduced` list can state.
enum class ReductionKind : uint8_t { Sum, Max, Min };

/// "sum", "max" or "min".
llvm::StringRef toString(ReductionKind kind);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_REDUCTION_H
