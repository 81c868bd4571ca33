//===- Counts.h - sums and products that do not overflow --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor has less than 2^62 bytes, but what all devices hold of it, padded,
// or what a loop sends, may be more than 64 bits count. Such a count is the
// largest number: no choice is made by how much larger it is.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_COUNTS_H
#define SHARDONNAY_ALGEBRA_COUNTS_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <limits>

namespace shardonnay {

constexpr int64_t kMostCount = std::numeric_limits<int64_t>::max();

/// The sum of two numbers that are not negative, at most kMostCount.
inline int64_t countSum(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? kMostCount : sum;
}
inline int64_t countProduct(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? kMostCount : product;
}

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_COUNTS_H
