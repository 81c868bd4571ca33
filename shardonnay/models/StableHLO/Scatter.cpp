//===- Scatter.cpp - updates at indices that are data ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An input dim that the window does not have may be sharded: each device
// subtracts the start of its part from the indices, and updates of other parts
// fall out of bounds, where the op ignores them. So may one of which the window
// has a part: the device's part is padded by a window's size, and windows that
// are out of the whole dim's bounds get an index that is out of the part's. In
// a dim that is not indexed all windows begin at 0. The updates themselves may
// be sharded if they combine in any order: the results are then partial, and
// the input must count once.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/IndexVector.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

/// Updates that replace what is there are a reduction all the same if all of
/// them are one known value: in any order, any number of times.
static std::optional<ReductionKind> kindOfUpdates(ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  if (op.getInputs().size() != 1 ||
      body.back().getOperands() != ValueRange(body.getArguments().drop_front()))
    return std::nullopt;
  return kindOfWriting(op.getInputs()[0], op.getUpdates()[0]);
}

/// What combines updates that are exchanged; null if they can't be.
static Operation *exchangedCombiner(ScatterOp op) {
  Operation *combiner = op.getInputs().size() == 1
                            ? combiningOp(op.getUpdateComputation())
                            : nullptr;
  return combiner && !combinerOf(op.getUpdateComputation()) &&
                 isa<MulOp, AndOp, OrOp, XorOp>(combiner)
             ? combiner
             : nullptr;
}

/// Scattered dims, which indices and updates have and the results have not.
static bool isScattered(const FactorRule &rule, int32_t factor) {
  return rule.operands[1].has(factor) && rule.operands[2].has(factor) &&
         !rule.inResults(factor);
}

namespace {
/// Builds the rule: the updates' dims in their order, then the inserted dims,
/// then the dim of the index vectors. All inputs have one shape, and so have
/// all updates.
class ScatterRule {
public:
  ScatterRule(ScatterOp op, bool isPicking)
      : op(op), isPicking(isPicking), numbers(op.getScatterDimensionNumbers()),
        input(shapeOf(op.getInputs().front())),
        indices(shapeOf(op.getScatterIndices())),
        updates(shapeOf(op.getUpdates().front())),
        builder(operandRanks(), SmallVector<int64_t>(count(), input.size())) {}

  FactorRule build();

private:
  size_t count() { return op.getInputs().size(); }
  SmallVector<int64_t> perOperand(int64_t ofInput, int64_t ofIndices,
                                  int64_t ofUpdate) {
    SmallVector<int64_t> values(count(), ofInput);
    values.push_back(ofIndices);
    values.append(count(), ofUpdate);
    return values;
  }
  SmallVector<int64_t> operandRanks() {
    return perOperand(input.size(), indices.size(), updates.size());
  }
  /// A factor at these dims (-1: none); the results are like the inputs.
  void add(int64_t size, int64_t inputDim, int64_t indicesDim,
           int64_t updateDim, FactorKind kind = FactorKind::PassThrough,
           ReductionKind combiner = ReductionKind::Sum) {
    builder.add(size, perOperand(inputDim, indicesDim, updateDim),
                SmallVector<int64_t>(count(), inputDim), kind, combiner);
  }
  void addWindowDim(int64_t inputDim, int64_t updateDim);
  void addBatchDim(int64_t indicesDim, int64_t updateDim);

  ScatterOp op;
  /// Input dims of which windows have a part may be sharded, and updates that
  /// are a reduction by what they are.
  bool isPicking;
  ScatterDimensionNumbersAttr numbers;
  ArrayRef<int64_t> input, indices, updates;
  FactorRuleBuilder builder;
};
} // namespace

void ScatterRule::addWindowDim(int64_t inputDim, int64_t updateDim) {
  if (input[inputDim] == updates[updateDim])
    return add(input[inputDim], inputDim, -1, updateDim);
  add(input[inputDim], inputDim, -1, -1,
      isPicking ? FactorKind::Indexed : FactorKind::NeedReplication);
  add(updates[updateDim], -1, -1, updateDim, FactorKind::NeedReplication);
}

