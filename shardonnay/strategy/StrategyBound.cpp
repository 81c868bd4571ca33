//===- StrategyBound.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StrategyBound.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/plan/ReshardBound.h"
#include "shardonnay/strategy/StrategySearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

static uint64_t bit(size_t number) { return uint64_t(1) << number; }

StrategyBound::StrategyBound(const OpProblem &problem, ArrayRef<AxisRef> axes,
                             const MeshCosts &costs)
    : problem(problem), axes(axes), costs(costs) {
  const FactorRule &rule = problem.rule;
  for (auto [i, given] : enumerate(problem.tensors)) {
    Tensor tensor;
    tensor.isOperand = i < rule.operands.size();
    tensor.free = given.free;
    tensor.elementBytes = given.elementBytes;
    tensor.runs = given.runs;
    for (auto [size, factors] : zip_equal(given.shape, rule.tensor(i).dims))
      tensor.dims.push_back({size, factors});
    if (!tensor.isOperand)
      for (int32_t f = 0, e = rule.factors.size(); f < e; ++f)
        if (rule.reducesOver(f))
          tensor.reduced.push_back(f);
    if (!tensor.free)
      readOutside(Layout::get(given.sharding, given.shape), tensor);
    tensor.bytes = given.bytes();
    auto isLarger = [](const Tensor &a, const Tensor &b) {
      return a.bytes > b.bytes;
    };
    tensors.insert(llvm::upper_bound(tensors, tensor, isLarger), tensor);
  }
}

void StrategyBound::readOutside(const Layout &layout, Tensor &tensor) const {
  tensor.parts = layout.partial.numShards();
  for (auto [dim, list, padded] :
       zip_equal(tensor.dims, layout.dims, layout.padded)) {
    dim.padded = padded;
    dim.shards = list.numShards();
    for (AxisRef used : list)
      for (auto [number, axis] : enumerate(axes))
        if (axis.overlaps(used))
          dim.places |= bit(number);
  }
  AxisList used = layout.usedAxes();
  for (auto [number, axis] : enumerate(axes))
    if (used.covers(axis))
      tensor.covered |= bit(number);
  for (AxisRef axis : used) {
    Outside &outside = tensor.outside.emplace_back();
    outside.size = axis.size;
    outside.places = placesOf(AxisList({axis}));
    for (AxisRef part : axes)
      tensor.apart |= !part.canCoexist(axis);
    if (sizeOf(outside.places) != axis.size)
      outside.places = 0;
  }
}

int64_t StrategyBound::sizeOf(uint64_t places) const {
  int64_t size = 1;
  for (; places != 0; places &= places - 1)
    size *= axes[countr_zero(places)].size;
  return size;
}

double StrategyBound::leastReshard(const Tensor &tensor, const Placed &placed,
                                   double &elements) const {
  ReshardExtent extent;
  int64_t local = 1;
  bool paddedAlike = true;
  uint64_t used = 0;
  for (const Dim &dim : tensor.dims) {
    uint64_t places = 0;
    int64_t shards = 1;
    for (int32_t factor : dim.factors) {
      places |= placed.places[factor];
      shards *= placed.shards[factor];
    }
    used |= places;
    int64_t padded = alignTo(dim.size, shards);
    local = countProduct(local, padded / shards);
    paddedAlike &= padded == dim.padded;
    bool nested = (places & ~dim.places) == 0 || (dim.places & ~places) == 0;
    extent.addDim(padded, tensor.isOperand ? dim.shards : shards,
                  tensor.isOperand ? shards : dim.shards, nested);
  }
  elements = local;
  if (tensor.free || tensor.apart || !paddedAlike)
    return 0;
  int64_t brought = 1, parts = tensor.parts;
  if (tensor.isOperand) {
    brought = sizeOf(used & ~tensor.covered);
  } else {
    parts = 1;
    for (int32_t factor : tensor.reduced) {
      parts *= placed.shards[factor];
      used |= placed.places[factor];
    }
    for (const Outside &axis : tensor.outside)
      brought *= axis.places ? sizeOf(axis.places & ~used) : axis.size;
  }
  int64_t left = tensor.isOperand ? 1 : tensor.parts;
  if (parts != 1 || left != 1) {
    extent.parts = parts / left;
    // As many parts may be parts along other axes.
    if (extent.parts < 2)
      return 0;
    extent.elementsPerDevice =
        static_cast<double>(extent.sourceElements) / (parts * brought);
  }
  LeastCost least = leastCost(extent);
  bool isPartial = (tensor.isOperand ? tensor.parts : parts) != 1;
  return costs.leastPrice(least.elements * tensor.elementBytes, least.steps) *
         tensor.runs.from(isPartial);
}

uint64_t StrategyBound::placesOf(const AxisList &list) const {
  uint64_t places = 0;
  for (AxisRef used : list)
    for (auto [number, axis] : enumerate(axes))
      if (used.contains(axis))
        places |= bit(number);
  return places;
}

std::optional<StrategyBound::Placed>
StrategyBound::placedBy(const FactorStrategy &strategy) const {
  Placed placed;
  for (const AxisList &list : strategy) {
    placed.places.push_back(placesOf(list));
    placed.shards.push_back(list.numShards());
    if (sizeOf(placed.places.back()) != placed.shards.back())
      return std::nullopt;
  }
  return placed;
}

void StrategyBound::put(size_t axis, int32_t factor, Placed &placed) const {
  placed.places[factor] |= bit(axis);
  placed.shards[factor] *= axes[axis].size;
}

void StrategyBound::take(size_t axis, Placed &placed) const {
  for (auto [places, shards] : zip_equal(placed.places, placed.shards))
    if (places & bit(axis)) {
      places ^= bit(axis);
      shards /= axes[axis].size;
    }
}

double StrategyBound::least(const FactorStrategy &strategy, double flops,
                            double limit) const {
  std::optional<Placed> placed = placedBy(strategy);
  return placed ? least(*placed, flops, limit) : 0;
}

double StrategyBound::least(const Placed &placed, double flops,
                            double limit) const {
  double least = costs.computePrice(flops, 0), reshards = 0, touched = 0;
  if (roundedDown(least) > limit)
    return least;
  for (const Tensor &tensor : tensors) {
    double elements = 0;
    reshards += leastReshard(tensor, placed, elements);
    if (least + reshards > limit)
      return least + reshards;
    touched += elements * tensor.elementBytes;
  }
  return reshards + costs.computePrice(flops, movedBytes(problem, touched));
}

} // namespace shardonnay
