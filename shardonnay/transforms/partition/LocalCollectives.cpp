//===- LocalCollectives.cpp - collectives on local types ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/LocalCollectives.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/transforms/partition/NeutralElement.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

/// Each device's window is the piece of `localSize` that it has. Behind the end
/// of a dim that goes on periodically, a piece has not what the window has.
static bool isOwnPiece(const Window &window, int64_t localSize) {
  return window.start == 0 && window.size == localSize &&
         (window.windowAxes.empty() || window.step == window.size) &&
         window.axes == window.windowAxes &&
         (!window.periodic ||
          window.size * window.axes.numShards() == window.globalSize);
}

Value buildWindow(OpBuilder &builder, Location loc, Value tensor, Value fill,
                  const Placer &placer, const Window &window) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!fill && isOwnPiece(window, type.getDimSize(window.dim)))
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

namespace {

/// A local value that changes its layout op by op; each method appends one or
/// more. Between methods every dim of size n that p shards cut is of size
/// ceil(n / p).
class LocalChain {
public:
  LocalChain(Value value, RankedTensorType globalType, const Layout &layout,
             const Placer &placer, OpBuilder &builder, Location loc)
      : current(value), globalType(globalType), dims(layout.dims),
        parts(layout.partial), placer(placer), builder(builder), loc(loc) {}

  Value value() const { return current; }

  void gather(int64_t dim, sdy::AxisRefListAttr axes) {
    dims[dim] = dropSuffix(dims[dim], axes);
    current = spmd::AllGatherOp::create(
        builder, loc, resized(dim, localSize(dim) * numShards(axes)), current,
        dim, placer.meshName(), axes);
    recut(dim, dims[dim], plainSize(dim));
  }
  void slice(int64_t dim, sdy::AxisRefListAttr axes) {
    AxisList before = dims[dim];
    dims[dim].append(read(axes));
    int64_t size = plainSize(dim);
    if (size * numShards(axes) != localSize(dim))
      return recut(dim, before, size);
    current = spmd::AllSliceOp::create(builder, loc, resized(dim, size),
                                       current, dim, placer.meshName(), axes);
  }
  void reduceScatter(int64_t dim, ReductionKind kind,
                     sdy::AxisRefListAttr axes) {
    makeDivisible(dim, axes);
    current = spmd::ReduceScatterOp::create(
        builder, loc, resized(dim, plainSize(dim)), current, dim,
        placer.meshName(), axes, kind);
  }
  void allReduce(ReductionKind kind, sdy::AxisRefListAttr axes) {
    current = spmd::AllReduceOp::create(builder, loc, current.getType(),
                                        current, placer.meshName(), axes, kind);
  }
  /// Pieces of the present axes become those of `target`, parts stay what they
  /// are.
  void permute(const TensorSharding &target, FlatSymbolRefAttr sourceMesh) {
    SmallVector<AxisList> wanted;
    for (const DimSharding &dim : target.dims)
      wanted.push_back(dim.axes);
    auto write = [&](ArrayRef<AxisList> axesPerDim, const AxisList &parts) {
      auto toList = [&](const AxisList &axes) {
        return sdy::AxisRefListAttr::get(builder.getContext(),
                                         fromAxisList(axes, placer.mesh()));
      };
      auto lists = llvm::map_to_vector(axesPerDim, toList);
      if (!target.unreduced.empty())
        lists.push_back(toList(parts));
      return sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists);
    };
    current = spmd::CollectivePermuteOp::create(
        builder, loc, current.getType(), current, write(dims, parts),
        write(wanted, target.unreduced.sorted()),
        FlatSymbolRefAttr::get(builder.getContext(), placer.meshName()),
        sourceMesh);
    dims = std::move(wanted);
  }
  /// Axes that cut dim `source` come to cut dim `target`.
  void move(int64_t source, int64_t target, sdy::AxisRefListAttr axes) {
    dims[source] = dropSuffix(dims[source], axes);
    makeDivisible(target, axes);
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[source] *= numShards(axes);
    shape[target] /= numShards(axes);
    current = spmd::AllToAllOp::create(builder, loc, type.clone(shape), current,
                                       /*split_dim=*/target,
                                       /*concat_dim=*/source, placer.meshName(),
                                       axes);
    recut(source, dims[source], plainSize(source));
  }

