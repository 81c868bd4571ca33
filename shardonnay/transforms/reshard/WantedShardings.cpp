//===- WantedShardings.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/WantedShardings.h"
#include "shardonnay/dialect/sdy/Callee.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include <queue>

using namespace mlir;

namespace shardonnay {

namespace {

class WantedShardings {
public:
  explicit WantedShardings(BlockCases &cases)
      : cases(cases), scope(cases.getScope()) {}

  UnshardedUses run();

private:
  /// Puts into `open` the producers of the operands that op `number` may need
  /// otherwise than they are.
  void addProducers(int32_t number);
  void visit(Operation *op);
  /// The one sharding that all uses need `value` in.
  const TensorSharding *neededByAll(Value value);
  /// Puts the uses of `value`, which lies as `present`, into `unsharded`.
  void findUnshardedUses(Value value, const TensorSharding &present);

  BlockCases &cases;
  const MeshScope &scope;
  /// Numbers of ops, the last one first.
  std::priority_queue<int32_t> open;
  UnshardedUses unsharded;
};

int64_t numShards(const TensorSharding &sharding) {
  int64_t shards = 1;
  for (const DimSharding &dim : sharding.dims)
    shards *= dim.axes.numShards();
  return shards;
}

void WantedShardings::addProducers(int32_t number) {
  Operation *op = cases.getEntries()[number].op;
  const OpCase *opCase = cases.getEntries()[number].opCase;
  auto add = [&](unsigned operand) {
    int32_t producer = cases.producerOf(op->getOperand(operand));
    if (producer >= 0)
      open.push(producer);
  };
  unsigned numOperands = op->getNumOperands();
  if (!opCase)
    for (unsigned i = 0; i < numOperands; ++i)
      add(i);
  else if (opCase->decision)
    for (unsigned i : opCase->decision->differs.set_bits())
      if (i < numOperands)
        add(i);
}

UnshardedUses WantedShardings::run() {
  int32_t numOps = cases.getEntries().size();
  for (int32_t number = 0; number < numOps; ++number)
    addProducers(number);
  for (int32_t last = numOps; !open.empty();) {
    int32_t number = open.top();
    open.pop();
    auto [op, opCase] = cases.getEntries()[number];
    if (number < last && opCase && opCase->rule && !opCase->onOneDevice)
      visit(op);
    last = std::min(last, number);
  }
  return std::move(unsharded);
}

void WantedShardings::visit(Operation *op) {
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  bool contraction = ruleOp && ruleOp.isContraction();
  for (OpResult result : op->getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || result.use_empty())
      continue;
    const TensorSharding *needed = neededByAll(result);
    if (!needed)
      continue;
    const TensorSharding &present = scope.read(result);
    // A contraction is not worth doing twice to save a gather of its result.
    if (*needed != present && present.unreduced.empty() &&
        (!contraction || numShards(*needed) >= numShards(present))) {
      findUnshardedUses(result, present);
      cases.change(result, *needed,
                   [&](int32_t number) { addProducers(number); });
    }
  }
}

void WantedShardings::findUnshardedUses(Value value,
                                        const TensorSharding &present) {
  for (OpOperand &use : value.getUses()) {
    int32_t number = cases.numberOf(use.getOwner());
    const OpCase *user =
        number >= 0 ? cases.getEntries()[number].opCase : nullptr;
    if (user && user->decision && !user->decision->repeatsWork &&
        findUnshardedDim(*user->rule, use.getOperandNumber(), present))
      unsharded.insert(&use);
  }
}

const TensorSharding *WantedShardings::neededByAll(Value value) {
  const TensorSharding *needed = nullptr;
  for (OpOperand &use : value.getUses()) {
    const TensorSharding *here = neededAt(use, cases);
    if (!here || (needed && *here != *needed))
      return nullptr;
    needed = here;
  }
  return needed;
}

} // namespace

const TensorSharding *neededAt(OpOperand &use, const BlockCases &cases) {
  const MeshScope &scope = cases.getScope();
  Operation *user = use.getOwner();
  if (user->getBlock() != use.get().getParentBlock())
    return nullptr;
  int64_t number = use.getOperandNumber();
  auto read = [&](sdy::TensorShardingAttr sharding) {
    return &scope.read(sharding,
                       cast<RankedTensorType>(use.get().getType()).getRank());
  };
  if (auto reshard = dyn_cast<sdy::ReshardOp>(user))
    return read(reshard.getSharding());
  if (isa<func::ReturnOp>(user))
    return read(sdy::getFuncResultSharding(
        cast<func::FuncOp>(user->getParentOp()), number));
  if (auto call = dyn_cast<func::CallOp>(user)) {
    func::FuncOp callee = sdy::getCalleeWithBody(call);
    if (!callee)
      return nullptr;
    return read(sdy::getSharding(callee.getArgument(number)));
  }
  if (getEdgeOwner(use))
    return read(sdy::getClassSharding(use));
  int32_t place = cases.numberOf(user);
  const OpCase *opCase =
      place >= 0 ? cases.getEntries()[place].opCase : nullptr;
  return opCase && opCase->decision ? opCase->decision->needed[number]
                                    : nullptr;
}

UnshardedUses adoptWantedShardings(BlockCases &cases) {
  return WantedShardings(cases).run();
}

} // namespace shardonnay
