//===- LocalCollectives.cpp - collectives on local types ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/LocalCollectives.h"

#include "shardonnay/algebra/LocalShard.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/spmd/ResizedType.h"
#include "shardonnay/interfaces/NeutralElement.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;

namespace shardonnay {

/// Each device's window is the shard of `localSize` that it has. Behind the end
/// of a dim that goes on periodically, a shard has not what the window has.
static bool isOwnShard(const Window &window, int64_t localSize) {
  return window.start == 0 && window.size == localSize &&
         (window.windowAxes.empty() || window.step == window.size) &&
         window.axes == window.windowAxes &&
         (!window.periodic ||
          window.size * window.axes.numShards() == window.globalSize);
}

Value buildWindow(OpBuilder &builder, Location loc, Value tensor, Value fill,
                  const Placer &placer, const Window &window) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!fill && isOwnShard(window, type.getDimSize(window.dim)))
    return tensor;
  SmallVector<int64_t> shape(type.getShape());
  shape[window.dim] = window.size;
  auto write = [&](const AxisList &axes) {
    return sdy::AxisRefListAttr::get(builder.getContext(),
                                     fromAxisList(axes, placer.mesh()));
  };
  FlatSymbolRefAttr mesh;
  sdy::AxisRefListAttr axes, windowAxes;
  if (!window.axes.empty() || !window.windowAxes.empty()) {
    mesh = FlatSymbolRefAttr::get(builder.getContext(), placer.meshName());
    axes = write(window.axes);
    if (window.windowAxes != window.axes)
      windowAxes = write(window.windowAxes);
  }
  return spmd::FetchWindowOp::create(builder, loc, type.clone(shape), tensor,
                                     fill, window.dim, window.globalSize,
                                     window.start, window.step, window.size,
                                     mesh, axes, windowAxes, window.periodic);
}

/// `producer` makes the shard by `axes` of a dim that its tensor has whole.
static bool isShardOfWhole(Operation *producer, const Window &window,
                           sdy::AxisRefListAttr axes) {
  if (auto slice = dyn_cast<spmd::AllSliceOp>(producer))
    return slice.getAxes() == axes;
  auto shard = cast<spmd::FetchWindowOp>(producer);
  return shard.shardingAxes().empty() && !shard.getFill() &&
         !shard.getPeriodic() && shard.getWindowAxes() == axes &&
         shard.getStart() == 0 && shard.getStep() == shard.getSize() &&
         shard.getGlobalSize() >= static_cast<uint64_t>(window.globalSize);
}

Value buildWindowOfWhole(OpBuilder &builder, Location loc, Value tensor,
                         Value fill, const Placer &placer,
                         const Window &window) {
  Operation *producer = tensor.getDefiningOp();
  if (!isa_and_present<spmd::AllSliceOp, spmd::FetchWindowOp>(producer) ||
      window.periodic)
    return nullptr;
  auto other = dyn_cast<spmd::FetchWindowOp>(producer);
  int64_t dim =
      other ? other.getDim() : cast<spmd::AllSliceOp>(producer).getDim();
  if (dim == window.dim) {
    auto axes = sdy::AxisRefListAttr::get(
        builder.getContext(), fromAxisList(window.axes, placer.mesh()));
    if (window.windowAxes != window.axes ||
        !isShardOfWhole(producer, window, axes))
      return nullptr;
    Window ofWhole = window;
    ofWhole.axes = AxisList();
    return buildWindow(builder, loc, producer->getOperand(0), fill, placer,
                       ofWhole);
  }
  // Behind it, the other dim; with two fills the corners would differ.
  if (other && other.getFill() && fill && other.getFill() != fill)
    return nullptr;
  Value inner = buildWindowOfWhole(builder, loc, producer->getOperand(0), fill,
                                   placer, window);
  if (!inner)
    return nullptr;
  Operation *behind = builder.clone(*producer);
  behind->setOperand(0, inner);
  behind->getResult(0).setType(resized(cast<RankedTensorType>(tensor.getType()),
                                       window.dim, window.size));
  return behind->getResult(0);
}

namespace {

/// Builds the local ops that stand for what is done to a shard.
class ShardBuilder : public LocalShard {
public:
  /// `value` is the shard, by `layout`, of what has type `globalType`.
  ShardBuilder(Value value, RankedTensorType globalType, const Layout &layout,
               const Placer &placer, OpBuilder &builder, Location loc)
      : LocalShard(layout.dims, globalType.getShape()), current(value),
        parts(layout.partial), placer(placer), builder(builder), loc(loc) {}

