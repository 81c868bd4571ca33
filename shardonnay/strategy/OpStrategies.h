//===- OpStrategies.h - the strategies of the ops on a mesh -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cheapest strategy of an op depends on its rule, on the kinds of its
// tensors and on how these are sharded. Programs repeat themselves, so each of
// these is a number, and a strategy is found once for all ops that agree in
// them. Nothing here knows the program: StrategyGraph.h does.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_OPSTRATEGIES_H
#define SHARDONNAY_STRATEGY_OPSTRATEGIES_H

#include "shardonnay/strategy/OpSolver.h"
#include "shardonnay/support/Interner.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include <deque>

namespace shardonnay {

/// A tensor but for its sharding.
struct TensorKind {
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes = 1;
  ReshardRuns runs = {};

  bool operator==(const TensorKind &o) const {
    return shape == o.shape && elementBytes == o.elementBytes && runs == o.runs;
  }
};
llvm::hash_code hash_value(const TensorKind &kind);

/// An op but for the shardings of its tensors.
struct OpKind : OpFeatures {
  /// Outlives all that is said of the op.
  const FactorRule *rule = nullptr;
  /// Numbers of the kinds of its operands and results; -1 of what is no ranked
  /// tensor.
  llvm::SmallVector<int32_t, 4> tensors;

  bool operator==(const OpKind &o) const {
    return OpFeatures::operator==(o) && rule == o.rule && tensors == o.tensors;
  }
};
llvm::hash_code hash_value(const OpKind &kind);

/// How an op is sharded, and what that means for its tensors, operands first.
struct OpStrategy {
  const FactorStrategy *factors = nullptr;
  /// How the op takes its operands and leaves its results: numbers of
  /// shardings; -1 of what is no ranked tensor.
  llvm::SmallVector<int32_t, 4> needed;
  /// The tensors that are sharded otherwise.
  llvm::SmallBitVector differs;
  /// What is gathered is gathered because that is cheaper, not for want of
  /// another strategy.
  bool repeatsWork = false;
  /// Into how many parts the op's work is divided.
  int64_t shards = 1;
  int32_t kind = -1;

private:
  friend class OpStrategies;
  /// The shardings of the tensors, and whether each costs nothing.
  llvm::SmallVector<int32_t, 4> shardings;
  llvm::SmallBitVector free;
  /// Once asked for.
  mutable std::optional<std::optional<double>> price;
  mutable std::optional<OpWork> work;
  mutable std::optional<double> ownPrice;
};

/// What a reshard takes.
struct ReshardCost {
  /// In byte times.
  double price = 0;
  /// What a device sends.
  int64_t bytes = 0;
};

/// Finds strategies, and remembers them.
class OpStrategies {
public:
  OpStrategies(Mesh mesh, MeshCosts costs, bool gathersByPrice = true)
      : mesh(mesh), solver(std::move(mesh), std::move(costs), gathersByPrice) {}

  int32_t add(const TensorSharding &sharding) {
    return shardings.intern(sharding);
  }
  int32_t add(const TensorKind &kind) { return tensors.intern(kind); }
  int32_t add(const OpKind &kind) { return kinds.intern(kind); }
  const TensorSharding &sharding(int32_t number) const {
    return shardings[number];
  }
  const TensorKind &tensor(int32_t number) const { return tensors[number]; }
  const OpKind &kind(int32_t number) const { return kinds[number]; }

  /// The cheapest strategy of an op of `kind` whose tensors have `shardings`
  /// (-1 of what is no ranked tensor). `free` says which operands cost nothing
  /// in any sharding. Stays valid.
  const OpStrategy &solve(int32_t kind, llvm::ArrayRef<int32_t> shardings,
                          const llvm::SmallBitVector &free);
  /// The strategy that `factors` is for the same op. Stays valid.
  const OpStrategy &make(int32_t kind, llvm::ArrayRef<int32_t> shardings,
                         const llvm::SmallBitVector &free,
                         const FactorStrategy &factors);
  /// The price of the op, its reshards included, in byte times; nothing if a
  /// reshard has no plan.
  std::optional<double> price(const OpStrategy &strategy);
  /// What a device does for the op alone. Stays valid.
  const OpWork &workOf(const OpStrategy &strategy);
  /// The price of that, in byte times.
  double ownPrice(const OpStrategy &strategy);
  /// Taking a tensor of kind number `tensor` from one sharding to another;
  /// nothing if there is no way.
  std::optional<ReshardCost> reshardCost(int32_t tensor, int32_t from,
                                         int32_t to);
  std::optional<double> reshardPrice(int32_t tensor, int32_t from, int32_t to) {
    std::optional<ReshardCost> cost = reshardCost(tensor, from, to);
    return cost ? std::optional(cost->price) : std::nullopt;
  }
  /// The problem that an op of `kind` poses.
  OpProblem problemOf(int32_t kind, llvm::ArrayRef<int32_t> shardings,
                      const llvm::SmallBitVector &free) const;

  OpProblem problemOf(const OpStrategy &strategy) const {
    return problemOf(strategy.kind, strategy.shardings, strategy.free);
  }

  /// What is solved and made from here on has compute weighed (MeshCosts), or
  /// has not. What is there keeps its prices.
  void weighCompute(bool weighs) { solver.weighCompute(weighs); }

  OpSolver &getSolver() { return solver; }
  const Mesh &getMesh() const { return mesh; }

private:
  using Key = llvm::SmallVector<int32_t, 8>;
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key);
    }
  };

  void fill(OpStrategy &strategy, int32_t kind,
            llvm::ArrayRef<int32_t> shardings, const llvm::SmallBitVector &free,
            const OpProblem &problem, const FactorStrategy &factors);

  Mesh mesh;
  OpSolver solver;
  Interner<TensorSharding> shardings;
  Interner<TensorKind> tensors;
  Interner<OpKind> kinds;
  /// The axes of factors that strategies have: there are few, and they are
  /// large.
  Interner<FactorStrategy> factorStrategies;
  std::unordered_map<Key, OpStrategy, Hash> selected;
  std::deque<OpStrategy> made;
  /// By kind of tensor, and the two shardings.
  llvm::DenseMap<std::tuple<int32_t, int32_t, int32_t>,
                 std::optional<ReshardCost>>
      reshards;
};

/// Bytes that a device holds of a tensor; a byte or more for each element.
int64_t localBytes(const TensorKind &tensor, const TensorSharding &sharding);

/// Taking a tensor from one sharding to another; nothing if there is no way.
/// What is whole becomes partial for free.
std::optional<ReshardCost> costOfReshard(OpSolver &solver,
                                         llvm::ArrayRef<int64_t> shape,
                                         int64_t elementBytes,
                                         const TensorSharding &from,
                                         const TensorSharding &to);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_OPSTRATEGIES_H
