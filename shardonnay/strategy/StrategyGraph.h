//===- StrategyGraph.h - a block as a problem of strategies -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a block and the values between them, as numbers. Ops that are
// equal and whose tensors are sharded alike are of one class: there are a few
// dozen classes in a program of a thousand layers. The graph says how values
// are sharded at first, and never changes; StrategyState.h says how they are
// sharded after some algorithm.
//
// A value is what an op makes, an argument of the block, or comes from outside.
// A use is an op's that has a strategy, or asks for a fixed sharding (what the
// block returns, what a loop carries, what the user constrained), or its op is
// not known, and the value stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_STRATEGYGRAPH_H
#define SHARDONNAY_STRATEGY_STRATEGYGRAPH_H

#include "shardonnay/strategy/OpStrategies.h"
#include <vector>

namespace shardonnay {

/// What equal ops have in common.
struct OpClass {
  /// Number of an OpKind; -1: the op has no strategy of its own.
  int32_t kind = -1;
  /// If the op is a lookup of single positions as long as the dims of these are
  /// whole in its results (shardsPickedDim): its kind then; else -1.
  int32_t pickingKind = -1;
  /// The shardings of its tensors, operands first; -1 for what is no ranked
  /// tensor.
  llvm::SmallVector<int32_t, 4> shardings;
  /// The operands that cost nothing in any sharding.
  llvm::SmallBitVector free;
  /// The operands in each of which alone it is linear, as sums have it.
  llvm::SmallBitVector linear;
  /// Several operands in which it is linear together, as it adds them up.
  llvm::SmallBitVector summands;
  /// It passes its operands on as they are asked for: a return, a call, a loop,
  /// a reshard.
  bool passesOn = false;
  /// It is a reshard, as of what the user constrained: it asks its operand for
  /// the sharding that its result has in the state.
  bool isReshard = false;
};

struct StrategyUse {
  /// The op that chooses; -1 where there is none.
  int32_t op = -1;
  int32_t operand = 0;
  /// The sharding that is asked for where none chooses; -1 if not known.
  int32_t need = -1;
  /// The op that reads it, whether it chooses or not.
  int32_t reader = -1;

  bool isFixed() const { return op < 0 && need >= 0; }
  bool isUnknown() const { return op < 0 && need < 0; }
};

struct StrategyValue {
  /// The op that makes it; -1: none of the block.
  int32_t producer = -1;
  int32_t result = 0;
  /// Number of a TensorKind; -1 of what is no ranked tensor.
  int32_t tensor = -1;
  /// Number of a sharding; -1 of what is no ranked tensor.
  int32_t sharding = -1;
  /// It costs nothing in any sharding.
  bool constant = false;
};

class StrategyGraph {
public:
  size_t numOps() const { return ops.size() - 1; }
  size_t numValues() const { return values.size(); }

  const OpClass &classOf(int32_t op) const { return classes[ops[op].opClass]; }
  int32_t classNumber(int32_t op) const { return ops[op].opClass; }
  llvm::ArrayRef<OpClass> getClasses() const { return classes; }
  const StrategyValue &value(int32_t number) const { return values[number]; }
  /// The places of an op's operands in getOperandValues().
  std::pair<int32_t, int32_t> operandRange(int32_t op) const {
    return {ops[op].firstOperand, ops[op + 1].firstOperand};
  }
  llvm::ArrayRef<int32_t> getOperandValues() const { return operands; }
  llvm::ArrayRef<int32_t> operandsOf(int32_t op) const {
    auto [begin, end] = operandRange(op);
    return getOperandValues().slice(begin, end - begin);
  }
  /// The values that the op makes follow one another.
  int32_t firstResult(int32_t op) const { return ops[op].firstResult; }
  int32_t numResults(int32_t op) const { return ops[op].numResults; }
  /// The last one first.
  llvm::ArrayRef<StrategyUse> usesOf(int32_t value) const {
    return llvm::ArrayRef(uses).slice(firstUses[value],
                                      firstUses[value + 1] - firstUses[value]);
  }
  /// How often the block runs, as far as that is known (1 where it is not).
  double getTrips() const { return trips; }
  /// The axes that shard nothing here, as manual computations around the block
  /// have them.
  const AxisList &manualAxes() const { return manual; }
  /// The price of a byte that a device holds of what the op makes, in byte
  /// times.
  double memoryPrice(int32_t op) const {
    return op < 0 || memoryPrices.empty() ? 0 : memoryPrices[op];
  }
  bool hasMemoryPrices() const { return !memoryPrices.empty(); }

private:
  friend class StrategyGraphBuilder;
  struct Op {
    int32_t opClass = -1;
    int32_t firstOperand = 0;
    int32_t firstResult = 0;
    int32_t numResults = 0;
  };

  std::vector<OpClass> classes;
  /// One more than there are, which says where the last one's operands end.
  std::vector<Op> ops;
  std::vector<StrategyValue> values;
  std::vector<int32_t> operands;
  std::vector<int32_t> firstUses;
  std::vector<StrategyUse> uses;
  /// By op; empty if none has one.
  std::vector<double> memoryPrices;
  double trips = 1;
  AxisList manual;
};

/// Puts a graph together, op by op in the order of the block.
class StrategyGraphBuilder {
public:
  int32_t addClass(OpClass opClass);
  /// Returns its number. A producer is set by `addOp`.
  int32_t addValue(StrategyValue value);
  /// An op that makes the values `firstResult` and those behind it. `needs` are
  /// the shardings that an op without a strategy asks of its operands (-1: not
  /// known); empty if it has one. Returns its number.
  int32_t addOp(int32_t opClass, llvm::ArrayRef<int32_t> operands,
                llvm::ArrayRef<int32_t> needs, int32_t firstResult,
                int32_t numResults);
  /// Something in a region of the last op reads `value`.
  void addUnknownUse(int32_t value);
  void setMemoryPrice(int32_t op, double price);
  void setTrips(double trips) { graph.trips = trips; }
  void setManualAxes(const AxisList &axes) { graph.manual = axes; }
  const StrategyValue &getValue(int32_t number) const {
    return graph.values[number];
  }

  StrategyGraph finish();

private:
  void addUse(int32_t value, const StrategyUse &use);

  StrategyGraph graph;
  /// In the order of the block.
  std::vector<std::pair<int32_t, StrategyUse>> found;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_STRATEGYGRAPH_H
