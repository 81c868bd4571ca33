//===- ShardInterface.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/ShardInterface.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "shardonnay/models/Upstream/Attach.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

static std::optional<shardonnay::ReductionKind>
combinerOf(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Sum:
    return shardonnay::ReductionKind::Sum;
  case shard::ReductionKind::Max:
    return shardonnay::ReductionKind::Max;
  case shard::ReductionKind::Min:
    return shardonnay::ReductionKind::Min;
  default:
    return std::nullopt;
  }
}

namespace {
struct ShardingInterfaceHooks : NestHooks<ShardingInterfaceHooks> {
  static LoopNest nest(Operation *op) {
    auto sharding = cast<shard::ShardingInterface>(op);
    LoopNest nest;
    SmallVector<shard::ReductionKind> kinds =
        sharding.getReductionLoopIteratorKinds();
    size_t reduction = 0;
    for (utils::IteratorType type : sharding.getLoopIteratorTypes()) {
      Loop loop{type, std::nullopt};
      if (type == utils::IteratorType::reduction) {
        if (reduction < kinds.size())
          loop.combiner = combinerOf(kinds[reduction]);
        ++reduction;
      }
      nest.loops.push_back(loop);
    }
    nest.maps = sharding.getIndexingMaps();
    return nest;
  }
};
} // namespace

void shardonnay::attachShardingInterfaceModels(MLIRContext &context,
                                               StringRef dialect) {
  attachIf<ShardingInterfaceHooks>(
      context, dialect, [](RegisteredOperationName op) {
        return op.hasInterface<shard::ShardingInterface>();
      });
}
