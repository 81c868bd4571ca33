//===- LinalgExchange.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/LinalgExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;

namespace shardonnay::upstream {

/// What no position is.
static constexpr int64_t kNowhere = -1;

/// `value`, of the op's body, is made of elements of inputs, of positions and
/// of constants alone.
static bool isMadeOfInputs(linalg::LinalgOp op, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != op.getBlock() ||
           !llvm::is_contained(op.getRegionOutputArgs(), argument);
  Operation *made = value.getDefiningOp();
  return made->getBlock() != op.getBlock() ||
         llvm::all_of(made->getOperands(), [&](Value operand) {
           return isMadeOfInputs(op, operand);
         });
}

/// A sum of products of positions and of constants that are not negative.
static bool isPosition(Value value) {
  Operation *made = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (isa_and_present<linalg::IndexOp>(made))
    return true;
  return isa_and_present<arith::IndexCastOp, arith::AddIOp, arith::MulIOp>(
             made) &&
         llvm::all_of(made->getOperands(), isPosition);
}

/// The op that combines an element of inputs with what result `number` has so
/// far, and makes the result of both alone.
static Operation *matchCombiner(linalg::LinalgOp op, unsigned number) {
  Operation *made =
      op.getBlock()->getTerminator()->getOperand(number).getDefiningOp();
  Value soFar = op.getRegionOutputArgs()[number];
  if (!made || made->getBlock() != op.getBlock() ||
      made->getNumOperands() != 2 || made->getNumResults() != 1 ||
      made->getNumRegions() != 0)
    return nullptr;
  for (unsigned i : {0, 1})
    if (made->getOperand(i) == soFar &&
        isMadeOfInputs(op, made->getOperand(1 - i)))
      return made;
  return nullptr;
}

/// Combined with what was combined before, it changes nothing.
static bool isIdempotent(Operation *combiner) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
             arith::MinUIOp>(combiner);
}

/// Result `number` is a position of some elements, and looks at itself only to
/// stay what it is. In few bits a position may wrap to `kNowhere`.
static bool isPositionOfSome(linalg::LinalgOp op, unsigned number) {
  auto select = op.getBlock()
                    ->getTerminator()
                    ->getOperand(number)
                    .getDefiningOp<arith::SelectOp>();
  BlockArgument soFar = op.getRegionOutputArgs()[number];
  Type type = soFar.getType();
  bool isWide = type.isIndex() ||
                (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() >= 32);
  return select && isWide && soFar.hasOneUse() &&
         select.getFalseValue() == soFar && isPosition(select.getTrueValue());
}

std::optional<ExchangedReduction> matchExchangedReduction(linalg::LinalgOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
  if (reduced.size() != 1 || !llvm::all_of(op.getIndexingMapsArray(), isPlain))
    return std::nullopt;
  ExchangedReduction kind{
      .loop = reduced.front(), .combiner = nullptr, .position = std::nullopt};
  if (op.getNumDpsInits() == 1) {
    kind.combiner = matchCombiner(op, 0);
    if (kind.combiner && op.getRegionOutputArgs()[0].hasOneUse() &&
        (isIdempotent(kind.combiner) ||
         arith::getNeutralElement(kind.combiner)))
      return kind;
    return std::nullopt;
  }
  for (unsigned value : {0, 1}) {
    kind.value = value;
    kind.combiner =
        op.getNumDpsInits() == 2 ? matchCombiner(op, value) : nullptr;
    kind.position = 1 - value;
    if (kind.combiner && isIdempotent(kind.combiner) &&
        isPositionOfSome(op, *kind.position))
      return kind;
  }
  return std::nullopt;
}

namespace {
/// Builds what devices exchange.
class Exchange {
public:
  Exchange(OpBuilder &builder, Location loc, LocalContext &context,
           const AxisList &axes)
      : builder(builder), loc(loc), context(context), axes(axes) {}

