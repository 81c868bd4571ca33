//===- Reshape.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Reshape.h"
#include <numeric>

using namespace shardonnay;

namespace {
/// One side of the reshape.
class Side {
public:
  explicit Side(llvm::ArrayRef<int64_t> shape) : shape(shape) { openDim(); }

  bool done() const { return dim == static_cast<int64_t>(shape.size()); }
  bool atUnitDim() const { return !done() && shape[dim] == 1; }
  /// Of the present dim's size, what is not consumed yet; 1 at the end.
  int64_t rest() const { return restOfDim; }
  /// The number of elements behind: the product of what was consumed.
  int64_t behind() const { return product; }

  /// Consumes `size`, a divisor of rest(); returns its dim.
  int64_t take(int64_t size) {
    int64_t from = dim;
    product *= size;
    restOfDim /= size;
    if (restOfDim == 1) {
      ++dim;
      openDim();
    }
    return from;
  }

private:
  void openDim() { restOfDim = done() ? 1 : shape[dim]; }

  llvm::ArrayRef<int64_t> shape;
  int64_t dim = 0;
  int64_t restOfDim = 1;
  int64_t product = 1;
};
} // namespace

/// How much the side that has less behind takes, to meet the other one soon and
/// leave a common divisor for after that.
static int64_t nextOwnFactor(const Side &less, const Side &more) {
  if (more.behind() % less.behind() == 0) {
    int64_t missing = more.behind() / less.behind();
    if (less.rest() % missing == 0)
      return missing;
  }
  int64_t coprime = less.rest() / std::gcd(less.rest(), more.rest());
  return coprime > 1 ? coprime : less.rest();
}

/// Factors that both sides have first in a dim, not both alone.
static void markRetiled(FactorRule &rule) {
  auto dimWith = [](const TensorMapping &tensor, int32_t factor) {
    int64_t dim = tensor.dimOf(factor);
    return dim < 0 ? llvm::ArrayRef<int32_t>() : tensor.dims[dim];
  };
  for (auto [id, factor] : llvm::enumerate(rule.factors)) {
    llvm::ArrayRef<int32_t> in = dimWith(rule.operands[0], id);
    llvm::ArrayRef<int32_t> out = dimWith(rule.results[0], id);
    factor.retiled = !in.empty() && !out.empty() &&
                     in.size() + out.size() > 2 && in.front() == out.front();
  }
}

FactorRule shardonnay::reshapeRule(llvm::ArrayRef<int64_t> from,
                                   llvm::ArrayRef<int64_t> to) {
  FactorRuleBuilder builder({static_cast<int64_t>(from.size())},
                            {static_cast<int64_t>(to.size())});
  Side in(from), out(to);
  auto addIn = [&](int64_t size) {
    builder.add(size, {in.take(size)}, {-1}, FactorKind::NeedReplication);
  };
  auto addOut = [&](int64_t size) {
    builder.add(size, {-1}, {out.take(size)}, FactorKind::NeedReplication);
  };
  while (!in.done() || !out.done()) {
    if (in.atUnitDim()) {
      builder.add(1, {in.take(1)}, {-1});
    } else if (out.atUnitDim()) {
      builder.add(1, {-1}, {out.take(1)});
    } else if (in.behind() < out.behind()) {
      addIn(nextOwnFactor(in, out));
    } else if (out.behind() < in.behind()) {
      addOut(nextOwnFactor(out, in));
    } else if (int64_t common = std::gcd(in.rest(), out.rest()); common > 1) {
      builder.add(common, {in.take(common)}, {out.take(common)});
    } else {
      addIn(in.rest());
      addOut(out.rest());
    }
  }
  FactorRule rule = builder.build();
  markRetiled(rule);
  return rule;
}
