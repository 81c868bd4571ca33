//===- ExpandCollectives.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step makes all collectives that move data (`collect`): each device puts
// what it has at its place among zeros, and the sum over the group is what all
// have. The bits of a float are summed as an integer, so a zero keeps its sign
// and types that MPI does not add up travel too. Then:
//
//   all_gather          collect
//   all_slice           a slice at the device's index
//   reduce_scatter      all_reduce, and a slice
//   all_to_all          collect, and a slice for the device
//   collective_permute  collect by the index along `source`, of one device of
//                       those that have the same; a slice by that along
//                       `target`
//   fetch_window        collect, between what is outside; a slice
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/spmd/ResizedType.h"
#include "shardonnay/mpi/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPANDCOLLECTIVESPASS
#include "shardonnay/mpi/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Devices that exchange, and their axes.
struct Group {
  FlatSymbolRefAttr mesh;
  sdy::MeshAttr axesOf;
  AxisList axes;

  int64_t size() const { return axes.numShards(); }
};

class Expander {
public:
  Expander(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// This device's index along `group`, an `index`.
  Value indexIn(const Group &group);
  /// `count` slots of `tensor`'s size along `dim`; slot i is the tensor of the
  /// device of the group whose `slot` is i. `owns`: this device is the one that
  /// says so; null if all of the group are. Fails with an error if the elements
  /// have no bits to add up.
  FailureOr<Value> collect(Value tensor, int64_t dim, Value slot, int64_t count,
                           const Group &group, Value owns = nullptr);
  /// `size` positions of `dim` from `start`, an index or a number.
  Value slice(Value tensor, int64_t dim, OpFoldResult start, int64_t size);
  /// `tensor` in the place of what `whole` has from `start` on.
  Value insert(Value tensor, Value whole, int64_t dim, OpFoldResult start);
  Value times(Value index, int64_t factor);
  Value plus(Value index, int64_t summand);
  Value splat(RankedTensorType type, Value fill);
  Value isZero(Value index);
  /// A tensor of rank 1 for one of rank 0, and back.
  Value ranked(Value tensor);
  Value unranked(Value tensor, RankedTensorType type);

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// As integers that MPI adds up; null if there are none.
  Value toBits(Value tensor);
  Value fromBits(Value bits, Type element);
  SmallVector<OpFoldResult> numbers(size_t count, int64_t value) {
    return SmallVector<OpFoldResult>(count, builder.getIndexAttr(value));
  }

  OpBuilder &builder;
  Location loc;
};

Value Expander::indexIn(const Group &group) {
  if (group.axes.empty())
    return number(0);
  Value tensor = spmd::DeviceIndexOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI32Type()), group.mesh,
      sdy::AxisRefListAttr::get(builder.getContext(),
                                sdy::fromAxisList(group.axes, group.axesOf)));
  Value index = tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    index);
}

Value Expander::times(Value index, int64_t factor) {
  return arith::MulIOp::create(builder, loc, index, number(factor));
}

Value Expander::plus(Value index, int64_t summand) {
  return arith::AddIOp::create(builder, loc, index, number(summand));
}

Value Expander::isZero(Value index) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index,
                               number(0));
}

Value Expander::splat(RankedTensorType type, Value fill) {
  if (!fill)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value element = tensor::ExtractOp::create(builder, loc, fill, ValueRange());
  return tensor::SplatOp::create(builder, loc, element, type);
}

Value Expander::slice(Value tensor, int64_t dim, OpFoldResult start,
                      int64_t size) {
  RankedTensorType type = resized(typeOf(tensor), dim, size);
  SmallVector<OpFoldResult> starts = numbers(type.getRank(), 0),
                            ones = numbers(type.getRank(), 1);
  starts[dim] = start;
  return tensor::ExtractSliceOp::create(
      builder, loc, type, tensor, starts,
      getAsIndexOpFoldResult(builder.getContext(), type.getShape()), ones);
}

Value Expander::insert(Value tensor, Value whole, int64_t dim,
                       OpFoldResult start) {
  RankedTensorType type = typeOf(tensor);
  SmallVector<OpFoldResult> starts = numbers(type.getRank(), 0),
                            ones = numbers(type.getRank(), 1);
  starts[dim] = start;
  return tensor::InsertSliceOp::create(
      builder, loc, tensor, whole, starts,
      getAsIndexOpFoldResult(builder.getContext(), type.getShape()), ones);
}

Value Expander::ranked(Value tensor) {
  if (typeOf(tensor).getRank() > 0)
    return tensor;
  return tensor::ExpandShapeOp::create(builder, loc, typeOf(tensor).clone({1}),
                                       tensor,
                                       ArrayRef<ReassociationIndices>{});
}

Value Expander::unranked(Value tensor, RankedTensorType type) {
  if (type.getRank() > 0)
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, type, tensor,
                                         ArrayRef<ReassociationIndices>{});
}

