//===- StrategyState.h - how a block's values are sharded -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy of shardings to the values of a graph, with the strategies that
// the ops have for them. Besides itself a value may have copies, which are
// sharded otherwise: what they cost is paid once, and each op says whether it
// reads the value or a copy.
//
// Algorithms ask `strategyIf` what an op would do, which changes nothing, and
// then `change` what they decided. StateEvaluator.h prices a state.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_STRATEGYSTATE_H
#define SHARDONNAY_STRATEGY_STRATEGYSTATE_H

#include "shardonnay/strategy/StrategyGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace shardonnay {

class StrategyState {
public:
  /// As the graph has it. Both outlive this.
  StrategyState(const StrategyGraph &graph, OpStrategies &table);

  const StrategyGraph &getGraph() const { return *graph; }
  OpStrategies &getTable() const { return *table; }

  /// The sharding of a value or a copy.
  int32_t shardingOf(int32_t value) const { return shardings[value]; }
  const TensorSharding &readSharding(int32_t value) const {
    return table->sharding(shardings[value]);
  }
  /// Null if it has none.
  const OpStrategy *strategyOf(int32_t op) const {
    return op < 0 ? nullptr : strategies[op];
  }
  /// The values or copies that the op reads.
  llvm::ArrayRef<int32_t> operandsOf(int32_t op) const {
    auto [begin, end] = graph->operandRange(op);
    return llvm::ArrayRef(operands).slice(begin, end - begin);
  }
  /// What a use that is fixed asks for; -1 of others.
  int32_t needOf(const StrategyUse &use) const;
  /// Calls `visit` with the uses of a value, those that read a copy left out,
  /// and with a fixed one for each copy.
  void forEachUse(int32_t value,
                  llvm::function_ref<void(const StrategyUse &)> visit) const;
  bool isUsed(int32_t value) const { return !graph->usesOf(value).empty(); }
  /// The value may be sharded otherwise: all its uses are known, and it is
  /// whole, not a partial sum.
  bool mayMove(int32_t value) const;

  struct Copy {
    int32_t source;
    int32_t sharding;
    /// The operands that read it; without any it is gone.
    int32_t numReaders = 0;
  };
  /// Their numbers follow those of the graph's values.
  llvm::ArrayRef<Copy> getCopies() const { return copies; }
  /// The copies of one value that are read.
  llvm::SmallVector<Copy, 2> copiesOf(int32_t value) const;
  /// The value that `number` is or is a copy of.
  int32_t sourceOf(int32_t number) const {
    int32_t copy = number - graph->numValues();
    return copy < 0 ? number : copies[copy].source;
  }

  /// False of copies that are gone.
  bool isRead(int32_t number) const {
    int32_t copy = number - graph->numValues();
    return copy < 0 || copies[copy].numReaders > 0;
  }

  /// What the op, which has a strategy, would do if `value` had `sharding`.
  const OpStrategy &strategyIf(int32_t op, int32_t value, int32_t sharding);
  /// Gives a value that an op makes another sharding, and the ops around it
  /// their strategies; calls `changed` with these. A reshard's operand is asked
  /// for that of its result then.
  void change(
      int32_t value, int32_t sharding,
      llvm::function_ref<void(int32_t)> changed = [](int32_t) {});
  int32_t addCopy(int32_t value, int32_t sharding);
  /// The op reads `to` where it read `from`.
  void redirect(int32_t op, int32_t from, int32_t to);
  /// The op takes another strategy than its cheapest, for as long as nothing
  /// around it changes. Of another kind than the op is of, as its results are
  /// sharded now (pickingKind), it is none of the op's: the cheapest stays.
  void takeStrategy(int32_t op, int32_t kind, const FactorStrategy &strategy);

  /// The op's operands, strategy and results become those of `other`, a state
  /// of the same graph with the same copies.
  void assign(int32_t op, const StrategyState &other);

  /// The op's tensors are sharded as the graph has it.
  bool isAsAtFirst(int32_t op) const;

  /// Every strategy is that of its op for what its tensors have, and every copy
  /// is read. False, and why, if not.
  bool verify(std::string &error) const;

private:
  /// The shardings of an op's tensors where `value` had `sharding`.
  void shardingsOf(int32_t op, int32_t value, int32_t sharding,
                   llvm::SmallVectorImpl<int32_t> &result) const;
  void setOperand(int32_t place, int32_t value);
  const OpStrategy *solve(int32_t op, int32_t value, int32_t sharding) const;

  const StrategyGraph *graph;
  OpStrategies *table;
  /// The shardings of values, then of copies.
  std::vector<int32_t> shardings;
  /// As the graph's.
  std::vector<int32_t> operands;
  std::vector<const OpStrategy *> strategies;
  std::vector<Copy> copies;
  llvm::DenseMap<int32_t, llvm::SmallVector<int32_t, 1>> copyNumbers;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_STRATEGYSTATE_H
