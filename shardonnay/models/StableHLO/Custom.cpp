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
#include "shardonnay/models/StableHLO/StartedCollective.h"
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
              "X64SplitHigh", "X64SplitLow", "all-gather-done",
              "all-reduce-done", "all-to-all-done", "collective-permute-done",
              "mhlo.erf", "reduce-scatter-done",
              "xla.megascale.provide_metadata"},
             CallKind::Pointwise)
      .Cases({"Cholesky", "CompactWyHelper", "Eigh", "LuDecomposition",
              "ProductOfElementaryHouseholderReflectors", "Qr",
              "QrDecompositionBlock"},
             CallKind::Matrices)
      .Cases({"ApproxTopK", "PartialReduce", "mhlo.topk"}, CallKind::Selection)
      .Default(CallKind::Unknown);
}

static bool isMove(StringRef target) {
  return target == "MoveToHost" || target == "MoveToDevice";
}

/// The memory that a call moves its operand to: JAX's names for a host's are
/// pinned_host and unpinned_host.
static std::optional<Memory> getMemory(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (op.getNumOperands() != 1 || op.getNumResults() != 1)
    return std::nullopt;
  if (isMove(target))
    return target == "MoveToHost" ? Memory::Host : Memory::Device;
  auto attributes =
      op->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  if (target != "annotate_device_placement" || !attributes)
    return std::nullopt;
  auto memory = attributes.getAs<StringAttr>("_xla_buffer_placement");
  if (!memory)
    return std::nullopt;
  return memory.getValue().ends_with("_host") ? Memory::Host : Memory::Device;
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

/// The dim along which the best few are found: what JAX writes, else the one
/// that shrinks, else, of a call that always takes it, the last one.
static std::optional<int64_t>
selectionDim(CustomCallOp op, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  int64_t rank = from.size();
  if (auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config"))
    if (auto dim = config.getAs<IntegerAttr>("reduction_dim"))
      if (dim.getInt() >= 0 && dim.getInt() < rank)
        return dim.getInt();
  if (op.getCallTargetName() == "mhlo.topk")
    return rank - 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (from[dim] != to[dim])
      return dim;
  return std::nullopt;
}

/// The best few along one dim, the others a batch; scalars are what a
/// selection starts from. That dim of the operands and that of the results are
/// two factors. Propagation carries the axes of the first among the operands;
/// as no result has it, it is whole where the call is computed.
static std::optional<FactorRule> selectionRule(CustomCallOp op) {
  SmallVector<ArrayRef<int64_t>> operands = shapesOf(op.getOperands());
  SmallVector<ArrayRef<int64_t>> results = shapesOf(op.getResults());
  if (operands.empty() || operands.front().empty() ||
      results.front().size() != operands.front().size())
    return std::nullopt;
  ArrayRef<int64_t> from = operands.front(), to = results.front();
  std::optional<int64_t> along = selectionDim(op, from, to);
  auto isBatched = [&](ArrayRef<int64_t> shape) {
    if (shape.size() != from.size())
      return false;
    for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(from, shape)))
      if (static_cast<int64_t>(dim) != *along &&
          std::get<0>(sizes) != std::get<1>(sizes))
        return false;
    return true;
  };
  auto isOperand = [&](ArrayRef<int64_t> shape) {
    return shape.empty() || shape == from;
  };
  if (!along || !llvm::all_of(results, isBatched) ||
      !llvm::all_of(operands, isOperand))
    return std::nullopt;
  constexpr auto kWhole = FactorKind::NeedReplication;
  FactorRuleBuilder builder(ranksOf(operands), ranksOf(results));
  SmallVector<int64_t> nowhere(results.size(), -1);
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim) {
    auto dims = llvm::map_to_vector(operands, [&](ArrayRef<int64_t> operand) {
      return operand.empty() ? -1 : dim;
    });
    SmallVector<int64_t> resultDims(results.size(), dim);
    if (dim != *along) {
      builder.add(from[dim], dims, resultDims);
    } else if (op.getCallTargetName() == "mhlo.topk") {
      builder.add(from[dim], dims, resultDims, kWhole, ReductionKind::Sum,
                  /*blocked=*/true);
    } else {
      builder.add(from[dim], dims, nowhere);
      builder.add(to[dim], SmallVector<int64_t>(operands.size(), -1),
                  resultDims, kWhole, ReductionKind::Sum, /*blocked=*/true);
    }
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
    return startedRule(op);
  }
  llvm_unreachable("all kinds are handled");
}

namespace {
/// Moves between a host and its device pass shardings on as early as
/// element-wise ops do.
struct CustomCallModel
    : ShardingRuleOpInterface::ExternalModel<CustomCallModel, CustomCallOp> {
  std::optional<FactorRule> getFactorRule(Operation *op) const {
    if (!hasStaticShapes(op))
      return std::nullopt;
    return customCallRule(cast<CustomCallOp>(op));
  }
  PropagationClass getPropagationClass(Operation *op) const {
    return isMove(cast<CustomCallOp>(op).getCallTargetName())
               ? PropagationClass::PassThrough
               : PropagationClass::Compute;
  }
  int64_t getTransformFlops(Operation *op) const {
    return shardonnay::getTransformFlops(op);
  }
};

struct CustomCallLocalModel
    : LocalComputeOpInterface::ExternalModel<CustomCallLocalModel,
                                             CustomCallOp> {
  std::optional<Memory> movesTo(Operation *op) const {
    return getMemory(cast<CustomCallOp>(op));
  }
};
} // namespace

void shardonnay::attachCustomModels(MLIRContext &context) {
  CustomCallOp::attachInterface<CustomCallModel, CustomCallLocalModel>(context);
  MapOp::attachInterface<PointwiseModel<MapOp>>(context);
  attachClone<MapOp>(context);
}