Value Expander::toBits(Value tensor) {
  RankedTensorType type = typeOf(tensor);
  Type element = type.getElementType();
  if (!element.isIntOrFloat())
    return nullptr;
  unsigned width = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element)) {
    if (width % 8 != 0)
      return nullptr;
    element = builder.getIntegerType(width);
    tensor =
        arith::BitcastOp::create(builder, loc, type.clone(element), tensor);
  }
  if (!element.isSignlessInteger() || width > 64)
    return nullptr;
  unsigned wide = std::max<unsigned>(8, llvm::PowerOf2Ceil(width));
  if (wide == width)
    return tensor;
  return arith::ExtUIOp::create(
      builder, loc, type.clone(builder.getIntegerType(wide)), tensor);
}

Value Expander::fromBits(Value bits, Type element) {
  RankedTensorType type = typeOf(bits);
  unsigned width = element.getIntOrFloatBitWidth();
  if (type.getElementTypeBitWidth() != width)
    bits = arith::TruncIOp::create(
        builder, loc, type.clone(builder.getIntegerType(width)), bits);
  if (isa<FloatType>(element))
    bits = arith::BitcastOp::create(builder, loc, type.clone(element), bits);
  return bits;
}

FailureOr<Value> Expander::collect(Value tensor, int64_t dim, Value slot,
                                   int64_t count, const Group &group,
                                   Value owns) {
  if (group.size() == 1)
    return tensor;
  Type element = typeOf(tensor).getElementType();
  Value bits = toBits(tensor);
  if (!bits)
    return emitError(loc) << "moves elements of type " << element
                          << ", whose bits all_reduce does not add up; "
                             "expected integers of 1 to 64 bits, or floats";
  int64_t size = typeOf(bits).getDimSize(dim);
  Value zeros = splat(resized(typeOf(bits), dim, size * count), nullptr);
  Value own = insert(bits, zeros, dim, times(slot, size));
  if (owns)
    own = arith::SelectOp::create(builder, loc, owns, own, zeros);
  Value all = spmd::AllReduceOp::create(
      builder, loc, own.getType(), own, group.mesh,
      sdy::AxisRefListAttr::get(builder.getContext(),
                                sdy::fromAxisList(group.axes, group.axesOf)),
      sdy::ReductionKindAttr::get(builder.getContext(), ReductionKind::Sum));
  return fromBits(all, element);
}

class OpExpander {
public:
  explicit OpExpander(bool keepNamed) : keepNamed(keepNamed) {}

  /// Replaces `op` if it is to be; fails with an error at it.
  LogicalResult expand(Operation *op);

private:
  FailureOr<Value> build(spmd::AllGatherOp op);
  FailureOr<Value> build(spmd::AllSliceOp op);
  FailureOr<Value> build(spmd::AllToAllOp op);
  FailureOr<Value> build(spmd::ReduceScatterOp op);
  FailureOr<Value> build(spmd::CollectivePermuteOp op);
  FailureOr<Value> build(spmd::FetchWindowOp op);
  template <typename OpT> LogicalResult replace(OpT op);

  Group groupOf(Operation *op, FlatSymbolRefAttr mesh,
                ArrayRef<sdy::AxisRefAttr> axes) {
    sdy::MeshAttr attr =
        symbols.lookupNearestSymbolFrom<sdy::MeshOp>(op, mesh).getMesh();
    return {mesh, attr, sdy::toAxisList(axes, attr)};
  }
  template <typename OpT> Group groupOf(OpT op) {
    return groupOf(op, op.getMeshAttr(), op.getAxes().getValue());
  }

  bool keepNamed;
  SymbolTableCollection symbols;
};

FailureOr<Value> OpExpander::build(spmd::AllGatherOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  Group group = groupOf(op);
  return expander.collect(op.getTensor(), op.getDim(), expander.indexIn(group),
                          group.size(), group);
}

FailureOr<Value> OpExpander::build(spmd::AllSliceOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  int64_t size = op.getType().getDimSize(op.getDim());
  return expander.slice(op.getTensor(), op.getDim(),
                        expander.times(expander.indexIn(groupOf(op)), size),
                        size);
}

FailureOr<Value> OpExpander::build(spmd::ReduceScatterOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  Value whole = spmd::AllReduceOp::create(
      builder, op.getLoc(), op.getTensor().getType(), op.getTensor(),
      op.getMeshAttr(), op.getAxesAttr(), op.getKindAttr());
  int64_t size = op.getType().getDimSize(op.getDim());
  return expander.slice(whole, op.getDim(),
                        expander.times(expander.indexIn(groupOf(op)), size),
                        size);
}

FailureOr<Value> OpExpander::build(spmd::AllToAllOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  Group group = groupOf(op);
  int64_t split = op.getSplitDim(), concat = op.getConcatDim();
  Value index = expander.indexIn(group);
  FailureOr<Value> all =
      expander.collect(op.getTensor(), concat, index, group.size(), group);
  if (failed(all))
    return failure();
  int64_t whole = typeOf(op.getTensor()).getDimSize(split),
          size = whole / group.size();
  Value start = expander.times(index, size);
  if (split != concat)
    return expander.slice(*all, split, start, size);
  // Of each device the part that is for this one.
  Value result = expander.splat(op.getType(), nullptr);
  for (int64_t sender = 0; sender < group.size(); ++sender) {
    Value part =
        expander.slice(*all, split, expander.plus(start, sender * whole), size);
    result = expander.insert(part, result, split,
                             builder.getIndexAttr(sender * size));
  }
  return result;
}

