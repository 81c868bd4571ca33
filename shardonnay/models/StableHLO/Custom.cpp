//===- Custom.cpp - calls by name, and maps -------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/Pointwise.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

namespace {
enum class CallKind { Unknown, Pointwise, Matrices, Selection };
} // namespace

/// What the targets that compilers agree on compute.
static CallKind getKind(StringRef target) {
  return llvm::StringSwitch<CallKind>(target)
      .Cases({"annotate_device_placement", "InspectSharding",
              "LayoutConstraint", "MoveToDevice", "MoveToHost", "X64Combine",
              "X64SplitHigh", "X64SplitLow", "mhlo.erf"},
             CallKind::Pointwise)
      .Cases({"Cholesky", "Eigh", "LuDecomposition",
              "ProductOfElementaryHouseholderReflectors", "Qr"},
             CallKind::Matrices)
      .Cases({"ApproxTopK", "PartialReduce", "mhlo.topk"}, CallKind::Selection)
      .Default(CallKind::Unknown);
}

static SmallVector<ArrayRef<int64_t>> shapesOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value v) { return shapeOf(v); });
}

static SmallVector<int64_t> ranksOf(ArrayRef<ArrayRef<int64_t>> shapes) {
  return llvm::map_to_vector(shapes, [](ArrayRef<int64_t> shape) {
    return static_cast<int64_t>(shape.size());
  });
}

/// One factor a dim, in all tensors but scalars.
static std::optional<FactorRule> pointwiseCallRule(CustomCallOp op) {
  SmallVector<ArrayRef<int64_t>> operands = shapesOf(op.getOperands());
  SmallVector<ArrayRef<int64_t>> results = shapesOf(op.getResults());
  ArrayRef<int64_t> shape = results.front();
  auto fits = [&](ArrayRef<int64_t> other) {
    return other.empty() || other == shape;
  };
  if (!llvm::all_of(operands, fits) || !llvm::all_equal(results))
    return std::nullopt;
  FactorRuleBuilder builder(ranksOf(operands), ranksOf(results));
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    auto dims = llvm::map_to_vector(operands, [&](ArrayRef<int64_t> operand) {
      return operand.empty() ? -1 : dim;
    });
    builder.add(shape[dim], dims, SmallVector<int64_t>(results.size(), dim));
  }
  return builder.build();
}

/// The dims before the last two of the first operand are a batch; all tensors
/// have them. A result like the first operand has its dims, each other tensor
/// its own.
static std::optional<FactorRule> matricesRule(CustomCallOp op) {
  SmallVector<ArrayRef<int64_t>> operands = shapesOf(op.getOperands());
  SmallVector<ArrayRef<int64_t>> results = shapesOf(op.getResults());
  if (operands.empty() || operands.front().size() < 2)
    return std::nullopt;
  ArrayRef<int64_t> first = operands.front(), batch = first.drop_back(2);
  auto isBatched = [&](ArrayRef<int64_t> shape) {
    return shape.size() >= batch.size() &&
           shape.take_front(batch.size()) == batch;
  };
  if (!llvm::all_of(operands, isBatched) || !llvm::all_of(results, isBatched))
    return std::nullopt;

  constexpr auto kWhole = FactorKind::NeedReplication;
  size_t numOperands = operands.size(), numResults = results.size();
  int64_t numBatch = batch.size();
  FactorRuleBuilder builder(ranksOf(operands), ranksOf(results));
  for (int64_t dim = 0; dim < numBatch; ++dim)
    builder.add(batch[dim], SmallVector<int64_t>(numOperands, dim),
                SmallVector<int64_t>(numResults, dim));
  bool isShared = results.front() == first;
  for (auto [i, shape] :
       llvm::enumerate(llvm::concat<ArrayRef<int64_t>>(operands, results)))
    for (int64_t dim = numBatch; dim < static_cast<int64_t>(shape.size());
         ++dim) {
      SmallVector<int64_t> operandDims(numOperands, -1);
      SmallVector<int64_t> resultDims(numResults, -1);
      if (i == numOperands && isShared)
        continue;
      (i < numOperands ? operandDims[i] : resultDims[i - numOperands]) = dim;
      if (i == 0 && isShared)
        resultDims[0] = dim;
      builder.add(shape[dim], operandDims, resultDims, kWhole);
    }
  return builder.build();
}

/// The best few along the dim that shrinks, the last one if none does; scalars
/// are what a selection starts from.
static std::optional<FactorRule> selectionRule(CustomCallOp op) {
  SmallVector<ArrayRef<int64_t>> operands = shapesOf(op.getOperands());
  SmallVector<ArrayRef<int64_t>> results = shapesOf(op.getResults());
  if (operands.empty() || operands.front().empty())
    return std::nullopt;
  ArrayRef<int64_t> from = operands.front(), to = results.front();
  int64_t rank = from.size();
  auto hasRank = [&](ArrayRef<int64_t> shape) {
    return static_cast<int64_t>(shape.size()) == rank;
  };
  if (!llvm::all_of(results, hasRank) ||
      !llvm::all_of(operands, [&](ArrayRef<int64_t> shape) {
        return shape.empty() || hasRank(shape);
      }))
    return std::nullopt;
  FactorRuleBuilder builder(ranksOf(operands), ranksOf(results));
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto dims = llvm::map_to_vector(operands, [&](ArrayRef<int64_t> operand) {
      return operand.empty() ? -1 : dim;
    });
    SmallVector<int64_t> resultDims(results.size(), dim);
    if (from == to ? dim != rank - 1 : from[dim] == to[dim]) {
      builder.add(from[dim], dims, resultDims);
      continue;
    }
    auto addWhole = [&](int64_t size, ArrayRef<int64_t> operands,
                        ArrayRef<int64_t> results) {
      builder.add(size, operands, results, FactorKind::NeedReplication,
                  ReductionKind::Sum, /*blocked=*/true);
    };
    if (op.getCallTargetName() == "mhlo.topk") {
      addWhole(from[dim], dims, resultDims);
      continue;
    }
    addWhole(from[dim], dims, SmallVector<int64_t>(results.size(), -1));
    addWhole(to[dim], SmallVector<int64_t>(operands.size(), -1), resultDims);
  }
  return builder.build();
}

/// None for other targets: they are computed whole, unless the user gives a
/// rule.
static std::optional<FactorRule> customCallRule(CustomCallOp op) {
  if (op.getNumResults() == 0)
    return std::nullopt;
  switch (getKind(op.getCallTargetName())) {
  case CallKind::Pointwise:
    return pointwiseCallRule(op);
  case CallKind::Matrices:
    return matricesRule(op);
  case CallKind::Selection:
    return selectionRule(op);
  case CallKind::Unknown:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are handled");
}

void shardonnay::attachCustomModels(MLIRContext &context) {
  attachRule<CustomCallOp, customCallRule>(context);
  attachClone<CustomCallOp>(context);
  MapOp::attachInterface<PointwiseModel<MapOp>>(context);
  attachClone<MapOp>(context);
}
