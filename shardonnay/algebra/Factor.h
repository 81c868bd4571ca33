//===- Factor.h - how an operation's dims decompose -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The factor rule of an operation names its independent loops, the *factors*,
// and writes every dim of every operand and result as a product of them, major
// to minor. A matmul is ([i, k], [k, j]) -> ([i, j]) with k a reduction; the
// reshape of 8x4 to 2x16 is ([i j, k]) -> ([i, j k]) {i=2, j=4, k=4}. The rule
// is the one record of an operation that all stages read; `sdy.sharding_rule`
// is its printable view.
//
// Invariants: every dim has at least one factor; the sizes of a dim's factors
// multiply to its size, unless one of them is Windowed, Indexed or
// NeedReplication (a slice of 8 to 5 has one factor of size 8); no factor of
// size 1 stands beside others in a dim; no factor occurs twice in a tensor;
// every factor occurs in some tensor; a reduction factor occurs in no result.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_FACTOR_H
#define SHARDONNAY_ALGEBRA_FACTOR_H

#include "shardonnay/algebra/FactorWindow.h"
#include "shardonnay/algebra/Reduction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace shardonnay {

/// What sharding a factor by an axis asks of the local computation.
enum class FactorKind : uint8_t {
  /// Nothing: each device computes its slice of the results from its slices of
  /// the operands.
  PassThrough,
  /// Each device's results are partial; they combine by the factor's combiner.
  Reduction,
  /// Each device needs neighbours' data (halo).
  Windowed,
  /// Positions along the factor are named by data (gather, scatter, dynamic
  /// slice): the local computation masks those
  /// of other devices. If the factor is in no result, the results are partial,
  /// by the factor's combiner.
  Indexed,
  /// Can't be computed on a slice.
  NeedReplication,
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::PassThrough;
  /// How partial results are combined; used by Reduction and Indexed only.
  ReductionKind combiner = ReductionKind::Sum;
  /// Propagation does not pass along this factor.
  bool blocked = false;
  /// May be sharded unevenly where it is the first of several in a dim: the
  /// local computation makes the dim's shards those of the factor.
  bool retiled = false;
  /// Where it is sharded, each device gathers what the others along its axes
  /// found of the results: at one position of the factor where these have it.
  bool exchanged = false;

  bool operator==(const Factor &o) const {
    return size == o.size && kind == o.kind && combiner == o.combiner &&
           blocked == o.blocked && retiled == o.retiled &&
           exchanged == o.exchanged;
  }
};

/// The factors of one dim, major to minor.
using DimFactors = llvm::SmallVector<int32_t, 1>;

/// Which factors make up each dim of one operand or result. A non-tensor or
/// unmapped scalar has no dims.
struct TensorMapping {
  llvm::SmallVector<DimFactors, 4> dims;

  /// The dim that has `factor`; -1 if none.
  int64_t dimOf(int32_t factor) const;
  bool has(int32_t factor) const { return dimOf(factor) >= 0; }

  bool operator==(const TensorMapping &o) const { return dims == o.dims; }
};

/// What a local computation adds up over devices on its way to the results.
struct FactorSum {
  /// Operands first, then results: the sum is as large as the local shard of
  /// this tensor, and goes along what shards the factors that it does not have.
  int32_t tensor = 0;
  int64_t elementBytes = 0;
  /// It is as large as the whole tensor, and goes over all devices.
  bool isWhole = false;

  bool operator==(const FactorSum &o) const {
    return tensor == o.tensor && elementBytes == o.elementBytes &&
           isWhole == o.isWhole;
  }
};

struct FactorRule {
  llvm::SmallVector<Factor, 6> factors;
  /// Not inline: a rule changes hands a few times before it is used.
  std::vector<TensorMapping> operands, results;
  /// What sharded windowed factors fetch, in order. Not of what a text says.
  std::vector<FactorWindow> windows;
  std::vector<FactorSum> sums;
  /// Given by the user: replaces the op's own mapping and kinds.
  bool custom = false;

  int64_t numTensors() const { return operands.size() + results.size(); }
  /// Operands first, then results.
  const TensorMapping &tensor(int64_t i) const {
    return i < static_cast<int64_t>(operands.size())
               ? operands[i]
               : results[i - operands.size()];
  }
  /// Results are partial over the axes of `factor`: a Reduction, or an Indexed
  /// factor that is in no result.
  bool reducesOver(int32_t factor) const;
  /// Some factor is exchanged.
  bool exchanges() const;
  /// Devices communicate in the local computation.
  bool communicates() const {
    return !windows.empty() || !sums.empty() || exchanges();
  }
  /// Factor `f` is in some result.
  bool inResults(int32_t factor) const;
  /// `factor` may be sharded unevenly: it stands alone in its dims. Beside
  /// others, the shards of the factor would not be those of the dim, unless it
  /// is the first, and retiled.
  bool mayBeUneven(int32_t factor) const;
  /// Where `shards` divide the window's factor, there is something to fetch. Of
  /// a retiled factor the shards are the dim's where their number divides it.
  bool isFetched(const FactorWindow &window, int64_t shards) const;

  /// Checks the invariants above against the shapes (operands first, then
  /// results); on failure says why in `error`.
  bool verify(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes,
              std::string &error) const;

  bool operator==(const FactorRule &o) const {
    return factors == o.factors && operands == o.operands &&
           results == o.results && windows == o.windows && sums == o.sums &&
           custom == o.custom;
  }
};

llvm::hash_code hash_value(const FactorRule &rule);

/// In a result of `picking`, the rule of an op that looks positions up, a dim
/// is sharded that has one position of an operand's: its shards are empty but
/// for one, so the op is better computed by its windows. `isSharded` says which
/// dims of which results are.
bool shardsPickedDim(const FactorRule &picking,
                     llvm::function_ref<bool(size_t, size_t)> isSharded);

/// The name that printed rules give a factor: i .. z, z_1 ...
std::string factorName(int64_t factor);

/// ([i, k], [k, j])->([i, j]) {i=2, j=4, k=4} reduction={k}, then windowed,
/// indexed, need_replication and blocked lists; factor names are i .. z, z_1
/// ...
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const FactorRule &rule);

/// Builds a rule a factor at a time:
///   FactorRuleBuilder b(lhsRank, rhsRank | resultRank)
///   b.add(size, {operand dim or -1 ...}, {result dim or -1 ...}, kind)
/// Factors of one dim are given major to minor. Every dim needs one
/// (FactorRule::verify says so).
class FactorRuleBuilder {
public:
  FactorRuleBuilder(llvm::ArrayRef<int64_t> operandRanks,
                    llvm::ArrayRef<int64_t> resultRanks);
  /// Adds a factor that stands at these dims (-1: not in that tensor), minor to
  /// the factors that the dims already have. Returns its id.
  int32_t add(int64_t size, llvm::ArrayRef<int64_t> operandDims,
              llvm::ArrayRef<int64_t> resultDims,
              FactorKind kind = FactorKind::PassThrough,
              ReductionKind combiner = ReductionKind::Sum,
              bool blocked = false);
  /// Adds what a factor fetches where it is sharded.
  void addWindow(const FactorWindow &window) { rule.windows.push_back(window); }
  void addSum(const FactorSum &sum) { rule.sums.push_back(sum); }
  FactorRule build() { return std::move(rule); }

private:
  FactorRule rule;
};

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_FACTOR_H
