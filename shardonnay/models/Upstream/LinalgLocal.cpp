//===- LinalgLocal.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/LinalgLocal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "shardonnay/models/Upstream/Combiner.h"
#include "shardonnay/models/Upstream/LinalgExchange.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;

namespace shardonnay::upstream {

/// The factor of loop number `loop`; -1 if no dim is indexed by it alone.
static int32_t factorOfLoop(linalg::LinalgOp op, const FactorRule &rule,
                            unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expression] : llvm::enumerate(map.getResults()))
      if (expression == getAffineDimExpr(loop, op.getContext()))
        return rule.operands[operand.getOperandNumber()].dims[dim].front();
  }
  return -1;
}

/// A sum of loops, each times a positive constant, and of constants.
static bool isSum(AffineExpr expression) {
  if (isa<AffineDimExpr>(expression))
    return true;
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Mul)
    return isSum(binary.getLHS()) && isa<AffineConstantExpr>(binary.getRHS()) &&
           isSum(binary.getRHS());
  return binary.getKind() == AffineExprKind::Add && isSum(binary.getLHS()) &&
         isSum(binary.getRHS());
}

void markExchanged(linalg::LinalgOp op, FactorRule &rule) {
  std::optional<ExchangedReduction> kind = matchExchangedReduction(op);
  int32_t factor = kind ? factorOfLoop(op, rule, kind->loop) : -1;
  if (factor >= 0)
    rule.factors[factor].exchanged =
        rule.factors[factor].kind == FactorKind::NeedReplication;
}

bool mayShardLinalg(linalg::LinalgOp op, const FactorRule &rule,
                    int32_t factor) {
  if (rule.factors[factor].exchanged)
    return true;
  if (rule.factors[factor].kind != FactorKind::Windowed)
    return false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (factorOfLoop(op, rule, loop) == factor)
      for (AffineMap map : op.getIndexingMapsArray())
        for (AffineExpr expression : map.getResults())
          if (expression.isFunctionOfDim(loop) && !isSum(expression))
            return false;
  return true;
}

namespace {
/// Builds the local op of one structured op.
class LocalLinalg {
public:
  LocalLinalg(linalg::LinalgOp op, OpBuilder &builder, ValueRange operands,
              LocalContext &context)
      : op(op), builder(builder), context(context), math(builder, op.getLoc()),
        operands(operands), sizes(op.getStaticLoopRanges()) {}

  SmallVector<Value> build();

private:
  const AxisList &axesOf(unsigned loop) const {
    int32_t factor = factorOfLoop(op, context.rule(), loop);
    return factor < 0 ? none : context.factorAxes(factor);
  }
  int64_t localSize(unsigned loop) const {
    return llvm::divideCeil(sizes[loop], axesOf(loop).numShards());
  }
  void startSumsOnce();
  void fetchWindows();
  void shiftIndices(linalg::LinalgOp local);
  bool needsMask(unsigned loop);
  bool changesBody(linalg::LinalgOp local);
  void maskPadding(linalg::LinalgOp local);
  /// The device's offset in `loop`, built before the op at the builder.
  Value offset(unsigned loop);

  linalg::LinalgOp op;
  OpBuilder &builder;
  LocalContext &context;
  LocalArith math;
  SmallVector<Value> operands;
  SmallVector<int64_t> sizes;
  AxisList none;
};
} // namespace

/// Every device adds up its part; one of them begins with what `op` begins
/// with. A maximum may begin so on all.
void LocalLinalg::startSumsOnce() {
  AxisList axes = axesOfPartialSums(context);
  if (axes.empty() || combinerOf(op) != ReductionKind::Sum)
    return;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value &value = operands[init.getOperandNumber()];
    if (!isKnownZero(init.get()))
      value = math.onlyOnFirst(context, axes, value);
  }
}

void LocalLinalg::fetchWindows() {
  for (const FactorWindow &window : context.shardWindows())
    operands[window.tensor] =
        context.fetchWindow(builder, op.getLoc(), operands[window.tensor],
                            window, /*fill=*/Value());
}

Value LocalLinalg::offset(unsigned loop) {
  return math.shardStart(context, axesOf(loop), localSize(loop));
}