void ScatterRule::addBatchDim(int64_t indicesDim, int64_t updateDim) {
  int64_t size = updates[updateDim];
  int64_t place =
      positionIn(numbers.getScatterIndicesBatchingDims(), indicesDim);
  if (place >= 0)
    return add(size, numbers.getInputBatchingDims()[place], indicesDim,
               updateDim);
  std::optional<ReductionKind> combiner;
  if (count() == 1)
    combiner = combinerOf(op.getUpdateComputation());
  if (isPicking && !combiner)
    combiner = kindOfUpdates(op);
  add(size, -1, indicesDim, updateDim,
      combiner ? FactorKind::Reduction : FactorKind::NeedReplication,
      combiner.value_or(ReductionKind::Sum));
}

FactorRule ScatterRule::build() {
  int64_t vectorDim = numbers.getIndexVectorDim();
  int64_t inputDim = 0, indicesDim = 0;
  auto inWindow = [&](int64_t dim) {
    return !llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
           !llvm::is_contained(numbers.getInputBatchingDims(), dim);
  };
  for (int64_t dim = 0; dim < static_cast<int64_t>(updates.size()); ++dim) {
    if (llvm::is_contained(numbers.getUpdateWindowDims(), dim)) {
      while (!inWindow(inputDim))
        ++inputDim;
      addWindowDim(inputDim++, dim);
    } else {
      if (indicesDim == vectorDim)
        ++indicesDim;
      addBatchDim(indicesDim++, dim);
    }
  }
  for (int64_t dim : numbers.getInsertedWindowDims())
    add(input[dim], dim, -1, -1, FactorKind::Indexed);
  if (vectorDim < static_cast<int64_t>(indices.size()))
    add(indices[vectorDim], -1, vectorDim, -1, FactorKind::NeedReplication);
  FactorRule rule = builder.build();
  if (exchangedCombiner(op))
    for (auto [id, factor] : llvm::enumerate(rule.factors))
      factor.exchanged = isScattered(rule, id);
  return rule;
}

static std::optional<FactorRule> scatterRule(ScatterOp op) {
  return ScatterRule(op, /*isPicking=*/false).build();
}

/// Nothing more if windows have no part of a dim and updates are not known.
static std::optional<FactorRule> pickingRule(ScatterOp op) {
  FactorRule own = ScatterRule(op, /*isPicking=*/false).build();
  FactorRule picking = ScatterRule(op, /*isPicking=*/true).build();
  return own == picking ? std::nullopt : std::optional(picking);
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

/// How many elements windows have in input dim `dim`.
static int64_t windowOf(ScatterOp op, int64_t dim) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  auto inWindow = [&](int64_t dim) {
    return !llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
           !llvm::is_contained(numbers.getInputBatchingDims(), dim);
  };
  if (!inWindow(dim))
    return 1;
  int64_t place = llvm::count_if(llvm::seq<int64_t>(0, dim), inWindow);
  return shapeOf(op.getUpdates().front())[numbers.getUpdateWindowDims()[place]];
}

/// The input dims that are sharded and of which windows have a part.
static SmallVector<ShardedDim> shardedDims(ScatterOp op, Value localInput,
                                           LocalContext &context) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  SmallVector<ShardedDim> sharded;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs().front()))) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    bool isInserted = llvm::is_contained(numbers.getInsertedWindowDims(), dim);
    int64_t window = windowOf(op, dim);
    if (axes.empty() || (!isInserted && window == size) ||
        llvm::is_contained(numbers.getInputBatchingDims(), dim))
      continue;
    sharded.push_back({size, shapeOf(localInput)[dim], axes,
                       positionIn(numbers.getScatterDimsToOperandDims(), dim),
                       window, static_cast<int64_t>(dim)});
  }
  return sharded;
}

namespace {
/// Writes what is in this device's parts of the inputs.
class PartialScatter {
public:
  PartialScatter(ScatterOp op, OpBuilder &builder, LocalContext &context,
                 ArrayRef<ShardedDim> sharded)
      : op(op), builder(builder), context(context), sharded(sharded),
        math(builder, op.getLoc()) {}

  SmallVector<Value> build(ArrayRef<Value> operands);

private:
  Value localIndices(Value indices);
  /// Where windows begin, relative to the part as it is padded.
  Value relative(const ShardedDim &dim, Value index, IntegerType type);
  Value pad(Value part);
  Value unpad(Value padded);
  /// Windows begin at 0 of a dim that is not indexed: what a part as it is
  /// padded has there, and where that begins; null if there is no such dim.
  Value corner(Value padded, SmallVector<Value> &starts);
  int64_t paddingOf(const ShardedDim &dim) const {
    return dim.window == 1 ? 0 : dim.window;
  }

