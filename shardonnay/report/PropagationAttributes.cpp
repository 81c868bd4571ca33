//===- PropagationAttributes.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/PropagationAttributes.h"
#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Dialect.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static StringRef kindOf(Operation *op) {
  if (isa<ShardingConstraintOp>(op))
    return "constraint_";
  return isa<ManualComputationOp>(op) ? "mc_" : "op_";
}

/// The first number that no op of the kind has in its name.
static int64_t nextNumber(Operation *module, StringRef kind) {
  int64_t next = 0;
  module->walk([&](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(kOriginNameAttr);
    StringRef number = name ? name.getValue() : StringRef();
    int64_t value = 0;
    if (number.consume_front(kind) && !number.getAsInteger(10, value))
      next = std::max(next, value + 1);
  });
  return next;
}

static StringAttr setName(Operation *op, int64_t number) {
  auto name =
      StringAttr::get(op->getContext(), kindOf(op) + llvm::Twine(number));
  op->setAttr(kOriginNameAttr, name);
  return name;
}

void nameOrigins(ModuleOp module) {
  int64_t constraints = nextNumber(module, "constraint_");
  int64_t manual = nextNumber(module, "mc_");
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(kOriginNameAttr))
      return;
    if (isa<ShardingConstraintOp>(op))
      setName(op, constraints++);
    else if (isa<ManualComputationOp>(op))
      setName(op, manual++);
  });
}

StringAttr getOrMakeOriginName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(kOriginNameAttr))
    return name;
  auto module = op->getParentOfType<ModuleOp>();
  return setName(op, module ? nextNumber(module, kindOf(op)) : 0);
}

std::string axisKey(AxisRefAttr axis) {
  std::string key = axis.getName().str();
  if (SubAxisInfoAttr part = axis.getSubAxisInfo())
    key += llvm::formatv(":({0}){1}", part.getPreSize(), part.getSize());
  return key;
}

//===----------------------------------------------------------------------===//
// Origins
//===----------------------------------------------------------------------===//

/// The function of which `value` is an argument; null if it is none's.
static func::FuncOp functionOf(Value value) {
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return nullptr;
  return dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// States the sharding of its one result itself.
static bool hasOneOrigin(Operation *op) {
  return isa<ShardingConstraintOp, ReshardOp, DataFlowEdgeOp>(op);
}

DictionaryAttr getOrigins(const ShardedPlace &place) {
  if (func::FuncOp func = place.func)
    return func.getResultAttrOfType<DictionaryAttr>(place.result,
                                                    kShardingOriginsAttr);
  if (func::FuncOp func = functionOf(place.value))
    return func.getArgAttrOfType<DictionaryAttr>(
        cast<BlockArgument>(place.value).getArgNumber(), kShardingOriginsAttr);
  auto result = dyn_cast<OpResult>(place.value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  if (hasOneOrigin(op))
    return op->getAttrOfType<DictionaryAttr>(kShardingOriginsAttr);
  auto all = op->getAttrOfType<ArrayAttr>(kShardingOriginsAttr);
  return all && result.getResultNumber() < all.size()
             ? dyn_cast<DictionaryAttr>(all[result.getResultNumber()])
             : DictionaryAttr();
}

void setOrigins(const ShardedPlace &place, DictionaryAttr origins) {
  if (func::FuncOp func = place.func) {
    func.setResultAttr(place.result, kShardingOriginsAttr, origins);
    return;
  }
  if (func::FuncOp func = functionOf(place.value)) {
    func.setArgAttr(cast<BlockArgument>(place.value).getArgNumber(),
                    kShardingOriginsAttr, origins);
    return;
  }
  auto result = dyn_cast<OpResult>(place.value);
  if (!result)
    return;
  Operation *op = result.getOwner();
  if (hasOneOrigin(op)) {
    op->setAttr(kShardingOriginsAttr, origins);
    return;
  }
  SmallVector<Attribute> all(op->getNumResults(),
                             DictionaryAttr::get(op->getContext()));
  if (auto old = op->getAttrOfType<ArrayAttr>(kShardingOriginsAttr))
    if (old.size() == all.size())
      llvm::copy(old, all.begin());
  all[result.getResultNumber()] = origins;
  op->setAttr(kShardingOriginsAttr, ArrayAttr::get(op->getContext(), all));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static PropagationEdgesAttr append(PropagationEdgesAttr edges,
                                   PropagationOneStepAttr step) {
  SmallVector<PropagationOneStepAttr> steps;
  if (edges)
    llvm::append_range(steps, edges.getValue());
  steps.push_back(step);
  return PropagationEdgesAttr::get(step.getContext(), steps);
}

void addStep(Operation *op, PropagationOneStepAttr step) {
  op->setAttr(
      kPropagationEdgesAttr,
      append(op->getAttrOfType<PropagationEdgesAttr>(kPropagationEdgesAttr),
             step));
}

void addStep(func::FuncOp func, unsigned result, PropagationOneStepAttr step) {
  func.setResultAttr(result, kPropagationEdgesAttr,
                     append(func.getResultAttrOfType<PropagationEdgesAttr>(
                                result, kPropagationEdgesAttr),
                            step));
}

int64_t getNextStep(ModuleOp module) {
  int64_t next = 0;
  auto count = [&](PropagationEdgesAttr edges) {
    if (edges)
      for (PropagationOneStepAttr step : edges.getValue())
        next = std::max(next, step.getStepIndex() + 1);
  };
  module.walk([&](Operation *op) {
    count(op->getAttrOfType<PropagationEdgesAttr>(kPropagationEdgesAttr));
    if (auto func = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        count(func.getResultAttrOfType<PropagationEdgesAttr>(
            i, kPropagationEdgesAttr));
  });
  return next;
}

} // namespace shardonnay
