//===- KeptPartialSums.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/KeptPartialSums.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/transforms/reshard/LinearOperands.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;

namespace shardonnay {

std::optional<std::vector<TensorSharding>> keepParts(Operation *op,
                                                     const OpStrategy &strategy,
                                                     const OpStrategies &table,
                                                     const MeshScope &scope) {
  auto result = llvm::find_if(op->getResults(), [](OpResult value) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    return sharding && !sharding.getUnreducedAxes().empty();
  });
  // Whether the sharding of an opaque op's result is its user's or comes from a
  // neighbour can't be told here, so its operands are reduced.
  if (result == op->getResults().end() || isOpaque(op))
    return std::nullopt;
  auto read = [&](Value value) {
    return isa<RankedTensorType>(value.getType()) ? scope.read(value)
                                                  : TensorSharding();
  };
  size_t first = op->getNumOperands();
  std::vector<TensorSharding> needed;
  for (int32_t number : strategy.needed)
    needed.push_back(number < 0 ? TensorSharding() : table.sharding(number));
  const TensorSharding wanted = read(*result), &own = needed[first];
  Parts made = {wanted.unreduced.subtract(own.unreduced), wanted.kind};
  if (!own.unreduced.empty() && own.kind != made.kind)
    return std::nullopt;
  SmallVector<Parts> present, taken(first);
  for (Value operand : op->getOperands()) {
    TensorSharding sharding = read(operand);
    present.push_back({sharding.unreduced, sharding.kind});
  }
  AxisList passed = passParts(op, made, present, taken);
  for (const TensorSharding &sharding : needed)
    for (const DimSharding &dim : sharding.dims)
      if (passed.empty() || dim.axes.excludes(passed))
        return std::nullopt;
  auto add = [](TensorSharding &sharding, const AxisList &axes,
                ReductionKind kind) {
    if (axes.empty())
      return;
    sharding.unreduced.append(axes);
    sharding.unreduced = sharding.unreduced.sorted();
    sharding.kind = kind;
  };
  for (auto [sharding, parts] : llvm::zip(needed, taken))
    add(sharding, parts.axes, parts.kind);
  for (TensorSharding &sharding : llvm::drop_begin(needed, first))
    add(sharding, passed, made.kind);
  return needed;
}

namespace {

bool isPartial(sdy::TensorShardingAttr sharding) {
  return sharding && !sharding.getUnreducedAxes().empty();
}

/// The same axes shard the same dims; null: none do.
bool shardsAlike(sdy::TensorShardingAttr a, sdy::TensorShardingAttr b) {
  auto axesOf = [](sdy::DimensionShardingAttr dim) { return dim.getAxes(); };
  if (!a)
    return llvm::all_of(
        b.getDimShardings(),
        [&](sdy::DimensionShardingAttr dim) { return axesOf(dim).empty(); });
  return a.getMeshOrRef() == b.getMeshOrRef() &&
         llvm::equal(llvm::map_range(a.getDimShardings(), axesOf),
                     llvm::map_range(b.getDimShardings(), axesOf));
}

/// The classes of values that loops and branches pass on, by their owners.
class CarriedClasses {
public:
  explicit CarriedClasses(ArrayRef<ShardableDataFlowOpInterface> ops) {
    for (ShardableDataFlowOpInterface op : ops)
      for (Value owner : op.getEdgeOwners())
        if (isa<RankedTensorType>(owner.getType()) &&
            numbers.try_emplace(owner, owners.size()).second)
          owners.push_back(owner);
    groups.grow(owners.size());
    for (ShardableDataFlowOpInterface op : ops)
      for (Value owner : op.getEdgeOwners())
        if (auto number = numbers.find(owner); number != numbers.end())
          for (OpOperand *source : op.getEdgeSources(owner))
            add(source->get(), number->second);
    groups.compress();
  }

  void carryParts() {
    std::vector<std::optional<sdy::TensorShardingAttr>> wanted(
        groups.getNumClasses());
    auto want = [&](unsigned number, sdy::TensorShardingAttr sharding) {
      auto &known = wanted[groups[number]];
      if (!known)
        known = sharding;
      else if (*known != sharding)
        known = sdy::TensorShardingAttr();
    };
    for (auto [number, sharding] : flows)
      want(number, isPartial(sharding) ? sharding : nullptr);
    for (auto [number, owner] : llvm::enumerate(owners)) {
      auto &known = wanted[groups[number]];
      sdy::TensorShardingAttr own = sdy::getSharding(owner);
      if (known && *known && (isPartial(own) || !shardsAlike(own, *known)))
        known = sdy::TensorShardingAttr();
    }
    for (auto [number, owner] : llvm::enumerate(owners))
      if (sdy::TensorShardingAttr sharding =
              wanted[groups[number]].value_or(nullptr))
        sdy::setSharding(owner, sharding);
  }

private:
  /// `source` flows into class `number`.
  void add(Value source, unsigned number) {
    auto other = numbers.find(getEdgeOwner(source));
    if (other != numbers.end())
      groups.join(number, other->second);
    else
      flows.emplace_back(number, sdy::getSharding(source));
  }

  std::vector<Value> owners;
  llvm::DenseMap<Value, unsigned> numbers;
  /// Classes that flow into each other, as of a loop in a loop.
  llvm::IntEqClasses groups;
  std::vector<std::pair<unsigned, sdy::TensorShardingAttr>> flows;
};

} // namespace

void carryParts(func::FuncOp func) {
  SmallVector<ShardableDataFlowOpInterface> ops;
  bool any = false;
  func.walk([&](Operation *op) {
    if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
      any |= isPartial(reshard.getSharding());
    // A manual computation's shardings are the user's.
    else if (!isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op))
      if (auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op))
        ops.push_back(dataFlow);
  });
  if (any && !ops.empty())
    CarriedClasses(ops).carryParts();
}

} // namespace shardonnay
