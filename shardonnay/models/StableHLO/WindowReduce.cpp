//===- WindowReduce.cpp - reductions of windows ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// A dim's window w is all positions up to w, or all from w on.
static bool isPrefix(const WindowDim &window, int64_t size) {
  return size > 1 && window.size == size && window.dilation == 1 &&
         window.stride == 1 && window.baseDilation == 1 &&
         window.low + window.high == size - 1 &&
         (window.low == 0 || window.high == 0);
}

/// What the body combines in any grouping, from its neutral element.
static bool isMonoid(ReduceWindowOp op) {
  Value init = op.getInitValues()[0];
  if (Operation *combiner = combiningOp(op.getBody()))
    return isKnownNeutral(init, *combiner);
  return isLogAddExp(op.getBody()) && isKnownIdentity(init, ReductionKind::Max);
}

/// The dim of a cumulative sum or its like, which devices can combine of what
/// they found in their shards.
static std::optional<int64_t> scannedDim(ReduceWindowOp op) {
  if (op.getInputs().size() != 1 || !isMonoid(op) ||
      getElementTypeOrSelf(op.getResult(0)) !=
          getElementTypeOrSelf(op.getInputs()[0]))
    return std::nullopt;
  std::optional<int64_t> scanned;
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    if (window.isTrivial())
      continue;
    if (scanned || !isPrefix(window, shape[dim]))
      return std::nullopt;
    scanned = dim;
  }
  return scanned;
}

/// Whether windows count initial values outside the inputs that change what
/// they find: StableHLO's specification pads with them, XLA passes over what is
/// outside, and devices that fill in what is outside their shards would do as
/// the one where the whole program does as the other. Of a body that is no
/// single op it is not known, and taken to be as StableHLO asks: neutral.
static bool countsInit(ReduceWindowOp op, const WindowDim &window) {
  return (window.low > 0 || window.high > 0) && combiningOp(op.getBody()) &&
         !isMonoid(op);
}

static std::optional<FactorRule> reduceWindowRule(ReduceWindowOp op) {
  size_t count = op.getInputs().size();
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(2 * count, 0);
  std::fill_n(ranks.begin(), count, rank);
  FactorRuleBuilder builder(ranks, SmallVector<int64_t>(count, rank));
  std::optional<int64_t> scanned = scannedDim(op);
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    SmallVector<int64_t> operandDims(2 * count, -1);
    std::fill_n(operandDims.begin(), count, dim);
    FactorKind kind = window.isTrivial()       ? FactorKind::PassThrough
                      : countsInit(op, window) ? FactorKind::NeedReplication
                                               : FactorKind::Windowed;
    int32_t factor = builder.add(shape[dim], operandDims,
                                 SmallVector<int64_t>(count, dim), kind);
    if (kind != FactorKind::Windowed || scanned)
      continue;
    for (size_t i = 0; i < count; ++i)
      builder.addWindow(toFactorWindow(
          window, i, factor, shapeOf(op.getInputs()[i])[dim], shape[dim]));
  }
  FactorRule rule = builder.build();
  if (scanned)
    rule.factors[rule.operands[0].dims[*scanned].front()].exchanged = true;
  return rule;
}

namespace {
/// Each device scans its shard; what its last window found is its total. All
/// exchange their totals, and each combines those of the devices before it with
/// what it found. The other way around where windows reach to the end.
class LocalScan {
public:
  LocalScan(ReduceWindowOp op, OpBuilder &builder, ValueRange operands,
            LocalContext &context)
      : op(op), builder(builder), context(context), loc(op.getLoc()),
        math(builder, loc), input(operands[0]), init(operands[1]),
        axes(axesOfExchanges(context)), dim(*scannedDim(op)),
        size(shapeOf(input)[dim]), reversed(op.getWindow()[dim].low == 0) {}

  Value build();

private:
  /// Windows of the shard alone.
  Value scanShard();
  Value takeTotal(Value scanned);
  /// Combines the totals of the devices before this one, or of those behind it.
  Value combineOthers(Value totals);

  ReduceWindowOp op;
  OpBuilder &builder;
  LocalContext &context;
  Location loc;
  LocalMath math;
  Value input, init;
  AxisList axes;
  int64_t dim, size;
  bool reversed;
};
} // namespace