  /// What is whole along `axes` stays so on the first device along them; the
  /// others have `neutral`.
  void keepOnOwner(sdy::AxisRefListAttr axes, Value neutral) {
    auto type = cast<RankedTensorType>(current.getType());
    if (type.getRank() == 0)
      current = spmd::PackOp::create(builder, loc, type.clone({1}), current);
    // The first window is the tensor, the others lie behind its end.
    int64_t size = localSize(0);
    current = buildWindow(builder, loc, current, neutral, placer,
                          {/*dim=*/0, size, /*start=*/0, /*step=*/size, size,
                           AxisList(), read(axes)});
    if (type.getRank() == 0)
      current = spmd::UnpackOp::create(builder, loc, TypeRange(type), current)
                    .getResult(0);
  }
  /// Pieces along `axes` become summands of all that the axes cut: a device
  /// has its piece, and `neutral` in the place of the others'.
  void surround(int64_t dim, sdy::AxisRefListAttr axes, Value neutral) {
    dims[dim] = dropSuffix(dims[dim], axes);
    int64_t size = localSize(dim);
    current = buildWindow(builder, loc, current, neutral, placer,
                          {dim, size, /*start=*/0, /*step=*/-size,
                           size * numShards(axes), AxisList(), read(axes)});
    recut(dim, dims[dim], plainSize(dim));
  }

private:
  AxisList read(sdy::AxisRefListAttr axes) const {
    return toAxisList(axes.getValue(), placer.mesh());
  }
  int64_t numShards(sdy::AxisRefListAttr axes) const {
    return read(axes).numShards();
  }
  AxisList dropSuffix(const AxisList &list, sdy::AxisRefListAttr axes) const {
    AxisList rest;
    list.suffixOfSize(numShards(axes), &rest);
    return rest;
  }
  int64_t localSize(int64_t dim) const {
    return cast<RankedTensorType>(current.getType()).getDimSize(dim);
  }
  /// The dim's size on a device under the present axes.
  int64_t plainSize(int64_t dim) const {
    return llvm::divideCeil(globalType.getDimSize(dim), dims[dim].numShards());
  }
  RankedTensorType resized(int64_t dim, int64_t size) const {
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return type.clone(shape);
  }
  /// Pieces of dim `dim`, which `before` cuts, become those of `size` under the
  /// present axes.
  void recut(int64_t dim, const AxisList &before, int64_t size) {
    current = buildWindow(builder, loc, current, /*fill=*/Value(), placer,
                          {dim, globalType.getDimSize(dim), /*start=*/0,
                           /*step=*/size, size, before, dims[dim]});
  }
  /// `axes` come to cut `dim` further: makes its present pieces so large that
  /// they divide them, into pieces of the size that `dim` has then.
  void makeDivisible(int64_t dim, sdy::AxisRefListAttr axes) {
    AxisList after = dims[dim];
    after.append(read(axes));
    int64_t size =
        llvm::divideCeil(globalType.getDimSize(dim), after.numShards());
    recut(dim, dims[dim], size * numShards(axes));
    dims[dim] = after;
  }

  Value current;
  RankedTensorType globalType;
  SmallVector<AxisList, 4> dims;
  /// What the value was in parts along at first.
  AxisList parts;
  const Placer &placer;
  OpBuilder &builder;
  Location loc;
};