  ScatterOp op;
  OpBuilder &builder;
  LocalContext &context;
  ArrayRef<ShardedDim> sharded;
  LocalMath math;
};
} // namespace

Value PartialScatter::relative(const ShardedDim &dim, Value index,
                               IntegerType type) {
  auto indexType = cast<RankedTensorType>(index.getType());
  Value start = math.broadcast(
      math.shardStart(context, dim.axes, dim.localSize, type), indexType);
  int64_t padding = paddingOf(dim);
  if (padding == 0)
    return math.subtract(index, start);
  // Not in the whole dim: in no part either.
  Value inside = math.inRange(index, 0, dim.globalSize - dim.window + 1);
  Value shifted =
      math.subtract(math.add(index, math.splat(indexType, padding)), start);
  return math.select(inside, shifted, math.splat(indexType, -1));
}

Value PartialScatter::localIndices(Value indices) {
  IndexVector vector(builder, op.getLoc(), indices,
                     op.getScatterDimensionNumbers().getIndexVectorDim(),
                     sharded);
  for (const ShardedDim &dim : sharded)
    if (dim.component >= 0)
      vector.setComponent(
          dim.component,
          relative(dim, vector.component(dim.component), vector.elementType()));
  return vector.join();
}

Value PartialScatter::pad(Value part) {
  auto type = cast<RankedTensorType>(part.getType());
  SmallVector<int64_t> around(type.getRank(), 0), none(around);
  for (const ShardedDim &dim : sharded)
    around[dim.dim] = paddingOf(dim);
  if (around == none)
    return part;
  Value fill =
      math.sumIdentity(RankedTensorType::get({}, type.getElementType()));
  return PadOp::create(builder, op.getLoc(), part, fill, around, around, none);
}

Value PartialScatter::unpad(Value padded) {
  SmallVector<int64_t> limits(shapeOf(padded)), starts(limits.size(), 0),
      strides(limits.size(), 1);
  SmallVector<int64_t> shape(limits);
  for (const ShardedDim &dim : sharded) {
    starts[dim.dim] = paddingOf(dim);
    limits[dim.dim] -= paddingOf(dim);
  }
  if (limits == shape)
    return padded;
  return SliceOp::create(builder, op.getLoc(), padded, starts, limits, strides);
}

Value PartialScatter::corner(Value padded, SmallVector<Value> &starts) {
  auto begins = [](const ShardedDim &dim) {
    return dim.component < 0 && dim.window > 1;
  };
  if (llvm::none_of(sharded, begins))
    return Value();
  IntegerType integer = builder.getI64Type();
  auto scalar = RankedTensorType::get({}, integer);
  SmallVector<int64_t> sizes(shapeOf(padded));
  starts.assign(sizes.size(), math.splat(scalar, 0));
  for (const ShardedDim &dim : llvm::make_filter_range(sharded, begins)) {
    // Parts behind the window have none of it; there is padding at 0.
    Value start = math.subtract(
        math.splat(scalar, dim.window),
        math.shardStart(context, dim.axes, dim.localSize, integer));
    starts[dim.dim] = math.clamp(start, 0, dim.window);
    sizes[dim.dim] = dim.window;
  }
  return DynamicSliceOp::create(builder, op.getLoc(), padded, starts, sizes);
}

SmallVector<Value> PartialScatter::build(ArrayRef<Value> operands) {
  size_t count = op.getInputs().size();
  SmallVector<Value> local(operands);
  local[count] = localIndices(local[count]);
  SmallVector<Value> padded, starts;
  for (Value &input : MutableArrayRef(local).take_front(count)) {
    input = padded.emplace_back(pad(input));
    if (Value part = corner(input, starts))
      input = part;
  }
  auto scatter = cast<ScatterOp>(builder.clone(*op));
  // One value may be several operands, which differ from here on.
  scatter->setOperands(local);
  scatter->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  for (size_t i = 0; i < count; ++i)
    scatter.getResult(i).setType(local[i].getType());
  // Windows that are out of bounds all have the index -1.
  if (llvm::any_of(sharded,
                   [](const ShardedDim &dim) { return dim.window > 1; })) {
    scatter.setIndicesAreSorted(false);
    scatter.setUniqueIndices(false);
  }
  SmallVector<Value> results;
  for (auto [result, whole] : llvm::zip_equal(scatter.getResults(), padded)) {
    bool isCorner = result.getType() != whole.getType();
    results.push_back(
        unpad(isCorner ? Value(DynamicUpdateSliceOp::create(
                             builder, op.getLoc(), whole, result, starts))
                       : Value(result)));
  }
  return results;
}

