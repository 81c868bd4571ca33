//===- ReshardBound.h - the least that a reshard takes ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound on the bytes still to be received, and on the steps of latency
// (cost/Collective.h). With T elements in a device's part of the target:
//
//  * nothing left to reduce: the device that has least of its part must receive
//    the rest of it. If in some dim the two layouts first differ in which atom
//    comes next, some device has nothing of its part. Where the part consists
//    of n shards of different devices, their data come together in collectives
//    over groups of n devices in all, of log2(n) steps and one a collective.
//  * sums over n parts left to reduce: an element needs n - 1 messages until
//    some device knows it, and one more for each other device that wants it.
//    Over all D devices (products of axes) that is, for each,
//    T + (n - 2) size / D elements. Steps are log2(n) for what is scattered,
//    2 log2(n) for what is reduced in place; what is scattered has to be
//    gathered again as far as a device then has less than T.
//
// Worked example, [x] partial along y, both of size 2, to whole: T is twice
// what a device has. So a collective reduces and one gathers, with 2 log2(2) +
// log2(2) + 2 = 5 steps.
//
// For this folder, and for bounds of strategy/.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_RESHARDBOUND_H
#define SHARDONNAY_PLAN_RESHARDBOUND_H

#include <cstdint>

namespace shardonnay {

/// What the bound looks at. Elements are those of one device.
struct ReshardExtent {
  int64_t sourceElements = 1;
  int64_t targetElements = 1;
  /// What the device that has least has of its part of the target.
  int64_t overlap = 1;
  /// How many devices have data of one local shard of the target.
  int64_t shards = 1;
  /// How many collectives take shards from the dims that have too many. One
  /// takes them from one dim.
  int64_t gatherSteps = 0;
  /// How many summands each element has that is to be reduced; 1 if there are
  /// none.
  int64_t parts = 1;
  /// The elements of the whole tensor, divided by the number of devices.
  double elementsPerDevice = 0;

  /// Takes in a dim of padded size `size`, sharded into so many shards. It is
  /// `nested` if one side only shards further what the other has.
  void addDim(int64_t size, int64_t sourceShards, int64_t targetShards,
              bool nested);
};

struct LeastCost {
  double elements = 0;
  int64_t steps = 0;
};

LeastCost leastCost(const ReshardExtent &extent);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_RESHARDBOUND_H
