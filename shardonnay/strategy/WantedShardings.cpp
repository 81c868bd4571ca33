//===- WantedShardings.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/WantedShardings.h"
#include <queue>

using namespace llvm;

namespace shardonnay {

namespace {

class WantedShardings {
public:
  explicit WantedShardings(StrategyState &state)
      : state(state), graph(state.getGraph()), table(state.getTable()) {}

  std::vector<OperandPlace> run();

private:
  /// Enqueues the producers of the operands that `op` may need otherwise than
  /// they are.
  void enqueueProducers(int32_t op);
  void visit(int32_t op);
  /// `op`, which makes `value` in `present`, may leave it in `needed` instead.
  bool mayAdopt(int32_t op, const TensorSharding &present,
                const TensorSharding &needed) const;
  /// The one sharding that all uses need `value` in; -1 if there is none.
  int32_t neededByAll(int32_t value) const;
  /// Adds the uses of `value` whose ops need dims whole that it has sharded.
  void findUnshardedUses(int32_t value);

  StrategyState &state;
  const StrategyGraph &graph;
  OpStrategies &table;
  /// The last op first.
  std::priority_queue<int32_t> worklist;
  std::vector<OperandPlace> unsharded;
};

int64_t numShards(const TensorSharding &sharding) {
  int64_t shards = 1;
  for (const DimSharding &dim : sharding.dims)
    shards *= dim.axes.numShards();
  return shards;
}

void WantedShardings::enqueueProducers(int32_t op) {
  ArrayRef<int32_t> operands = state.operandsOf(op);
  auto enqueue = [&](int32_t value) {
    if (int32_t producer = graph.value(value).producer; producer >= 0)
      worklist.push(producer);
  };
  if (graph.classOf(op).passesOn)
    for_each(operands, enqueue);
  else if (const OpStrategy *strategy = state.strategyOf(op))
    for (unsigned i : strategy->differs.set_bits())
      if (i < operands.size())
        enqueue(operands[i]);
}

std::vector<OperandPlace> WantedShardings::run() {
  int32_t numOps = graph.numOps();
  for (int32_t op = 0; op < numOps; ++op)
    enqueueProducers(op);
  for (int32_t last = numOps; !worklist.empty();) {
    int32_t op = worklist.top();
    worklist.pop();
    if (op < last && (state.strategyOf(op) || graph.classOf(op).isReshard))
      visit(op);
    last = std::min(last, op);
  }
  return std::move(unsharded);
}

bool WantedShardings::mayAdopt(int32_t op, const TensorSharding &present,
                               const TensorSharding &needed) const {
  if (!present.unreduced.empty())
    return false;
  // What is constrained to more shards is made in more, and gathered to be
  // read.
  if (graph.classOf(op).isReshard)
    return needed.unreduced.empty() && numShards(needed) >= numShards(present);
  // A contraction is not worth doing twice to save a gather of its result.
  return !table.kind(state.strategyOf(op)->kind).contraction ||
         numShards(needed) >= numShards(present);
}

void WantedShardings::visit(int32_t op) {
  for (int32_t i = 0; i < graph.numResults(op); ++i) {
    int32_t value = graph.firstResult(op) + i;
    if (graph.value(value).tensor < 0 || !state.isUsed(value))
      continue;
    int32_t needed = neededByAll(value);
    if (needed < 0 || needed == state.shardingOf(value))
      continue;
    if (mayAdopt(op, state.readSharding(value), table.sharding(needed))) {
      findUnshardedUses(value);
      state.change(value, needed,
                   [&](int32_t around) { enqueueProducers(around); });
    }
  }
}

void WantedShardings::findUnshardedUses(int32_t value) {
  const TensorSharding &present = state.readSharding(value);
  state.forEachUse(value, [&](const StrategyUse &use) {
    const OpStrategy *user = state.strategyOf(use.op);
    if (user && !user->repeatsWork &&
        findUnshardedDim(*table.kind(user->kind).rule, use.operand, present))
      unsharded.push_back({use.op, use.operand});
  });
}

int32_t WantedShardings::neededByAll(int32_t value) const {
  std::optional<int32_t> needed;
  bool same = true;
  state.forEachUse(value, [&](const StrategyUse &use) {
    const OpStrategy *user = state.strategyOf(use.op);
    int32_t here = user ? user->needed[use.operand] : use.need;
    same &= here >= 0 && here == needed.value_or(here);
    needed = here;
  });
  return same ? needed.value_or(-1) : -1;
}

} // namespace

std::vector<OperandPlace> adoptWantedShardings(StrategyState &state) {
  return WantedShardings(state).run();
}

} // namespace shardonnay
