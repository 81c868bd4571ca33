//===- Prefetch.h - walks that do not wait for memory -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a program that is larger than the cache a walk waits 50 ns for each op
// before it knows the next. Ops that were made one after the other stand so in
// memory, at 100 to 400 bytes, so what comes next is probably two kilobytes on:
// these walks ask for that while an op is looked at.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_PREFETCH_H
#define SHARDONNAY_SUPPORT_PREFETCH_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"
#include <algorithm>
#include <cstdint>

namespace shardonnay {

namespace detail {

/// Asks for the 256 bytes at `bytes` from `op`.
inline void prefetchNear(const mlir::Operation *op, int64_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(op) + bytes;
  for (uintptr_t line = 0; line < 256; line += 64)
    LLVM_PREFETCH(reinterpret_cast<const void *>(address + line), 0, 3);
}

template <int64_t bytes> struct FetchNear {
  mlir::Operation &operator()(mlir::Operation &op) const {
    prefetchNear(&op, bytes);
    return op;
  }
};

} // namespace detail

/// Visits `root` and all ops inside, as `root->walk` does.
template <mlir::WalkOrder order = mlir::WalkOrder::PostOrder, typename VisitT>
auto walkOps(mlir::Operation *root, VisitT visit) {
  return root->walk<order>([&](mlir::Operation *op) {
    detail::prefetchNear(op, 2048);
    return visit(op);
  });
}

/// The ops of a block, or of a part of it, from the first to the last.
template <typename RangeT> auto opsForward(RangeT &&ops) {
  return llvm::map_range(std::forward<RangeT>(ops), detail::FetchNear<2048>());
}

/// The ops of a block from the last to the first. The one that is visited may
/// be erased.
inline auto opsBackward(mlir::Block &block) {
  // The other way around the step that follows a read would be lost.
  return llvm::make_early_inc_range(
      llvm::map_range(llvm::reverse(block), detail::FetchNear<-2048>()));
}

/// The element of an array of ops or values at `at`, which is asked for in
/// order: those that come are known, and fetched meanwhile.
template <typename T>
const T &fetchElement(const llvm::SmallVector<T, 0> &all, size_t at) {
  static constexpr size_t kAhead = 16;
  const T &ahead = all[std::min(at + kAhead, all.size() - 1)];
  const void *pointer;
  if constexpr (std::is_pointer_v<T>)
    pointer = ahead;
  else
    pointer = ahead.getAsOpaquePointer();
  // Of an op its results, itself, its operands.
  for (int64_t line = -64; line <= 64; line += 64)
    LLVM_PREFETCH(static_cast<const char *>(pointer) + line, 0, 3);
  return all[at];
}

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_PREFETCH_H
