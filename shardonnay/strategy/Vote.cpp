//===- Vote.cpp -----------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/Vote.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <tuple>

using namespace llvm;

namespace shardonnay {

namespace {

struct Proposal {
  int32_t factor;
  AxisList axes;
};

/// Higher is better; compared in the order of the fields.
using Score = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

int64_t kindRank(FactorKind kind) {
  switch (kind) {
  case FactorKind::PassThrough:
    return 2;
  case FactorKind::Reduction:
    return 1;
  default:
    return 0;
  }
}

class Vote {
public:
  explicit Vote(const VoteProblem &problem)
      : problem(problem), rule(problem.rule), axes(rule.factors.size()) {}

  FactorStrategy run();

private:
  bool takeAgreement();
  /// The tensors without a vote, sharded so, have their factors sharded alike.
  bool canFollow(const FactorStrategy &agreed) const;
  bool keepOneSide();
  void takeBestProposals();
  void redistributeLostAxes();

  /// Shards the factors as `row` does, as far as that is possible.
  void takeRow(const TensorProjection &row);
  SmallVector<Proposal> collectProposals() const;
  Score score(const Proposal &proposal) const;
  /// The longest prefix of `wanted` that extends the factor's present axes and
  /// keeps the laws; the present axes if none does.
  /// A retiled factor is sharded unevenly only if all tensors are `agreed` on
  /// that.
  AxisList possible(int32_t factor, const AxisList &wanted,
                    bool agreed = false) const;
  bool isEligible(int32_t factor) const;
  bool isCopyingLookup(int32_t factor) const;
  AxisList axesOfOthers(int32_t factor) const;
  AxisList lostAxes() const;
  bool isBatching(int32_t factor) const;

  int32_t numFactors() const { return rule.factors.size(); }
  const FactorSharding &cell(int64_t tensor, int32_t factor) const {
    return problem.tensors[tensor].row.factors[factor];
  }
  auto votingCells(int32_t factor) const {
    SmallVector<const FactorSharding *, 4> cells;
    for (const VoteTensor &tensor : problem.tensors)
      if (!tensor.free && tensor.row.factors[factor].present)
        cells.push_back(&tensor.row.factors[factor]);
    return cells;
  }