  /// For the collective `op`, on `sourceMesh` unless that is null.
  FailureOr<Value> build(sdy::CollectiveOpInterface op,
                         FlatSymbolRefAttr sourceMesh);
  /// What the device has of a whole value.
  Value slice(ArrayRef<AxisList> axesPerDim);
  /// What it has of one that is to be in parts of `kind`.
  FailureOr<Value> makeParts(const AxisList &axes, ReductionKind kind);

private:
  void onAllGather(int64_t dim, const AxisList &axes) override {
    current = spmd::AllGatherOp::create(
        builder, loc, resized(dim, localShape()[dim] * axes.numShards()),
        current, dim, placer.meshName(), write(axes));
  }
  void onAllSlice(int64_t dim, const AxisList &axes, int64_t size) override {
    current =
        spmd::AllSliceOp::create(builder, loc, resized(dim, size), current, dim,
                                 placer.meshName(), write(axes));
  }
  void onAllToAll(int64_t source, int64_t target,
                  const AxisList &axes) override {
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[source] *= axes.numShards();
    shape[target] /= axes.numShards();
    current = spmd::AllToAllOp::create(builder, loc, type.clone(shape), current,
                                       /*split_dim=*/target,
                                       /*concat_dim=*/source, placer.meshName(),
                                       write(axes));
  }
  void onAllReduce(const AxisList &axes, ReductionKind kind) override {
    current =
        spmd::AllReduceOp::create(builder, loc, current.getType(), current,
                                  placer.meshName(), write(axes), kind);
  }
  void onReduceScatter(int64_t dim, const AxisList &axes, ReductionKind kind,
                       int64_t size) override {
    current = spmd::ReduceScatterOp::create(builder, loc, resized(dim, size),
                                            current, dim, placer.meshName(),
                                            write(axes), kind);
  }
  void onPermute(ArrayRef<AxisList> target, bool otherDevices) override;
  void onShardedToUnreduced(int64_t dim, const AxisList &axes) override;
  void onReplicatedToUnreduced(const AxisList &axes) override;
  void onWindow(int64_t dim, const AxisList &before, int64_t size) override {
    current = buildWindow(builder, loc, current, /*fill=*/Value(), placer,
                          {dim, globalShape()[dim], /*start=*/0, /*step=*/size,
                           size, before, axes()[dim]});
  }

  sdy::AxisRefListAttr write(const AxisList &axes) const {
    return sdy::AxisRefListAttr::get(builder.getContext(),
                                     fromAxisList(axes, placer.mesh()));
  }
  RankedTensorType resized(int64_t dim, int64_t size) const {
    return shardonnay::resized(cast<RankedTensorType>(current.getType()), dim,
                               size);
  }
  /// What does not count in the reduction that the result is a part of; null,
  /// with an error, if there is nothing like that.
  Value neutral();

  Value current;
  /// What the value was in parts along at first.
  AxisList parts;
  const Placer &placer;
  OpBuilder &builder;
  Location loc;
  /// Where `current` is going, while a collective is built.
  TensorSharding target;
  FlatSymbolRefAttr sourceMesh;
  /// Those that are manual around it: devices that differ along these have
  /// values of their own.
  AxisList manual;
  bool isBuilt = true;
};

FailureOr<Value> ShardBuilder::build(sdy::CollectiveOpInterface op,
                                     FlatSymbolRefAttr from) {
  target = toSharding(sdy::getSharding(op->getResult(0)), placer.mesh());
  sourceMesh = from;
  manual = placer.manualAxes(op);
  op.applyTo(*this, placer.mesh());
  if (!isBuilt)
    return failure();
  return current;
}

Value ShardBuilder::slice(ArrayRef<AxisList> axesPerDim) {
  for (auto [dim, axes] : llvm::enumerate(axesPerDim))
    if (!axes.empty())
      allSlice(static_cast<int64_t>(dim), axes);
  return current;
}

FailureOr<Value> ShardBuilder::makeParts(const AxisList &axes,
                                         ReductionKind kind) {
  target.kind = kind;
  replicatedToUnreduced(axes);
  if (!isBuilt)
    return failure();
  return current;
}

/// Parts stay what they are, and so does what is one of a manual computation.
void ShardBuilder::onPermute(ArrayRef<AxisList> wanted, bool) {
  auto writeAll = [&](ArrayRef<AxisList> axesPerDim, const AxisList &parts) {
    auto lists = llvm::map_to_vector(
        axesPerDim, [&](const AxisList &list) { return write(list); });
    AxisList own = manual;
    if (!target.unreduced.empty())
      own.append(parts);
    if (!own.empty())
      lists.push_back(write(own));
    return sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists);
  };
  current = spmd::CollectivePermuteOp::create(
      builder, loc, current.getType(), current, writeAll(axes(), parts),
      writeAll(wanted, target.unreduced.sorted()),
      FlatSymbolRefAttr::get(builder.getContext(), placer.meshName()),
      sourceMesh);
}

