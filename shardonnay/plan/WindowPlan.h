//===- WindowPlan.h - who sends what for sharded windows --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the devices of a mesh get their windows (spmd.fetch_window). Shard i of a
// dim holds the positions [i * localSize, (i + 1) * localSize), of which those
// below globalSize count; window w is [start + step * w, + size).
//
// A window's positions are in neighbouring shards: the first, the second, ...
// *piece*. Piece k of all devices is sent at once, in as many rounds as a shard
// has receivers, each round a collective_permute; of a shard only the hull of
// what the receivers of piece k need is sent, or, where that is less, from
// where the receiver of the round needs it as much as any receiver needs: a
// shard that is spread over n devices sends each its n-th. The pieces one
// behind the other are the device's *buffer*; its window begins there at an
// offset that depends on w only. Where some window begins before its buffer, or
// ends behind it, the buffer is padded.
//
// That the pieces fit without gaps: a window that has parts of the pieces k and
// k + 1 needs piece k to its end and piece k + 1 from its beginning.
//
// Worked example, n = 8 on 4 devices, two each; a window of 4 that reaches one
// position beyond the own ones on both sides (start = -1, step = 2): device w
// needs the end of shard w - 1, its own, the beginning of shard w + 1. Three
// pieces of sizes 1, 2, 1; offset 0; two permutes of one element each.
//
// Shards and windows may be of different sizes: the first 20 of 24 positions on
// 4 devices, six each, as windows of five. Device w needs w of shard w - 1 and
// the rest of its own: two pieces of sizes 3 and 5, of which the first is sent
// and device 0 needs nothing.
//
// A dim may go on periodically: then the shard after the last is the first. If
// the last one is not full, a window is that of several dims that don't go on
// (`withoutUnevenPeriods`).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_WINDOWPLAN_H
#define SHARDONNAY_PLAN_WINDOWPLAN_H

#include "shardonnay/algebra/Layout.h"
#include <tuple>

namespace shardonnay {

struct WindowProblem {
  Mesh mesh;
  /// What shards the tensor, and what counts the windows.
  AxisList axes, windowAxes;
  /// The dim's size in what a device holds; times the number of shards it is at
  /// least globalSize.
  int64_t localSize = 0;
  int64_t globalSize = 0;
  int64_t start = 0, step = 0, size = 0;
  /// Position p is position p modulo globalSize; shards are full.
  bool periodic = false;

  int64_t windowStart(int64_t window) const { return start + step * window; }
  /// The positions of a window that exist, all if the dim is periodic; empty
  /// with start = limit = 0.
  Interval inside(int64_t window) const;
  /// No window has anything of the dim.
  bool isEmpty() const;
  /// Some window begins before 0; some ends behind globalSize.
  bool leavesLow() const;
  bool leavesHigh() const;
};

/// The problem, if it is not periodic or its shards are full. Else for every
/// period that some window reaches the problem of this period alone, in order:
/// of each position the last of their windows that begins before it counts.
llvm::SmallVector<WindowProblem, 1>
withoutUnevenPeriods(const WindowProblem &problem);

/// The problem as it looks from the windows: what they cost does not depend on
/// which axes these are. Of three axes, of those that both lists begin with,
/// and of what is left of each, unless these overlap.
WindowProblem withoutNames(const WindowProblem &problem);

/// A device sends to another: positions in the mesh.
using Transfer = std::pair<int64_t, int64_t>;

struct WindowPiece {
  /// The part of the sender's dim that some window needs.
  Interval part;
  /// By window: where what it gets begins in the sender's dim. Empty if all get
  /// the whole part.
  llvm::SmallVector<int64_t, 0> starts;
  /// How much of the sender's dim a window gets.
  int64_t width = 0;
  /// Some device is its own sender.
  bool own = false;
  /// In each round a device sends once and receives once at most. Without own
  /// and without rounds nobody needs the piece.
  llvm::SmallVector<llvm::SmallVector<Transfer, 0>, 1> rounds;
};

struct WindowPlan {
  /// The tensor is gathered along all axes first; the pieces are of the whole.
  bool gathers = false;
  llvm::SmallVector<WindowPiece, 2> pieces;
  /// Padding before and behind the pieces.
  int64_t low = 0, high = 0;
  /// By window: where it begins in the padded buffer.
  llvm::SmallVector<int64_t, 0> offsets;
};

/// What a plan takes; the order is that of what is better.
struct WindowCost {
  /// Elements of the dim that a device receives at most.
  int64_t received = 0;
  int64_t collectives = 0;
  bool gathers = false;

  bool operator<(const WindowCost &o) const {
    return std::tie(received, collectives) <
           std::tie(o.received, o.collectives);
  }
};

/// What planWindows' plan takes. Searches that weigh many windows need to know
/// no more, and who sends what to whom is most of the work.
WindowCost costOfWindows(const WindowProblem &problem);

/// The plan that receives least; of equals the one with fewer collectives. No
/// parts and offsets if the problem is empty.
WindowPlan planWindows(const WindowProblem &problem);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_WINDOWPLAN_H