FailureOr<Value> OpExpander::build(spmd::CollectivePermuteOp op) {
  if (op.getSourceMeshAttr())
    return op.emitError() << "exchanges between two orders of the devices, "
                             "which all_reduce on one mesh does not; expected "
                             "one mesh";
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  auto flatten = [&](sdy::ListOfAxisRefListsAttr lists) {
    SmallVector<sdy::AxisRefAttr> axes;
    for (sdy::AxisRefListAttr list : lists.getValue())
      llvm::append_range(axes, list.getValue());
    return axes;
  };
  Group source = groupOf(op, op.getMeshAttr(), flatten(op.getSource())),
        target = groupOf(op, op.getMeshAttr(), flatten(op.getTarget()));
  for (AxisRef a : source.axes)
    for (AxisRef b : target.axes)
      if (!a.canCoexist(b))
        return op.emitError() << "exchanges along parts of an axis that do not "
                                 "nest; expected parts that do";
  Group replicas = source, all = source;
  replicas.axes = target.axes.subtract(source.axes);
  all.axes.append(replicas.axes);
  all.axes = all.axes.sorted();
  Value own = expander.ranked(op.getTensor());
  int64_t size = typeOf(own).getDimSize(0);
  // Devices that differ in other axes hold the same: the first one says it.
  Value owns = replicas.axes.empty()
                   ? Value()
                   : expander.isZero(expander.indexIn(replicas));
  FailureOr<Value> slots = expander.collect(own, 0, expander.indexIn(source),
                                            source.size(), all, owns);
  if (failed(slots))
    return failure();
  Value taken = expander.slice(
      *slots, 0, expander.times(expander.indexIn(target), size), size);
  return expander.unranked(taken, op.getType());
}

FailureOr<Value> OpExpander::build(spmd::FetchWindowOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc());
  int64_t dim = op.getDim(), global = op.getGlobalSize();
  Value whole = op.getTensor(), window;
  int64_t windows = 1;
  if (op.getMeshAttr()) {
    Group group = groupOf(op, op.getMeshAttr(), op.shardingAxes()),
          counting = groupOf(op, op.getMeshAttr(), op.countingAxes());
    FailureOr<Value> all = expander.collect(whole, dim, expander.indexIn(group),
                                            group.size(), group);
    if (failed(all))
      return failure();
    whole = *all;
    windows = counting.size();
    window = expander.times(expander.indexIn(counting), op.getStep());
  }
  int64_t start = op.getStart(), step = op.getStep(), size = op.getSize();
  // All windows are within [low, high).
  int64_t low = start + std::min<int64_t>(0, step * (windows - 1)),
          high = start + std::max<int64_t>(0, step * (windows - 1)) + size;
  Value around =
      expander.splat(resized(typeOf(whole), dim, high - low), op.getFill());
  int64_t first = op.getPeriodic() ? llvm::divideFloorSigned(low, global) : 0,
          last =
              op.getPeriodic() ? llvm::divideFloorSigned(high - 1, global) : 0;
  for (int64_t copy = first; copy <= last; ++copy) {
    int64_t from = std::max(low, copy * global),
            to = std::min(high, (copy + 1) * global);
    if (from >= to)
      continue;
    Value part = expander.slice(
        whole, dim, builder.getIndexAttr(from - copy * global), to - from);
    around =
        expander.insert(part, around, dim, builder.getIndexAttr(from - low));
  }
  if (!window)
    return expander.slice(around, dim, builder.getIndexAttr(start - low), size);
  return expander.slice(around, dim, expander.plus(window, start - low), size);
}

template <typename OpT> LogicalResult OpExpander::replace(OpT op) {
  FailureOr<Value> value = build(op);
  if (failed(value))
    return failure();
  op->replaceAllUsesWith(ValueRange(*value));
  op->erase();
  return success();
}

LogicalResult OpExpander::expand(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<spmd::AllGatherOp, spmd::AllSliceOp, spmd::AllToAllOp,
            spmd::ReduceScatterOp>(
          [&](auto op) { return keepNamed ? success() : replace(op); })
      .Case<spmd::CollectivePermuteOp, spmd::FetchWindowOp>(
          [&](auto op) { return replace(op); })
      .Default([](Operation *) { return success(); });
}

struct ExpandCollectivesPass
    : impl::ExpandCollectivesPassBase<ExpandCollectivesPass> {
  using ExpandCollectivesPassBase::ExpandCollectivesPassBase;

  void runOnOperation() override {
    if (failed(sdy::verifyMeshSizes(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_present<spmd::SpmdDialect>(op->getDialect()))
        ops.push_back(op);
    });
    OpExpander expander(keepNamed);
    for (Operation *op : ops)
      if (failed(expander.expand(op)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
