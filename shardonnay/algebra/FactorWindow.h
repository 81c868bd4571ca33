//===- FactorWindow.h - windows of a sharded factor -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A windowed factor is sharded in an operand and in a result. Device i has the
// windows [i * m, (i + 1) * m) of the result, m = ceil(count / shards), and
// sees of the operand's dim what these see, which is more than its local shard.
// An op's rule says so in numbers; what is fetched follows from them alone, so
// the plan prices what the local computation then asks for.
//
// Where positions are sharded, as a select_and_scatter's are, the device needs
// the windows that reach its own. Where shards do not divide the number of
// windows behind each other (a reshape's rows), whole ones are computed, and
// the result is resharded into even shards after.
//
// Worked example, a convolution by a kernel of 3 over 16 positions, padded by 1
// on both sides: count = 16, stride = 1, low = 1, extent = 3. Sharded by 4, a
// device fetches 6 positions from -1 + 4 * i on.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_FACTORWINDOW_H
#define SHARDONNAY_ALGEBRA_FACTORWINDOW_H

#include <cstdint>

namespace shardonnay {

/// What a device fetches of a tensor, by what its shard of the factor counts.
enum class WindowKind : uint8_t {
  /// Windows: all that they see of the operand.
  Seen,
  /// Positions that windows see: the windows that reach them, which the operand
  /// has.
  Reaching,
  /// Positions that windows see: all that the windows that reach them see.
  Around,
  /// Windows: its shard of the result, in which they stand behind each other.
  Retiled,
};

struct FactorWindow {
  WindowKind kind = WindowKind::Seen;
  /// Operands first, then results.
  int32_t tensor = 0;
  int32_t factor = 0;
  /// How many positions of the tensor's dim exist; of Reaching, how many the
  /// windows see.
  int64_t size = 0;
  int64_t count = 0;
  /// Window w sees the positions [w * stride - low, + extent) of the dim with
  /// baseDilation - 1 holes between its elements.
  int64_t stride = 1, low = 0, extent = 1, baseDilation = 1;
  /// The dim goes on with its first position after its last.
  bool periodic = false;

  bool operator==(const FactorWindow &o) const {
    return kind == o.kind && tensor == o.tensor && factor == o.factor &&
           size == o.size && count == o.count && stride == o.stride &&
           low == o.low && extent == o.extent &&
           baseDilation == o.baseDilation && periodic == o.periodic;
  }
};

/// What a device fetches of its windows.
struct ShardWindow {
  /// The holes are filled before anything is sent, where that sends less. The
  /// sizes are those of the dim with holes.
  bool isDilatedFirst = false;
  int64_t localSize = 0, globalSize = 0;
  /// The device of index i fetches the positions [start + step * i, + size).
  int64_t start = 0, step = 0, size = 0;
  /// The window that slides over what was fetched begins `low` before it, ends
  /// `high` behind it, and has this dilation of its base.
  int64_t low = 0, high = 0, baseDilation = 1;
  /// Where elements do not stand alike from device to device, device i has its
  /// windows at [shiftStart + shift * i, + covered) of what was fetched, the
  /// holes, `low` and `high` filled.
  int64_t shiftStart = 0, shift = 0, covered = 0;
};

/// `window` where the factor is sharded `shards` ways, the dim into shards of
/// `localSize` (of a Retiled those that the op makes).
ShardWindow shardWindow(const FactorWindow &window, int64_t shards,
                        int64_t localSize);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_FACTORWINDOW_H
