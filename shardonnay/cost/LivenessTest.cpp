//===- LivenessTest.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/Liveness.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace shardonnay;

namespace {

MemoryOp op(llvm::SmallVector<int32_t, 4> uses,
            llvm::SmallVector<int32_t, 2> makes) {
  MemoryOp result;
  result.uses = std::move(uses);
  result.makes = std::move(makes);
  return result;
}

template <typename List> bool contains(const List &list, int32_t buffer) {
  return std::find(list.begin(), list.end(), buffer) != list.end();
}

TEST(Liveness, WorkedExample) {
  MemoryBlock block{{8, 4, 16, 2, 1}, {0, 1}, {}};
  block.ops = {op({0, 1}, {2}), op({2}, {3}), op({3, 0}, {4})};
  MemoryPeak peak = findPeak(block);
  EXPECT_EQ(peak.bytes, 30);
  EXPECT_EQ(peak.op, 1);
  EXPECT_EQ(peak.live, (llvm::SmallVector<int32_t>{0, 1, 2, 3}));
}

TEST(Liveness, MoreThanCountsIsTheLargestNumber) {
  // Four are alive together, then one.
  int64_t large = int64_t(1) << 61;
  MemoryBlock block{{large, large, large, large, 1}, {}, {}};
  block.ops = {op({}, {0}), op({}, {1}), op({}, {2}), op({}, {3}),
               op({0, 1, 2, 3}, {4})};
  MemoryPeak peak = findPeak(block);
  EXPECT_EQ(peak.bytes, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(peak.op, 4);
  block.ops[3].uses = {0, 1};
  block.ops[4].uses = {2, 3};
  block.bytes[3] = 8;
  EXPECT_EQ(findPeak(block).bytes, 3 * large + 8);
}

TEST(Liveness, ArgumentsAlone) {
  MemoryPeak peak = findPeak({{8, 4}, {0, 1}, {}});
  EXPECT_EQ(peak.bytes, 12);
  EXPECT_EQ(peak.op, -1);
  EXPECT_EQ(peak.live, (llvm::SmallVector<int32_t>{0, 1}));
}

TEST(Liveness, AnUnusedResultLivesWhileItIsMade) {
  MemoryBlock block{{8, 100, 1}, {0}, {}};
  block.ops = {op({0}, {1}), op({0}, {2})};
  EXPECT_EQ(findPeak(block).bytes, 108);
}

TEST(Liveness, ALoopTakesThePlaceOfWhatDiesInIt) {
  // %0 starts a loop that holds 5 bytes besides its state of 10.
  MemoryBlock block{{10, 10, 1}, {}, {}};
  MemoryOp loop = op({0}, {1});
  loop.hasRegions = true;
  loop.carried = 10;
  loop.inside = 15;
  block.ops = {op({}, {0}), loop, op({1}, {2})};
  EXPECT_EQ(findPeak(block).bytes, 25);
  // Where %0 is used again its place is not free.
  block.ops[2].uses.push_back(0);
  EXPECT_EQ(findPeak(block).bytes, 35);
}

TEST(Liveness, AnOpInPlaceTakesWhatItReadsLast) {
  MemoryBlock block{{10, 10, 10}, {}, {}};
  block.ops = {op({}, {0}), op({0}, {1}), op({1}, {2})};
  EXPECT_EQ(findPeak(block).bytes, 20);
  block.ops[1].inPlace = block.ops[2].inPlace = true;
  EXPECT_EQ(findPeak(block).bytes, 10);
  // Not what is read once more, or of another size.
  block.ops[2].uses.push_back(0);
  EXPECT_EQ(findPeak(block).bytes, 20);
  block.bytes[0] = 9;
  EXPECT_EQ(findPeak(block).bytes, 19);
  block.bytes[1] = 9;
  EXPECT_EQ(findPeak(block).bytes, 28);
}

TEST(Liveness, ALoopsStateDiesInIt) {
  MemoryBlock block{{10, 10}, {0}, {op({0}, {1}), op({1}, {})}};
  block.ops[0].inPlace = true;
  EXPECT_EQ(findPeak(block).bytes, 20);
  block.argumentsStay = false;
  EXPECT_EQ(findPeak(block).bytes, 10);
  block.reserved = 5;
  EXPECT_EQ(findPeak(block).bytes, 15);
}

/// Asks of every buffer at every op whether it is alive.
int64_t peakByDefinition(const MemoryBlock &block) {
  int64_t numOps = block.ops.size(), peak = 0;
  for (int64_t at = -1; at < numOps; ++at) {
    int64_t alive = 0;
    for (int32_t buffer = 0; buffer < static_cast<int32_t>(block.bytes.size());
         ++buffer) {
      bool isArgument = contains(block.arguments, buffer);
      bool made = isArgument, wanted = isArgument;
      for (int64_t i = 0; i <= at; ++i)
        made |= contains(block.ops[i].makes, buffer);
      for (int64_t i = std::max<int64_t>(at, 0); i < numOps; ++i)
        wanted |= contains(block.ops[i].uses, buffer);
      if (at >= 0)
        wanted |= contains(block.ops[at].makes, buffer);
      if (made && wanted)
        alive += block.bytes[buffer];
    }
    peak = std::max(peak, alive);
  }
  return peak;
}

TEST(Liveness, RandomProgramsAgreeWithTheDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    MemoryBlock block;
    auto make = [&] {
      block.bytes.push_back(random() % 50);
      return static_cast<int32_t>(block.bytes.size() - 1);
    };
    for (unsigned i = random() % 3; i > 0; --i)
      block.arguments.push_back(make());
    for (unsigned i = 0; i < 12; ++i) {
      MemoryOp next;
      for (unsigned uses = random() % 4; uses > 0 && !block.bytes.empty();
           --uses)
        next.uses.push_back(random() % block.bytes.size());
      for (unsigned makes = random() % 3; makes > 0; --makes)
        next.makes.push_back(make());
      block.ops.push_back(next);
    }
    EXPECT_EQ(findPeak(block).bytes, peakByDefinition(block));
  }
}

} // namespace
