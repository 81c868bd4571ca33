//===- Linalg.cpp - ops that say their loops ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One set of hooks for every structured op, named or generic, and one for
// softmax, which is none.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Combiner.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/KnownZero.h"
#include "shardonnay/models/Upstream/LinalgLocal.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

/// Reads tensors of the function in its body, so every device needs all of it.
static bool readsTensorsInBody(linalg::LinalgOp op) {
  WalkResult walked = op->walk([&](Operation *inner) {
    bool reads = inner != op && llvm::any_of(inner->getOperandTypes(),
                                             llvm::IsaPred<TensorType>);
    return reads ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

/// Each element is made by linear ops of the operands' elements; of those that
/// are partial, all results are.
static bool isLinearBody(linalg::LinalgOp op, ReductionKind kind,
                         const llvm::SmallBitVector &partial) {
  llvm::SmallPtrSet<Value, 8> parts;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(&operand);
    if (op.isDpsInit(&operand) && !element.use_empty())
      return false;
    if (partial[operand.getOperandNumber()])
      parts.insert(element);
  }
  auto isPart = [&](Value value) { return parts.contains(value); };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    llvm::SmallBitVector mask(inner.getNumOperands());
    for (auto [i, operand] : llvm::enumerate(inner.getOperands()))
      mask[i] = isPart(operand);
    if (mask.none())
      continue;
    auto rule = dyn_cast<ShardingRuleOpInterface>(inner);
    if (!rule || !rule.isLinear(kind, mask))
      return false;
    parts.insert_range(inner.getResults());
  }
  return llvm::all_of(op.getBlock()->getTerminator()->getOperands(), isPart);
}

namespace {
struct LinalgHooks : NestHooks<LinalgHooks> {
  static LoopNest nest(Operation *op) {
    auto structured = cast<linalg::LinalgOp>(op);
    LoopNest nest;
    if (!structured.hasPureTensorSemantics() || readsTensorsInBody(structured))
      return nest;
    std::optional<ReductionKind> combiner = combinerOf(structured);
    for (utils::IteratorType type : structured.getIteratorTypesArray())
      nest.loops.push_back({type, combiner});
    nest.maps = structured.getIndexingMapsArray();
    nest.inits.resize(op->getNumOperands());
    for (OpOperand &init : structured.getDpsInitsMutable()) {
      nest.inits.set(init.getOperandNumber());
      // The results are where the inits are.
      nest.maps.push_back(structured.getMatchingIndexingMap(&init));
    }
    return nest;
  }
  static std::optional<FactorRule> rule(Operation *op) {
    std::optional<FactorRule> rule = NestHooks::rule(op);
    if (rule)
      markExchanged(cast<linalg::LinalgOp>(op), *rule);
    return rule;
  }
  static bool isContraction(Operation *op) {
    // A generic op is one by its maps and its body.
    return isa<linalg::ContractionOpInterface, linalg::ConvolutionOpInterface>(
               op) ||
           linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(op));
  }
  /// A linear function of elements; a contraction of one partial factor, whose
  /// start is zero or partial too.
  static bool isLinear(Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    auto structured = cast<linalg::LinalgOp>(op);
    if (structured.getNumParallelLoops() == structured.getNumLoops())
      return isLinearBody(structured, kind, partial);
    auto contraction = dyn_cast<linalg::ContractionOpInterface>(op);
    if (!contraction || kind != ReductionKind::Sum || partial.size() != 3 ||
        combinerOf(structured) != ReductionKind::Sum)
      return false;
    return partial[0] != partial[1] &&
           (partial[2] || isKnownZero(op->getOperand(2)));
  }
  static bool mayShard(Operation *op, const FactorRule &rule, int32_t factor) {
    return mayShardLinalg(cast<linalg::LinalgOp>(op), rule, factor);
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    return linalgLocally(cast<linalg::LinalgOp>(op), builder, operands,
                         context);
  }
};

/// All dims but the one that is normalised are independent.
struct SoftmaxHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    auto softmax = cast<linalg::SoftmaxOp>(op);
    auto type = dyn_cast<RankedTensorType>(softmax.getInput().getType());
    if (!type || !type.hasStaticShape() || op->getNumResults() != 1)
      return std::nullopt;
    int64_t rank = type.getRank();
    FactorRuleBuilder builder({rank, rank}, {rank});
    for (int64_t dim = 0; dim < rank; ++dim)
      builder.add(type.getDimSize(dim), {dim, dim}, {dim},
                  dim == static_cast<int64_t>(softmax.getDimension())
                      ? FactorKind::NeedReplication
                      : FactorKind::PassThrough);
    return builder.build();
  }
};
} // namespace

void shardonnay::upstream::attachLinalgModels(MLIRContext &context) {
  attachIf<LinalgHooks>(context, linalg::LinalgDialect::getDialectNamespace(),
                        [](RegisteredOperationName op) {
                          return op.hasInterface<linalg::LinalgOp>();
                        });
  attach<SoftmaxHooks, linalg::SoftmaxOp>(context);
  attachConstantExpression<linalg::FillOp>(context);
}
