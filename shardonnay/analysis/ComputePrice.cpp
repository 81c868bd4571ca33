//===- ComputePrice.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/ComputePrice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/analysis/CallCounts.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/FusedChains.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Of a slice at a position, or an update of one: it reads as much of a larger
/// operand as it makes; an update overwrites an operand that is read no more
/// and writes the slice alone. Nothing of another op.
std::optional<double> bytesOfSlice(ShardingRuleOpInterface op) {
  if (op.getPropagationClass() != PropagationClass::PassThroughForward)
    return std::nullopt;
  Type made = op->getResult(0).getType();
  Value updated = op->getOperand(0);
  if (updated.getType() != made)
    return 2.0 * byteSize(made);
  bool isInput = isa<func::FuncOp>(getOwnerOp(updated));
  double slice = byteSize(op->getOperand(1).getType());
  return updated.hasOneUse() && !isInput ? 2 * slice
                                         : 2.0 * byteSize(made) + slice;
}

/// Bytes that the op reads from memory and writes there; 0 if it is fused with
/// what reads it.
double touchedBytes(Operation &op, const FusedChains &chains) {
  if (std::optional<double> bytes =
          bytesOfSlice(cast<ShardingRuleOpInterface>(op)))
    return *bytes;
  double bytes = 0;
  bool writes = false;
  for (Value result : op.getResults())
    if (chains.isInMemory(result)) {
      bytes += byteSize(result.getType());
      writes = true;
    }
  if (!writes)
    return 0;
  llvm::SmallPtrSet<Value, 8> read;
  for (Value operand : op.getOperands()) {
    if (chains.isInMemory(operand))
      read.insert(operand);
    else
      read.insert_range(chains.sources(operand));
  }
  for (Value value : read)
    bytes += byteSize(value.getType());
  return bytes;
}

/// In byte times, each time that the block runs; what is in the regions of its
/// loops and branches is not counted.
double priceOfBlock(Block &block, const MeshCosts &costs) {
  FusedChains chains(block);
  double price = 0;
  for (Operation &op : block) {
    auto rule = dyn_cast<ShardingRuleOpInterface>(op);
    if (!rule || isa<ShardableDataFlowOpInterface>(op) ||
        op.hasTrait<OpTrait::ConstantLike>())
      continue;
    price += costs.computePrice(static_cast<double>(countFlops(rule)),
                                touchedBytes(op, chains));
  }
  return price;
}

} // namespace

double findComputePrice(ModuleOp module, const DeviceModel &model) {
  sdy::MeshOp mesh = sdy::getProgramMesh(module);
  if (!mesh)
    return 0;
  MeshCosts costs = toMeshCosts(model, mesh.getMesh());
  if (!costs.pricesCompute())
    return 0;
  CallCounts calls(module);
  double price = 0;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto runs = static_cast<double>(calls.executed(func));
    func.walk([&](Operation *op) {
      if (op != func && !isa<ShardableDataFlowOpInterface>(op))
        return;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.empty())
            price += runs *
                     static_cast<double>(sdy::getTrips(&block.front()).count) *
                     priceOfBlock(block, costs);
    });
  }
  return price;
}

} // namespace shardonnay
