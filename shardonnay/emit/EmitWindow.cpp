//===- EmitWindow.cpp - windows of a sharded dim in StableHLO -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Where no window has anything of the dim: `fill` everywhere.
// 2. gather: if the plan wants it.
// 3. makeBuffer: each piece is sliced, sent in rounds; all of them concatenated
//    and padded.
// 4. sliceWindow: at the device's offset.
// 5. mask: what is outside the dim becomes `fill`. Where all devices have the
//    same window the padding has done it.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/EmitWindow.h"

#include "shardonnay/dialect/spmd/ResizedType.h"
#include "shardonnay/emit/DeviceIndex.h"
#include <complex>

using namespace mlir;

namespace shardonnay {

namespace {

class WindowEmitter {
public:
  WindowEmitter(OpBuilder &builder, Location loc, int64_t dim,
                const WindowProblem &problem, RankedTensorType type, Value fill,
                const sdy::NamedMesh &mesh, CollectiveBuilder &collectives)
      : builder(builder), loc(loc), dim(dim), problem(problem), type(type),
        fill(fill), mesh(mesh), collectives(collectives) {}

  Value run(Value tensor);
  /// `window`, but before the dim begins `before`.
  Value behind(Value before, Value window);

private:
  bool isOneWindow() const { return problem.windowAxes.numShards() == 1; }
  RankedTensorType resized(int64_t size) const {
    return shardonnay::resized(type, dim, size);
  }
  Value scalar(int64_t value, Type element);
  Value fillOrZero();
  Value broadcast(Value value, RankedTensorType to, ArrayRef<int64_t> dims) {
    return stablehlo::BroadcastInDimOp::create(builder, loc, to, value, dims);
  }
  Value select(Value pred, Value onTrue, Value onFalse) {
    return stablehlo::SelectOp::create(builder, loc, onTrue.getType(), pred,
                                       onTrue, onFalse);
  }

  Value gather(Value tensor);
  Value slice(Value tensor, Interval part);
  /// `size` positions from where `table` says, by `index`.
  Value sliceAt(Value tensor, int64_t size, ArrayRef<int64_t> table,
                Value index);
  Value send(Value part, ArrayRef<Transfer> round);
  /// This device is one of the receivers.
  Value receives(ArrayRef<Transfer> round);
  Value makePiece(Value tensor, const WindowPiece &piece);
  /// What this device keeps of its own shard, and what it sends in a round.
  Value ownPart(Value tensor, const WindowPiece &piece);
  Value sentPart(Value tensor, const WindowPiece &piece,
                 ArrayRef<Transfer> round);
  Value makeBuffer(Value tensor, const WindowPlan &plan);
  Value sliceWindow(Value buffer, const WindowPlan &plan);
  Value mask(Value window);
  /// Where this device's window begins in the dim.
  Value positions();
  Value selectAt(Value positions, Value onTrue, Value onFalse);
  /// `positions` compared with a bound.
  Value compare(Value positions, int64_t bound,
                stablehlo::ComparisonDirection direction);