/// What does not count in the reduction that the result of `op` is a part of;
/// null, with an error, if there is nothing like that.
Value buildNeutral(Operation *op, const Placer &placer, OpBuilder &builder) {
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  ReductionKind kind =
      toSharding(sdy::getSharding(op->getResult(0)), placer.mesh()).kind;
  if (DenseElementsAttr neutral = getNeutralElement(element, kind))
    return sdy::ConstantOp::create(builder, op->getLoc(), neutral);
  op->emitError() << "makes parts of a " << toString(kind) << " of elements "
                  << element << " that have no neutral one; expected numbers";
  return nullptr;
}

/// Calls `body(dim, axes)` for each dim that has axes.
template <typename Body>
void forEachDim(sdy::ListOfAxisRefListsAttr axesPerDim, Body body) {
  for (auto [dim, axes] : llvm::enumerate(axesPerDim.getValue()))
    if (!axes.getValue().empty())
      body(dim, axes);
}

} // namespace

FailureOr<Value> buildLocalCollective(Operation *op, Value operand,
                                      const Layout &layout,
                                      const Placer &placer,
                                      FlatSymbolRefAttr sourceMesh,
                                      OpBuilder &builder) {
  auto globalType = cast<RankedTensorType>(op->getOperand(0).getType());
  LocalChain chain(operand, globalType, layout, placer, builder, op->getLoc());
  auto build =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](sdy::AllGatherOp gather) {
            forEachDim(gather.getGatheringAxes(), [&](int64_t dim, auto axes) {
              chain.gather(dim, axes);
            });
            return success();
          })
          .Case([&](sdy::AllSliceOp slice) {
            forEachDim(slice.getSlicingAxes(),
                       [&](int64_t dim, auto axes) { chain.slice(dim, axes); });
            return success();
          })
          .Case([&](sdy::ReduceScatterOp scatter) {
            forEachDim(scatter.getReduceScatterAxes(),
                       [&](int64_t dim, auto axes) {
                         chain.reduceScatter(dim, scatter.getKind(), axes);
                       });
            return success();
          })
          .Case([&](sdy::AllReduceOp reduce) {
            chain.allReduce(reduce.getKind(), reduce.getReductionAxes());
            return success();
          })
          .Case([&](sdy::CollectivePermuteOp permute) {
            chain.permute(toSharding(permute.getOutSharding(), placer.mesh()),
                          sourceMesh);
            return success();
          })
          .Case([&](sdy::AllToAllOp allToAll) {
            for (sdy::AllToAllParamAttr param : allToAll.getParams().getValue())
              chain.move(
                  param.getSrcDim(), param.getTgtDim(),
                  sdy::AxisRefListAttr::get(op->getContext(), param.getAxes()));
            return success();
          })
          .Case([&](sdy::ReplicatedToUnreducedOp whole) {
            // As often as one likes.
            if (toSharding(whole.getOutSharding(), placer.mesh()).kind !=
                ReductionKind::Sum)
              return success();
            Value neutral = buildNeutral(op, placer, builder);
            if (neutral)
              chain.keepOnOwner(whole.getAxes(), neutral);
            return success(neutral != nullptr);
          })
          .Case([&](sdy::ShardedToUnreducedOp pieces) {
            Value neutral = buildNeutral(op, placer, builder);
            if (!neutral)
              return LogicalResult(failure());
            forEachDim(pieces.getAxes(), [&](int64_t dim, auto axes) {
              chain.surround(dim, axes, neutral);
            });
            return LogicalResult(success());
          })
          .Default([](Operation *op) {
            return op->emitError("has no form on local types yet; rewrite it "
                                 "by other collectives");
          });
  if (failed(build))
    return failure();
  return chain.value();
}

Value buildPiece(Value whole, const Layout &layout, const Placer &placer,
                 OpBuilder &builder, Location loc) {
  auto type = cast<RankedTensorType>(whole.getType());
  LocalChain chain(whole, type, Layout::replicated(type.getShape()), placer,
                   builder, loc);
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    if (!axes.empty())
      chain.slice(dim,
                  sdy::AxisRefListAttr::get(builder.getContext(),
                                            fromAxisList(axes, placer.mesh())));
  return chain.value();
}

} // namespace shardonnay
