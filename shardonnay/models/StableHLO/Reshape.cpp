//===- Reshape.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Reshape.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace shardonnay;

namespace {
/// One side of the reshape.
class Side {
public:
  explicit Side(llvm::ArrayRef<int64_t> shape) : shape(shape) { openDim(); }

  bool done() const { return dim == static_cast<int64_t>(shape.size()); }
  bool atUnitDim() const { return !done() && shape[dim] == 1; }
  /// What of the present dim's size is not consumed yet; 1 at the end.
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

/// Factors that both sides have first in a dim, not both alone. Of a dim that
/// has others behind it a device takes, and makes, whole rows.
static void markRetiled(FactorRule &rule, llvm::ArrayRef<int64_t> from,
                        llvm::ArrayRef<int64_t> to) {
  auto addRows = [&](int32_t factor, int32_t tensor,
                     llvm::ArrayRef<int64_t> shape) {
    FactorWindow window;
    window.kind = tensor == 0 ? WindowKind::Seen : WindowKind::Retiled;
    window.tensor = tensor;
    window.factor = factor;
    window.size = shape[rule.tensor(tensor).dimOf(factor)];
    window.count = rule.factors[factor].size;
    window.stride = window.extent = window.size / window.count;
    if (window.stride > 1)
      rule.windows.push_back(window);
  };
  auto dimWith = [](const TensorMapping &tensor, int32_t factor) {
    int64_t dim = tensor.dimOf(factor);
    return dim < 0 ? llvm::ArrayRef<int32_t>() : tensor.dims[dim];
  };
  for (auto [id, factor] : llvm::enumerate(rule.factors)) {
    llvm::ArrayRef<int32_t> in = dimWith(rule.operands[0], id);
    llvm::ArrayRef<int32_t> out = dimWith(rule.results[0], id);
    factor.retiled = !in.empty() && !out.empty() &&
                     in.size() + out.size() > 2 && in.front() == out.front();
    if (!factor.retiled)
      continue;
    addRows(id, /*tensor=*/0, from);
    addRows(id, /*tensor=*/1, to);
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
  markRetiled(rule, from, to);
  return rule;
}

mlir::Value shardonnay::reshapeInRows(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value operand,
    LocalContext &context,
    llvm::function_ref<mlir::Value(mlir::RankedTensorType, mlir::Value)>
        reshape) {
  auto type = mlir::cast<mlir::RankedTensorType>(context.resultTypes()[0]);
  llvm::SmallVector<int64_t> shape(type.getShape());
  llvm::SmallVector<FactorWindow> after;
  for (const FactorWindow &window : context.shardWindows()) {
    if (window.kind == WindowKind::Retiled) {
      int64_t shards = context.factorAxes(window.factor).numShards();
      shape[context.rule().results[0].dimOf(window.factor)] =
          llvm::divideCeil(window.count, shards) * window.stride;
      after.push_back(window);
    } else {
      operand = context.fetchWindow(builder, loc, operand, window,
                                    /*fill=*/mlir::Value());
    }
  }
  mlir::Value result = reshape(type.clone(shape), operand);
  for (const FactorWindow &window : after)
    result = context.fetchWindow(builder, loc, result, window,
                                 /*fill=*/mlir::Value());
  return result;
}