Value LocalScan::scanShard() {
  input = math.fillExchanged(context, 0, input, init);
  SmallVector<WindowDim> local = op.getWindow();
  local[dim].size = size;
  local[dim].low = reversed ? 0 : size - 1;
  local[dim].high = reversed ? size - 1 : 0;
  Value scanned = cloneLocally(op, builder, {input, init}, context)[0];
  auto reduce = scanned.getDefiningOp<ReduceWindowOp>();
  reduce.setPaddingAttr(paddingOf(builder, local));
  reduce.setWindowDimensions(llvm::map_to_vector(
      local, [](const WindowDim &each) { return each.size; }));
  return scanned;
}

Value LocalScan::takeTotal(Value scanned) {
  SmallVector<int64_t> limits(shapeOf(scanned));
  SmallVector<int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
  starts[dim] = reversed ? 0 : size - 1;
  limits[dim] = starts[dim] + 1;
  Value total = SliceOp::create(builder, loc, scanned, starts, limits, strides);
  limits.erase(limits.begin() + dim);
  return math.reshape(total, limits);
}

Value LocalScan::combineOthers(Value totals) {
  auto type = cast<RankedTensorType>(totals.getType());
  auto indices = RankedTensorType::get(type.getShape(), builder.getI32Type());
  Value device = IotaOp::create(builder, loc, indices, /*iota_dimension=*/0);
  Value own = math.broadcast(context.deviceIndex(builder, loc, axes), indices);
  Value counts = math.compare(device, own,
                              reversed ? ComparisonDirection::GT
                                       : ComparisonDirection::LT);
  Value others = math.select(counts, totals, math.broadcast(init, type));
  return math.reduceRows(op.getBody(), others, init);
}

Value LocalScan::build() {
  Value scanned = scanShard();
  auto type = cast<RankedTensorType>(scanned.getType());
  SmallVector<int64_t> dims;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim)
      dims.push_back(other);
  Value totals = math.gatherRows(context, axes, takeTotal(scanned));
  Value others = math.broadcast(combineOthers(totals), type, dims);
  return math.combine(op.getBody(), others, scanned);
}

/// What is outside the inputs is the initial value: the windows of all devices
/// are whole.
static LocalResults reduceWindowLocally(ReduceWindowOp op, OpBuilder &builder,
                                        ValueRange operands,
                                        LocalContext &context) {
  if (!axesOfExchanges(context).empty())
    return SmallVector<Value>{
        LocalScan(op, builder, operands, context).build()};
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  SmallVector<WindowDim> window = op.getWindow();
  size_t count = op.getInputs().size();
  SmallVector<FactorWindow, 2> windows = context.shardWindows();
  SmallVector<ShardWindow, 2> fetched(windows.size());
  auto fillOf = [&](int64_t i) {
    return math.convert(operands[count + i],
                        getElementTypeOrSelf(op.getInputs()[i]));
  };
  for (auto [slides, sharded] : llvm::zip_equal(windows, fetched))
    local[slides.tensor] =
        fetchWindow(builder, op.getLoc(), context, local[slides.tensor], slides,
                    fillOf(slides.tensor), sharded);
  for (auto [slides, sharded] : llvm::zip_equal(windows, fetched)) {
    int64_t i = slides.tensor;
    local[i] = alignWindow(builder, op.getLoc(), context, local[i], slides,
                           fillOf(i), sharded);
    WindowDim &dim = window[context.rule().operands[i].dimOf(slides.factor)];
    dim.low = sharded.low;
    dim.high = sharded.high;
    dim.baseDilation = sharded.baseDilation;
  }
  SmallVector<Value> results = cloneLocally(op, builder, local, context);
  auto reduce = results.front().getDefiningOp<ReduceWindowOp>();
  reduce.setPaddingAttr(paddingOf(builder, window));
  reduce.setBaseDilations(llvm::map_to_vector(
      window, [](const WindowDim &dim) { return dim.baseDilation; }));
  return results;
}

void shardonnay::attachWindowReduceModels(MLIRContext &context) {
  attachRule<ReduceWindowOp, reduceWindowRule, PropagationClass::Compute,
             /*kLooksAtOperands=*/true>(context);
  attachLocal<ReduceWindowOp, reduceWindowLocally>(context);
}