  /// What each device has of `tensor`, a row each.
  Value gatherRows(Value tensor);
  /// Begins with `init` and goes on row by row: what `combine` makes of an
  /// element, what there is so far, and the number of the row.
  Value reduceRows(
      Value rows, Value init,
      llvm::function_ref<Value(OpBuilder &, Value, Value, Value)> combine);
  /// `value` everywhere.
  Value splat(Type type, TypedAttr value);

private:
  OpBuilder &builder;
  Location loc;
  LocalContext &context;
  const AxisList &axes;
};
} // namespace

Value Exchange::gatherRows(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims.push_back({dim + 1});
  if (!dims.empty())
    dims.front().insert(dims.front().begin(), 0);
  Value row = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                            tensor, dims);
  return context.allGather(builder, loc, row, axes);
}

Value Exchange::reduceRows(
    Value rows, Value init,
    llvm::function_ref<Value(OpBuilder &, Value, Value, Value)> combine) {
  int64_t rank = cast<RankedTensorType>(rows.getType()).getRank();
  AffineMap whole = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.front() = utils::IteratorType::reduction;
  auto body = [&](OpBuilder &inside, Location loc, ValueRange elements) {
    Value number = linalg::IndexOp::create(inside, loc, 0);
    linalg::YieldOp::create(inside, loc,
                            combine(inside, elements[0], elements[1], number));
  };
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange(rows),
             ValueRange(init), ArrayRef<AffineMap>{whole, whole.dropResult(0)},
             loops, body)
      .getResult(0);
}

Value Exchange::splat(Type type, TypedAttr value) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<ShapedType>(type), Attribute(value)));
}

/// The combiner's op on other values.
static Value combineAgain(OpBuilder &builder, Operation *combiner,
                          Value element, Value soFar) {
  Operation *again = builder.clone(*combiner);
  again->setOperands({element, soFar});
  return again->getResult(0);
}

SmallVector<Value>
reduceByExchange(linalg::LinalgOp op, const ExchangedReduction &kind,
                 OpBuilder &builder, ValueRange inits, LocalContext &context,
                 const AxisList &axes,
                 llvm::function_ref<SmallVector<Value>(ValueRange)> part) {
  Location loc = op.getLoc();
  Exchange exchange(builder, loc, context, axes);
  auto combine = [&](OpBuilder &inside, Value element, Value soFar, Value) {
    return combineAgain(inside, kind.combiner, element, soFar);
  };
  SmallVector<Value> starts(inits);
  if (!isIdempotent(kind.combiner))
    starts[0] = exchange.splat(inits[0].getType(),
                               *arith::getNeutralElement(kind.combiner));
  Value extrema = exchange.gatherRows(part(starts)[kind.value]);
  SmallVector<Value> results(inits);
  results[kind.value] =
      exchange.reduceRows(extrema, inits[kind.value], combine);
  if (!kind.position)
    return results;

  Value device = LocalArith(builder, loc).deviceIndex(context, axes);
  auto combineBefore = [&](OpBuilder &inside, Value element, Value soFar,
                           Value number) -> Value {
    Value isBefore = arith::CmpIOp::create(
        inside, loc, arith::CmpIPredicate::ult, number, device);
    return arith::SelectOp::create(
        inside, loc, isBefore, combine(inside, element, soFar, number), soFar);
  };
  starts[kind.value] =
      exchange.reduceRows(extrema, inits[kind.value], combineBefore);
  Type type = inits[*kind.position].getType();
  auto nowhere = builder.getIntegerAttr(getElementTypeOrSelf(type), kNowhere);
  starts[*kind.position] = exchange.splat(type, nowhere);
  auto takeIfThere = [&](OpBuilder &inside, Value element, Value soFar,
                         Value) -> Value {
    Value none = arith::ConstantOp::create(inside, loc, nowhere);
    Value isThere = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ne,
                                          element, none);
    return arith::SelectOp::create(inside, loc, isThere, element, soFar);
  };
  Value places = exchange.gatherRows(part(starts)[*kind.position]);
  results[*kind.position] =
      exchange.reduceRows(places, inits[*kind.position], takeIfThere);
  return results;
}

} // namespace shardonnay::upstream
