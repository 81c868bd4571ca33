//===- HostValues.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/HostValues.h"

#include "shardonnay/analysis/FusedChains.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

/// Whether one of the attributes, of whichever dialect, says so.
static bool isHost(DictionaryAttr attributes) {
  return attributes && llvm::any_of(attributes, [](NamedAttribute attribute) {
           auto kind = dyn_cast<StringAttr>(attribute.getValue());
           return attribute.getName().strref().ends_with(".memory_kind") &&
                  kind && kind.getValue().ends_with("_host");
         });
}

bool isHostArgument(func::FuncOp func, unsigned number) {
  return isHost(func.getArgAttrDict(number));
}

bool isHostResult(func::FuncOp func, unsigned number) {
  return isHost(func.getResultAttrDict(number));
}

/// Writes operand 1 into operand 0.
static bool isUpdate(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return op->getNumOperands() > 1 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && rule && !rule.isElementwise() &&
         FusedChains::worksInPlace(op) &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

namespace {
class HostValues {
public:
  void addArguments(func::FuncOp func);
  void addMoved(Operation *op);
  DenseSet<Value> values;

private:
  void add(Value value);
  void follow(OpOperand &use);
  void followAll();
  void addEdge(Value owner);
  bool isRead(Value value, unsigned depth = 0) const;

  SmallVector<Value> left;
  /// Values are on the host because ops say so. An argument may have been moved
  /// to the device by nothing that stands in the program: JAX leaves moves out
  /// for CPU devices.
  bool isMoved = false;
};
} // namespace

void HostValues::add(Value value) {
  if (values.insert(value).second)
    left.push_back(value);
}

/// All that flows into one another is in one memory.
void HostValues::addEdge(Value owner) {
  auto op = cast<ShardableDataFlowOpInterface>(getOwnerOp(owner));
  for (Value target : op.getEdgeTargets(owner))
    add(target);
  for (OpOperand *source : op.getEdgeSources(owner))
    // Zeros that others read too may be a device's.
    if (source->get().hasOneUse())
      add(source->get());
}

/// All that comes of `value` are moves to the device, and writes to a buffer of
/// the host if it is one's.
bool HostValues::isRead(Value value, unsigned depth) const {
  constexpr unsigned kMost = 8;
  auto isReader = [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (Value owner = getEdgeOwner(use))
      return values.contains(owner) ||
             (getOwnerOp(owner)->getNumRegions() == 0 &&
              isRead(owner, depth + 1));
    if (std::optional<Memory> memory = getMemoryMovedTo(op))
      return *memory == Memory::Device;
    if (isUpdate(op) && use.getOperandNumber() == 1)
      return isMoved;
    return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
           use.getOperandNumber() == 0 && isRead(op->getResult(0), depth + 1);
  };
  return depth < kMost && !value.use_empty() &&
         llvm::all_of(value.getUses(), isReader);
}

void HostValues::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (Value owner = getEdgeOwner(use))
    return addEdge(owner);
  if (getMemoryMovedTo(op) || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return;
  unsigned number = use.getOperandNumber();
  if (isUpdate(op) && (number == 0 || (number == 1 && isMoved))) {
    add(op->getOperand(0));
    add(op->getResult(0));
  } else if (number == 0 && isRead(op->getResult(0))) {
    add(op->getResult(0));
  }
}

void HostValues::followAll() {
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (Value owner = getEdgeOwner(value))
      addEdge(owner);
    for (OpOperand &use : value.getUses())
      follow(use);
  }
}

void HostValues::addArguments(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments())
    if (isHostArgument(func, argument.getArgNumber()))
      add(argument);
  followAll();
}

void HostValues::addMoved(Operation *op) {
  isMoved = true;
  add(op->getResult(0));
  followAll();
}

DenseSet<Value> findHostValues(ModuleOp module) {
  HostValues host;
  SmallVector<Operation *> moves;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    host.addArguments(func);
    func.walk([&](Operation *op) {
      if (getMemoryMovedTo(op) == Memory::Host)
        moves.push_back(op);
    });
  }
  for (Operation *op : moves)
    host.addMoved(op);
  return std::move(host.values);
}

} // namespace shardonnay
