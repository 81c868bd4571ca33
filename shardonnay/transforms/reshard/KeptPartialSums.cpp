//===- KeptPartialSums.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/KeptPartialSums.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/reshard/LinearOperands.h"

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
      if (passed.empty() || dim.axes.overlaps(passed))
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

} // namespace shardonnay