void LocalLinalg::shiftIndices(linalg::LinalgOp local) {
  for (auto index :
       llvm::to_vector(local.getBlock()->getOps<linalg::IndexOp>())) {
    if (axesOf(index.getDim()).empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(local);
    Value start = offset(index.getDim());
    builder.setInsertionPointAfter(index);
    auto shifted = arith::AddIOp::create(builder, index.getLoc(), index, start);
    index.getResult().replaceAllUsesExcept(shifted, shifted);
  }
}

/// Positions behind the end of the reduction `loop` would count.
bool LocalLinalg::needsMask(unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction &&
         sizes[loop] % axesOf(loop).numShards() != 0 &&
         !ignoresNeutralElements(op, loop);
}

/// The body is to count positions from the device's, or to mask some.
bool LocalLinalg::changesBody(linalg::LinalgOp local) {
  auto isShifted = [&](linalg::IndexOp index) {
    return !axesOf(index.getDim()).empty();
  };
  return llvm::any_of(local.getBlock()->getOps<linalg::IndexOp>(), isShifted) ||
         llvm::any_of(llvm::seq<unsigned>(0, sizes.size()),
                      [&](unsigned loop) { return needsMask(loop); });
}

/// Positions behind the end of a reduction take no part in it.
void LocalLinalg::maskPadding(linalg::LinalgOp local) {
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!needsMask(loop))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(local);
    Value start = offset(loop);
    Operation *end = local.getBlock()->getTerminator();
    builder.setInsertionPoint(end);
    Value position = arith::AddIOp::create(
        builder, op.getLoc(),
        linalg::IndexOp::create(builder, op.getLoc(), loop), start);
    Value size =
        arith::ConstantIndexOp::create(builder, op.getLoc(), sizes[loop]);
    Value counts = arith::CmpIOp::create(
        builder, op.getLoc(), arith::CmpIPredicate::ult, position, size);
    for (auto [operand, soFar] :
         llvm::zip_equal(end->getOpOperands(), local.getRegionOutputArgs()))
      operand.set(arith::SelectOp::create(builder, op.getLoc(), counts,
                                          operand.get(), soFar));
  }
}

/// A named op as a generic one, whose body may be changed.
static linalg::LinalgOp makeGeneric(OpBuilder &builder,
                                    linalg::LinalgOp named) {
  auto generic = linalg::GenericOp::create(
      builder, named.getLoc(), named->getResultTypes(), named.getDpsInputs(),
      named.getDpsInits(), named.getIndexingMapsArray(),
      named.getIteratorTypesArray());
  generic.getRegion().takeBody(named->getRegion(0));
  named->erase();
  return cast<linalg::LinalgOp>(generic.getOperation());
}

SmallVector<Value> LocalLinalg::build() {
  startSumsOnce();
  fetchWindows();
  SmallVector<Value> results = cloneLocally(op, builder, operands, context);
  auto local = results.front().getDefiningOp<linalg::LinalgOp>();
  if (changesBody(local) && !isa<linalg::GenericOp>(local.getOperation())) {
    local = makeGeneric(builder, local);
    results.assign(local->result_begin(), local->result_end());
  }
  shiftIndices(local);
  maskPadding(local);
  return results;
}

LocalResults linalgLocally(linalg::LinalgOp op, OpBuilder &builder,
                           ValueRange operands, LocalContext &context) {
  std::optional<ExchangedReduction> kind = matchExchangedReduction(op);
  int32_t factor = kind ? factorOfLoop(op, context.rule(), kind->loop) : -1;
  if (factor < 0 || !context.rule().factors[factor].exchanged ||
      context.factorAxes(factor).empty())
    return LocalLinalg(op, builder, operands, context).build();
  size_t numInputs = op.getNumDpsInputs();
  auto part = [&](ValueRange inits) {
    SmallVector<Value> values(operands.take_front(numInputs));
    llvm::append_range(values, inits);
    return LocalLinalg(op, builder, values, context).build();
  };
  return reduceByExchange(op, *kind, builder, operands.drop_front(numInputs),
                          context, context.factorAxes(factor), part);
}

} // namespace shardonnay::upstream
