//===- RequiredLayouts.h - the layouts that a strategy asks for -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy of axes to factors asks of each of the op's tensors to be in a
// certain way. Of the hundreds that are compared for one op most ask the same
// of a tensor, which sees a few of the factors only: a dot of [b, m, k] x [k,
// n] on two axes has 25 strategies, of which its right operand tells 9 apart.
// So the reshards and the bounds on their prices are made once for each of
// these.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_REQUIREDLAYOUTS_H
#define SHARDONNAY_STRATEGY_REQUIREDLAYOUTS_H

#include "shardonnay/strategy/OpSolver.h"
#include "shardonnay/support/Hash.h"
#include "shardonnay/support/Interner.h"

namespace shardonnay {

/// How `strategy` has tensor number `tensor` sharded: as Layout::get of
/// shardingUnder.
Layout layoutUnder(const OpProblem &problem, size_t tensor,
                   const FactorStrategy &strategy);
/// Bytes that a device has of a tensor that is sharded as `inside`.
double touchedBytes(const OpProblem &problem, size_t tensor,
                    const Layout &inside);

struct RequiredLayout {
  /// Bytes that a device has of the tensor.
  double touched = 0;
  /// It costs nothing in any layout; the rest says nothing then.
  bool free = false;
  /// How the op needs or leaves it.
  Layout inside;
  /// In which part of the op's runs it is resharded.
  double runs = 1;
  /// At least the price of the reshard.
  double least = 0;
  /// Once asked for; infinite if there is no plan.
  std::optional<double> price;
};

/// What strategies ask of the tensors of one problem, which has to outlive
/// this.
class RequiredLayouts {
public:
  RequiredLayouts(const OpProblem &problem, const MeshCosts &costs);

  /// The numbers of the tensors, the one of most bytes first: what it costs to
  /// move it tells most about a strategy.
  llvm::ArrayRef<size_t> largestFirst() const { return order; }
  /// The numbers of the lists of axes that shard the factors; -1 of a factor
  /// that is not sharded.
  using Numbers = llvm::SmallVector<int32_t, 8>;
  Numbers numbersOf(const FactorStrategy &strategy);
  /// What a strategy, whose lists have `numbers`, asks of a tensor. Stays
  /// valid.
  RequiredLayout &get(size_t tensor, const FactorStrategy &strategy,
                      const Numbers &numbers);
  /// The reshard that `required` of a tensor asks for.
  ReshardProblem reshardOf(size_t tensor, const RequiredLayout &required,
                           const Mesh &mesh) const;

private:
  struct Hash {
    size_t operator()(const Numbers &numbers) const {
      return mixedAll(0, numbers);
    }
  };
  struct Tensor {
    llvm::SmallVector<int32_t, 8> factors;
    /// Its layout, or the one that is wanted.
    Layout outside;
    /// By the numbers of the factors that it sees.
    std::unordered_map<Numbers, RequiredLayout, Hash> known;
  };

  void fill(size_t tensor, const FactorStrategy &strategy,
            RequiredLayout &required) const;

  const OpProblem &problem;
  const MeshCosts &costs;
  Interner<AxisList> lists;
  std::vector<Tensor> tensors;
  llvm::SmallVector<size_t, 4> order;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_REQUIREDLAYOUTS_H