  OpBuilder &builder;
  Location loc;
  int64_t dim;
  const WindowProblem &problem;
  RankedTensorType type;
  Value fill;
  const sdy::NamedMesh &mesh;
  CollectiveBuilder &collectives;
};

Value WindowEmitter::scalar(int64_t value, Type element) {
  auto scalarType = RankedTensorType::get({}, element);
  DenseElementsAttr attr;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat zero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
    attr =
        DenseElementsAttr::get(scalarType, std::complex<APFloat>(zero, zero));
  } else if (isa<FloatType>(element)) {
    attr = DenseElementsAttr::get(scalarType,
                                  builder.getFloatAttr(element, 0).getValue());
  } else {
    attr = DenseElementsAttr::get(
        scalarType, APInt(element.getIntOrFloatBitWidth(), value,
                          /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  return stablehlo::ConstantOp::create(builder, loc, attr);
}

Value WindowEmitter::fillOrZero() {
  return fill ? fill : scalar(0, type.getElementType());
}

Value WindowEmitter::gather(Value tensor) {
  return collectives.allGather(loc, tensor, dim, mesh, problem.axes);
}

Value WindowEmitter::slice(Value tensor, Interval part) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (part.start == 0 && part.limit == from.getDimSize(dim))
    return tensor;
  SmallVector<int64_t> starts(from.getRank(), 0), limits(from.getShape());
  SmallVector<int64_t> strides(from.getRank(), 1);
  starts[dim] = part.start;
  limits[dim] = part.limit;
  return stablehlo::SliceOp::create(builder, loc, tensor, starts, limits,
                                    strides);
}

Value WindowEmitter::sliceAt(Value tensor, int64_t size,
                             ArrayRef<int64_t> table, Value index) {
  Value start = buildLookUp(builder, loc, table, index);
  return collectives.slice(loc, tensor, dim, start, size);
}

Value WindowEmitter::send(Value part, ArrayRef<Transfer> round) {
  auto pairs = [&] {
    DeviceRows rows;
    rows.reserve(round.size());
    for (auto [source, target] : round)
      rows.push_back(
          {problem.mesh.deviceAt(source), problem.mesh.deviceAt(target)});
    return rows;
  };
  return collectives.permute(loc, part, pairs, mesh, /*key=*/nullptr);
}

Value WindowEmitter::receives(ArrayRef<Transfer> round) {
  SmallVector<int64_t> table(problem.mesh.numDevices(), 0);
  for (auto [source, target] : round)
    table[target] = 1;
  Value position = collectives.index(loc, problem.mesh, problem.mesh.allAxes());
  return stablehlo::CompareOp::create(
      builder, loc, buildLookUp(builder, loc, table, position),
      scalar(1, builder.getI32Type()), stablehlo::ComparisonDirection::EQ,
      stablehlo::ComparisonTypeAttr());
}

Value WindowEmitter::ownPart(Value tensor, const WindowPiece &piece) {
  if (piece.starts.empty())
    return slice(tensor, piece.part);
  SmallVector<int64_t> table(piece.starts.begin(), piece.starts.end());
  return sliceAt(tensor, piece.width, table,
                 collectives.index(loc, problem.mesh, problem.windowAxes));
}

Value WindowEmitter::sentPart(Value tensor, const WindowPiece &piece,
                              ArrayRef<Transfer> round) {
  if (piece.starts.empty())
    return slice(tensor, piece.part);
  SmallVector<int64_t> table(problem.mesh.numDevices(), 0);
  for (auto [source, target] : round)
    table[source] =
        piece.starts[problem.mesh.index(problem.windowAxes, target)];
  return sliceAt(tensor, piece.width, table,
                 collectives.index(loc, problem.mesh, problem.mesh.allAxes()));
}

Value WindowEmitter::makePiece(Value tensor, const WindowPiece &piece) {
  Value result =
      piece.own || piece.rounds.empty() ? ownPart(tensor, piece) : Value();
  for (ArrayRef<Transfer> round : piece.rounds) {
    Value received = send(sentPart(tensor, piece, round), round);
    result = result ? select(receives(round), received, result) : received;
  }
  return result;
}

Value WindowEmitter::makeBuffer(Value tensor, const WindowPlan &plan) {
  SmallVector<Value> pieces;
  for (const WindowPiece &piece : plan.pieces)
    if (piece.width != 0)
      pieces.push_back(makePiece(tensor, piece));
  Value buffer = pieces.front();
  if (pieces.size() > 1)
    buffer = stablehlo::ConcatenateOp::create(builder, loc, pieces, dim);
  if (plan.low == 0 && plan.high == 0)
    return buffer;
  SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low);
  low[dim] = plan.low;
  high[dim] = plan.high;
  return stablehlo::PadOp::create(builder, loc, buffer, fillOrZero(), low, high,
                                  interior);
}

Value WindowEmitter::sliceWindow(Value buffer, const WindowPlan &plan) {
  // Windows without anything of the dim may be anywhere.
  std::optional<int64_t> same;
  bool allSame = true;
  for (auto [w, offset] : llvm::enumerate(plan.offsets)) {
    if (problem.inside(w).empty())
      continue;
    allSame &= !same || *same == offset;
    same = offset;
  }
  if (allSame)
    return slice(buffer, {*same, *same + problem.size});
  SmallVector<int64_t> table(plan.offsets.begin(), plan.offsets.end());
  return sliceAt(buffer, problem.size, table,
                 collectives.index(loc, problem.mesh, problem.windowAxes));
}

Value WindowEmitter::compare(Value positions, int64_t bound,
                             stablehlo::ComparisonDirection direction) {
  auto positionsType = cast<RankedTensorType>(positions.getType());
  return stablehlo::CompareOp::create(
      builder, loc, positions,
      broadcast(scalar(bound, positionsType.getElementType()), positionsType,
                {}),
      direction, stablehlo::ComparisonTypeAttr());
}

Value WindowEmitter::positions() {
  int64_t last = problem.windowStart(problem.windowAxes.numShards() - 1);
  int64_t farthest =
      std::max({std::abs(problem.start), std::abs(last), problem.globalSize}) +
      problem.size;
  Type element =
      builder.getIntegerType(farthest < (int64_t(1) << 30) ? 32 : 64);
  auto scalarType = RankedTensorType::get({}, element);
  Value origin = scalar(problem.start, element);
  if (!isOneWindow()) {
    Value index = collectives.index(loc, problem.mesh, problem.windowAxes);
    if (index.getType() != scalarType)
      index = stablehlo::ConvertOp::create(builder, loc, scalarType, index);
    Value moved = stablehlo::MulOp::create(builder, loc, index,
                                           scalar(problem.step, element));
    origin = problem.start == 0
                 ? moved
                 : stablehlo::AddOp::create(builder, loc, moved, origin);
  }
  auto positionsType = RankedTensorType::get({problem.size}, element);
  return stablehlo::AddOp::create(
      builder, loc, stablehlo::IotaOp::create(builder, loc, positionsType, 0),
      broadcast(origin, positionsType, {}));
}

Value WindowEmitter::selectAt(Value at, Value onTrue, Value onFalse) {
  auto windowType = cast<RankedTensorType>(onTrue.getType());
  at = broadcast(at, windowType.clone(builder.getI1Type()), {dim});
  return select(at, onTrue, onFalse);
}

Value WindowEmitter::behind(Value before, Value window) {
  return selectAt(compare(positions(), 0, stablehlo::ComparisonDirection::GE),
                  window, before);
}

Value WindowEmitter::mask(Value window) {
  bool low = problem.leavesLow(), high = problem.leavesHigh();
  if (!fill || isOneWindow() || (!low && !high))
    return window;
  Value at = positions();
  using stablehlo::ComparisonDirection;
  Value inside;
  if (low)
    inside = compare(at, 0, ComparisonDirection::GE);
  if (high) {
    Value below = compare(at, problem.globalSize, ComparisonDirection::LT);
    inside =
        inside ? stablehlo::AndOp::create(builder, loc, inside, below) : below;
  }
  auto windowType = cast<RankedTensorType>(window.getType());
  return selectAt(inside, window, broadcast(fill, windowType, {}));
}

Value WindowEmitter::run(Value tensor) {
  if (problem.isEmpty())
    return broadcast(fillOrZero(), resized(problem.size), {});
  WindowPlan plan = planWindows(problem);
  if (plan.gathers)
    tensor = gather(tensor);
  return mask(sliceWindow(makeBuffer(tensor, plan), plan));
}

} // namespace

Value emitWindow(OpBuilder &builder, Location loc, Value tensor, int64_t dim,
                 const WindowProblem &problem, Value fill,
                 const sdy::NamedMesh &mesh, CollectiveBuilder &collectives) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value result;
  for (const WindowProblem &part : withoutUnevenPeriods(problem)) {
    WindowEmitter emitter(builder, loc, dim, part, type, fill, mesh,
                          collectives);
    Value window = emitter.run(tensor);
    result = result ? emitter.behind(result, window) : window;
  }
  return result;
}

} // namespace shardonnay