/// A device has its shard, and the neutral element in the place of the others'.
void ShardBuilder::onShardedToUnreduced(int64_t dim, const AxisList &axes) {
  Value fill = neutral();
  if (!fill)
    return;
  int64_t size = localShape()[dim];
  current = buildWindow(builder, loc, current, fill, placer,
                        {dim, size, /*start=*/0, /*step=*/-size,
                         size * axes.numShards(), AxisList(), axes});
}

/// What is whole stays so on the first device along `axes`; the others have the
/// neutral element. A maximum may count as often as one likes.
void ShardBuilder::onReplicatedToUnreduced(const AxisList &axes) {
  if (target.kind != ReductionKind::Sum)
    return;
  Value fill = neutral();
  if (!fill)
    return;
  auto type = cast<RankedTensorType>(current.getType());
  if (type.getRank() == 0)
    current = spmd::PackOp::create(builder, loc, type.clone({1}), current);
  // The first window is the tensor, the others are behind its end.
  int64_t size = cast<RankedTensorType>(current.getType()).getDimSize(0);
  current = buildWindow(
      builder, loc, current, fill, placer,
      {/*dim=*/0, size, /*start=*/0, /*step=*/size, size, AxisList(), axes});
  if (type.getRank() == 0)
    current = spmd::UnpackOp::create(builder, loc, TypeRange(type), current)
                  .getResult(0);
}

Value ShardBuilder::neutral() {
  Type element = cast<RankedTensorType>(current.getType()).getElementType();
  if (DenseElementsAttr neutral = getNeutralElement(element, target.kind))
    return sdy::ConstantOp::create(builder, loc, neutral);
  emitError(loc) << "makes parts of a " << toString(target.kind)
                 << " of elements " << element
                 << " that have no neutral one; expected numbers";
  isBuilt = false;
  return nullptr;
}

} // namespace

FailureOr<Value> buildLocalCollective(Operation *op, Value operand,
                                      const Layout &layout,
                                      const Placer &placer,
                                      FlatSymbolRefAttr sourceMesh,
                                      OpBuilder &builder) {
  auto collective = dyn_cast<sdy::CollectiveOpInterface>(op);
  if (!collective)
    return op->emitError("has no form on local types yet; rewrite it by other "
                         "collectives");
  ShardBuilder shard(operand,
                     cast<RankedTensorType>(op->getOperand(0).getType()),
                     layout, placer, builder, op->getLoc());
  return shard.build(collective, sourceMesh);
}

Value buildShard(Value whole, const Layout &layout, const Placer &placer,
                 OpBuilder &builder, Location loc) {
  auto type = cast<RankedTensorType>(whole.getType());
  ShardBuilder shard(whole, type, Layout::replicated(type.getShape()), placer,
                     builder, loc);
  return shard.slice(layout.dims);
}

FailureOr<Value> buildLocalShard(Value whole, const Layout &layout,
                                 const Placer &placer, OpBuilder &builder,
                                 Location loc) {
  auto type = cast<RankedTensorType>(whole.getType());
  ShardBuilder shard(whole, type, Layout::replicated(type.getShape()), placer,
                     builder, loc);
  Value part = shard.slice(layout.dims);
  if (layout.partial.empty())
    return part;
  return shard.makeParts(layout.partial, layout.kind);
}

LogicalResult neutralizePadding(OpBuilder &builder, Operation *op,
                                const FactorRule &rule,
                                ArrayRef<AxisList> factorAxes,
                                MutableArrayRef<Value> operands,
                                const Placer &placer) {
  for (auto [id, factor, axes] : llvm::enumerate(rule.factors, factorAxes)) {
    if (factor.kind != FactorKind::Reduction ||
        factor.size % axes.numShards() == 0)
      continue;
    for (auto [operand, mapping] : llvm::zip_equal(operands, rule.operands)) {
      int64_t dim = mapping.dimOf(id);
      if (dim < 0)
        continue;
      auto type = cast<RankedTensorType>(operand.getType());
      DenseElementsAttr neutral =
          getNeutralElement(type.getElementType(), factor.combiner);
      if (!neutral)
        return pointAtOperand(
            op->emitError()
                << "reduces a dim of size " << factor.size << " that axes "
                << placer.str(axes) << " do not divide, of elements "
                << type.getElementType()
                << " that have no neutral one; shard it by axes that divide it",
            operand);
      Value fill = sdy::ConstantOp::create(builder, op->getLoc(), neutral);
      int64_t size = type.getDimSize(dim);
      operand = buildWindow(
          builder, op->getLoc(), operand, fill, placer,
          {dim, factor.size, /*start=*/0, /*step=*/size, size, axes, axes});
    }
  }
  return success();
}

} // namespace shardonnay
