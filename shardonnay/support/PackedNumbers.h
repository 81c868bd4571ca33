//===- PackedNumbers.h - numbers in as few bytes as they take ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph of a program of 10^4 ops is numbers below 2^16, that of one of 10^6
// numbers below 2^24: half and three quarters of what ints take, to hold and to
// bring to the processor.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_PACKEDNUMBERS_H
#define SHARDONNAY_SUPPORT_PACKEDNUMBERS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstdint>

namespace shardonnay {

/// An array of numbers from -1 on, all of one width, which grows with the
/// largest.
class PackedNumbers {
public:
  /// Numbers so large are expected: no width that is too small comes first.
  explicit PackedNumbers(int32_t largest = 0) { setWidth(largest); }

  size_t size() const { return numbers; }
  size_t getMemorySize() const { return bytes.capacity(); }
  int32_t operator[](size_t at) const {
    return static_cast<int32_t>(load(at) & mask) - 1;
  }
  void set(size_t at, int32_t number) {
    makeFit(number);
    store(at, number);
  }
  void append(int32_t number) {
    if (bytesOf(numbers + 1) > bytes.size())
      reserve(2 * numbers + 16);
    // Before there is one more, which was not written yet.
    makeFit(number);
    store(numbers++, number);
  }
  /// New ones are `number`.
  void resize(size_t size, int32_t number) {
    reserve(size);
    if (number == -1 && numbers < size) {
      std::fill(bytes.begin() + numbers * width, bytes.end(), 0);
      numbers = size;
    }
    while (numbers < size)
      append(number);
  }
  /// What is not used is not touched, so it is no memory.
  void reserve(size_t size) { bytes.resize_for_overwrite(bytesOf(size)); }

  class Slice
      : public llvm::indexed_accessor_range<Slice, const PackedNumbers *,
                                            int32_t, int32_t *, int32_t> {
  public:
    using indexed_accessor_range::indexed_accessor_range;
    static int32_t dereference(const PackedNumbers *numbers, ptrdiff_t at) {
      return (*numbers)[at];
    }
  };
  /// Those from `first` on, before `end`.
  Slice slice(size_t first, size_t end) const {
    return {this, static_cast<ptrdiff_t>(first),
            static_cast<ptrdiff_t>(end - first)};
  }

private:
  /// The last number is read and written as all are, as four bytes.
  size_t bytesOf(size_t size) const { return size * width + 4 - width; }

  uint32_t load(size_t at) const {
    return llvm::support::endian::read32le(&bytes[at * width]);
  }
  void store(size_t at, int32_t number) {
    llvm::support::endian::write32le(&bytes[at * width],
                                     (load(at) & ~mask) |
                                         (static_cast<uint32_t>(number) + 1));
  }

  void setWidth(int64_t largest) {
    for (width = 1; width < 4 && largest + 1 >= int64_t(1) << 8 * width;)
      ++width;
    mask = 0xFFFFFFFFu >> (32 - 8 * width);
  }

  void makeFit(int32_t number) {
    if (static_cast<uint32_t>(number) + 1 > mask)
      widen(number);
  }

  void widen(int32_t largest) {
    PackedNumbers wide(largest);
    wide.reserve(bytes.size() / width);
    for (size_t at = 0; at < numbers; ++at)
      wide.append((*this)[at]);
    *this = std::move(wide);
  }

  llvm::SmallVector<uint8_t, 0> bytes;
  size_t numbers = 0;
  size_t width = 1;
  uint32_t mask = 0xFF;
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_PACKEDNUMBERS_H