static LocalResults scatterParts(ScatterOp op, OpBuilder &builder,
                                 ValueRange operands, LocalContext &context) {
  size_t count = op.getInputs().size();
  SmallVector<Value> local(operands);
  LocalMath math(builder, op.getLoc());
  AxisList partialAxes = axesOfPartialSums(context);
  if (!partialAxes.empty() && !isKnownZero(local[0]))
    local[0] = math.onlyOnFirst(context, partialAxes, local[0]);
  SmallVector<ShardedDim> sharded = shardedDims(op, operands[0], context);
  if (sharded.empty())
    return cloneLocally(op, builder, local, context);
  SmallVector<Value> results =
      PartialScatter(op, builder, context, sharded).build(local);
  // One position of a sharded dim that is not indexed is updated, at 0: on the
  // first device only.
  for (const ShardedDim &dim : sharded) {
    if (dim.component >= 0 || dim.window > 1)
      continue;
    Value first = math.isFirst(context, dim.axes);
    for (size_t i = 0; i < count; ++i)
      results[i] = math.select(first, results[i], local[i]);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Updates whose partial results `unreduced` can't state
//===----------------------------------------------------------------------===//

/// Starts from the neutral element on each device; the input counts at the end.
static LocalResults exchangeUpdates(ScatterOp op, OpBuilder &builder,
                                    ValueRange operands, LocalContext &context,
                                    const AxisList &axes) {
  Location loc = op.getLoc();
  LocalMath math(builder, loc);
  Operation *combiner = exchangedCombiner(op);
  auto type = cast<RankedTensorType>(operands[0].getType());
  Value neutral =
      math.neutral(*combiner, RankedTensorType::get({}, type.getElementType()));
  SmallVector<Value> local(operands);
  local[0] = math.neutral(*combiner, type);
  local[2] = math.fillExchanged(context, 2, local[2], neutral);
  auto partial = scatterParts(op, builder, local, context);
  if (failed(partial))
    return failure();
  Value rows = math.gatherRows(context, axes, partial->front());
  Value reduced = math.reduceRows(op.getUpdateComputation(), rows, neutral);
  return SmallVector<Value>{
      math.combine(op.getUpdateComputation(), operands[0], reduced)};
}

/// `op` with updates that are the reduction `kind` by what they are: those of
/// padding are neutral in it.
static OwningOpRef<ScatterOp> withCombiner(ScatterOp op, ReductionKind kind) {
  OwningOpRef<ScatterOp> combining = op.clone();
  Block &body = combining->getUpdateComputation().front();
  auto builder = OpBuilder::atBlockTerminator(&body);
  Value combined = LocalMath(builder, op.getLoc())
                       .combine(kind, body.getArgument(0), body.getArgument(1));
  body.getTerminator()->setOperands(combined);
  return combining;
}

static LocalResults scatterLocally(ScatterOp op, OpBuilder &builder,
                                   ValueRange operands, LocalContext &context) {
  bool isReduced =
      llvm::any_of(llvm::enumerate(context.rule().factors), [&](auto factor) {
        return factor.value().kind == FactorKind::Reduction &&
               !context.factorAxes(factor.index()).empty();
      });
  if (std::optional<ReductionKind> kind = kindOfUpdates(op);
      kind && isReduced) {
    OwningOpRef<ScatterOp> combining = withCombiner(op, *kind);
    return scatterParts(*combining, builder, operands, context);
  }
  AxisList exchanged = axesOfExchanges(context);
  return exchanged.empty()
             ? scatterParts(op, builder, operands, context)
             : exchangeUpdates(op, builder, operands, context, exchanged);
}

static bool mayShard(Operation *op, const FactorRule &rule, int32_t factor) {
  return mayShardKnown(op, rule, factor) || rule.factors[factor].exchanged;
}

void shardonnay::attachScatterModels(MLIRContext &context) {
  attachRule<ScatterOp, scatterRule, PropagationClass::Compute,
             /*kLooksAtOperands=*/true>(context);
  attachPicking<ScatterOp, scatterLocally, pickingRule, mayShard>(context);
}