  const VoteProblem &problem;
  const FactorRule &rule;
  FactorStrategy axes;
};

FactorStrategy Vote::run() {
  if (takeAgreement())
    return axes;
  if (!keepOneSide())
    takeBestProposals();
  redistributeLostAxes();
  return axes;
}

bool Vote::takeAgreement() {
  FactorStrategy agreed(axes.size());
  for (int32_t factor = 0; factor < numFactors(); ++factor) {
    auto cells = votingCells(factor);
    if (cells.empty())
      continue;
    agreed[factor] = cells.front()->axes;
    for (const FactorSharding *cell : cells)
      if (cell->axes != agreed[factor] || !cell->overflow.empty())
        return false;
  }
  for (int32_t factor = 0; factor < numFactors(); ++factor)
    axes[factor] = possible(factor, agreed[factor], /*agreed=*/true);
  if (axes == agreed && canFollow(agreed))
    return true;
  axes.assign(numFactors(), AxisList());
  return false;
}

bool Vote::canFollow(const FactorStrategy &agreed) const {
  return all_of(seq<int64_t>(0, problem.tensors.size()), [&](int64_t i) {
    if (!problem.tensors[i].free)
      return true;
    TensorProjection row =
        project(shardingUnder(agreed, rule, i), rule.tensor(i), rule.factors);
    return all_of(zip_equal(row.factors, agreed), [](const auto &pair) {
      const auto &[cell, sharded] = pair;
      return !cell.present || (cell.axes == sharded && cell.overflow.empty());
    });
  });
}

/// The two tensors of a unary-like op; nothing if there are more or fewer.
std::optional<std::pair<int64_t, int64_t>>
unaryPair(const VoteProblem &problem) {
  SmallVector<int64_t, 2> ranked;
  for (int64_t i = 0, e = problem.tensors.size(); i < e; ++i)
    if (!problem.tensors[i].free && !problem.rule.tensor(i).dims.empty())
      ranked.push_back(i);
  if (ranked.size() != 2)
    return std::nullopt;
  return std::make_pair(ranked[0], ranked[1]);
}

int64_t shardsOf(const TensorProjection &row) {
  int64_t shards = 1;
  for (const FactorSharding &cell : row.factors)
    shards *= cell.axes.numShards();
  return shards;
}

bool Vote::keepOneSide() {
  auto pair = unaryPair(problem);
  bool simple =
      all_of(rule.factors,
             [](const Factor &factor) {
               return factor.kind != FactorKind::NeedReplication;
             }) &&
      all_of(seq<int64_t>(0, rule.numTensors()), [&](int64_t i) {
        return all_of(rule.tensor(i).dims, [](const DimFactors &factors) {
          return factors.size() == 1;
        });
      });
  if (!pair || !simple)
    return false;
  auto preference = [&](int64_t i) {
    const VoteTensor &tensor = problem.tensors[i];
    bool shardsWindow = any_of(seq<int32_t>(0, numFactors()), [&](int32_t f) {
      return !canBeSharded(rule.factors[f]) &&
             !tensor.row.factors[f].axes.empty();
    });
    return std::make_tuple(!shardsWindow, tensor.bytes, shardsOf(tensor.row));
  };
  auto [kept, other] = *pair;
  if (preference(other) > preference(kept))
    std::swap(kept, other);
  takeRow(problem.tensors[kept].row);
  takeRow(problem.tensors[other].row);
  return true;
}

void Vote::takeRow(const TensorProjection &row) {
  for (int32_t factor = 0; factor < numFactors(); ++factor)
    if (row.factors[factor].present)
      axes[factor] = possible(factor, row.factors[factor].axes);
}

void Vote::takeBestProposals() {
  SmallVector<Proposal> proposals = collectProposals();
  while (true) {
    const Proposal *best = nullptr;
    AxisList bestAxes;
    for (const Proposal &proposal : proposals) {
      AxisList extended = possible(proposal.factor, proposal.axes);
      if (extended == axes[proposal.factor])
        continue;
      if (best &&
          score({proposal.factor, extended}) <= score({best->factor, bestAxes}))
        continue;
      best = &proposal;
      bestAxes = extended;
    }
    if (!best)
      return;
    axes[best->factor] = bestAxes;
  }
}

SmallVector<Proposal> Vote::collectProposals() const {
  SmallVector<Proposal> proposals;
  auto add = [&](int32_t factor, AxisList prefix) {
    if (!prefix.empty() && none_of(proposals, [&](const Proposal &c) {
          return c.factor == factor && c.axes == prefix;
        }))
      proposals.push_back({factor, std::move(prefix)});
  };
  for (int32_t factor = 0; factor < numFactors(); ++factor) {
    auto cells = votingCells(factor);
    for (const FactorSharding *cell : cells) {
      for (size_t n = 1; n <= cell->axes.size(); ++n)
        add(factor, AxisList(cell->axes.refs().take_front(n)));
      for (const FactorSharding *other : cells)
        add(factor, cell->axes.commonPrefix(other->axes));
    }
  }
  return proposals;
}

Score Vote::score(const Proposal &proposal) const {
  int64_t tensors = 0, bytes = 0;
  for (const VoteTensor &tensor : problem.tensors) {
    const FactorSharding &cell = tensor.row.factors[proposal.factor];
    if (tensor.free || !cell.present || !proposal.axes.isPrefixOf(cell.axes))
      continue;
    ++tensors;
    bytes = countSum(bytes, tensor.bytes);
  }
  return {tensors, bytes, kindRank(rule.factors[proposal.factor].kind),
          proposal.axes.numShards() / axes[proposal.factor].numShards(),
          -proposal.factor};
}

AxisList Vote::possible(int32_t factor, const AxisList &wanted,
                        bool agreed) const {
  const AxisList &present = axes[factor];
  if (!isEligible(factor) || !present.isPrefixOf(wanted))
    return present;
  AxisList sharded = wanted.prefixWithoutOverlap(axesOfOthers(factor));
  if (!rule.mayBeUneven(factor) || (rule.factors[factor].retiled && !agreed))
    sharded = sharded.prefixDividing(rule.factors[factor].size);
  return present.isPrefixOf(sharded) ? sharded : present;
}

bool Vote::isEligible(int32_t factor) const {
  if (!canBeSharded(rule.factors[factor]) || isCopyingLookup(factor))
    return false;
  // A sharded factor behind an incomplete one would be a strided view.
  for (int64_t i = 0; i < rule.numTensors(); ++i) {
    int64_t dim = rule.tensor(i).dimOf(factor);
    if (dim < 0)
      continue;
    for (int32_t major : rule.tensor(i).dims[dim]) {
      if (major == factor)
        break;
      if (axes[major].numShards() != rule.factors[major].size)
        return false;
    }
  }
  // A partial result has one kind.
  return !rule.reducesOver(factor) ||
         all_of(seq<int32_t>(0, numFactors()), [&](int32_t other) {
           return axes[other].empty() || !rule.reducesOver(other) ||
                  rule.factors[other].combiner == rule.factors[factor].combiner;
         });
}

/// A lookup at constant positions of about as many rows as the table has:
/// gathering the table moves half of what combining masked lookups does.
bool Vote::isCopyingLookup(int32_t factor) const {
  if (rule.factors[factor].kind != FactorKind::Indexed ||
      !rule.reducesOver(factor))
    return false;
  int64_t table = 0, found = 0;
  for (int64_t i = 0, e = problem.tensors.size(); i < e; ++i) {
    bool isResult = i >= static_cast<int64_t>(rule.operands.size());
    if (isResult)
      found = countSum(found, problem.tensors[i].bytes);
    else if (rule.tensor(i).has(factor))
      table = countSum(table, problem.tensors[i].bytes);
    else if (!problem.tensors[i].free)
      return false;
  }
  return table <= 2 * found;
}

AxisList Vote::axesOfOthers(int32_t factor) const {
  AxisList used;
  for (int32_t other = 0; other < numFactors(); ++other)
    if (other != factor)
      used.append(axes[other]);
  return used.sorted();
}

AxisList Vote::lostAxes() const {
  AxisList lost, used;
  for (const AxisList &list : axes)
    used.append(list);
  used = used.sorted();
  int64_t numOperands = rule.operands.size();
  for (int64_t i = 0, e = problem.tensors.size(); i < e; ++i) {
    if (problem.tensors[i].free || (i >= numOperands && !problem.contraction))
      continue;
    for (int32_t factor = 0; factor < numFactors(); ++factor) {
      if (canBeSharded(rule.factors[factor]) && !problem.contraction)
        continue;
      for (AxisRef axis : cell(i, factor).axes)
        if (!used.excludes(axis) && !lost.excludes(axis))
          lost.append(axis);
    }
  }
  return lost;
}

bool Vote::isBatching(int32_t factor) const {
  return rule.factors[factor].kind == FactorKind::PassThrough &&
         all_of(seq<int64_t>(0, rule.numTensors()), [&](int64_t i) {
           return rule.tensor(i).dims.empty() || rule.tensor(i).has(factor);
         });
}

void Vote::redistributeLostAxes() {
  for (AxisRef axis : lostAxes()) {
    int32_t best = -1;
    int64_t bestLeft = 0;
    for (int32_t factor = 0; factor < numFactors(); ++factor) {
      if (!isBatching(factor))
        continue;
      AxisList wanted = axes[factor];
      wanted.append(axis);
      int64_t size = rule.factors[factor].size;
      int64_t left = size / axes[factor].numShards();
      if (left > bestLeft && size % wanted.numShards() == 0 &&
          possible(factor, wanted) == wanted) {
        best = factor;
        bestLeft = left;
      }
    }
    if (best >= 0)
      axes[best].append(axis);
  }
}

} // namespace

FactorStrategy voteStrategy(const VoteProblem &problem) {
  return Vote(problem).run();
}

} // namespace shardonnay
