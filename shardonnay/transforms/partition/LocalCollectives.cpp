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
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// A local value that grows op by op; each method appends one.
class LocalChain {
public:
  LocalChain(Value value, const Placer &placer, OpBuilder &builder,
             Location loc)
      : current(value), placer(placer), builder(builder), loc(loc) {}

  Value value() const { return current; }

  void gather(int64_t dim, sdy::AxisRefListAttr axes) {
    current =
        spmd::AllGatherOp::create(builder, loc, grown(dim, numShards(axes)),
                                  current, dim, placer.meshName(), axes);
  }
  void slice(int64_t dim, sdy::AxisRefListAttr axes) {
    current = spmd::AllSliceOp::create(builder, loc, cut(dim, numShards(axes)),
                                       current, dim, placer.meshName(), axes);
  }
  void reduceScatter(int64_t dim, ReductionKind kind,
                     sdy::AxisRefListAttr axes) {
    current = spmd::ReduceScatterOp::create(builder, loc,
                                            cut(dim, numShards(axes)), current,
                                            dim, placer.meshName(), axes, kind);
  }
  void allReduce(ReductionKind kind, sdy::AxisRefListAttr axes) {
    current = spmd::AllReduceOp::create(builder, loc, current.getType(),
                                        current, placer.meshName(), axes, kind);
  }
  /// Pieces of `source` become those of `target`, axes per dim.
  void permute(ArrayRef<AxisList> source, ArrayRef<AxisList> target) {
    auto write = [&](ArrayRef<AxisList> axesPerDim) {
      auto lists = llvm::map_to_vector(axesPerDim, [&](const AxisList &axes) {
        return sdy::AxisRefListAttr::get(builder.getContext(),
                                         fromAxisList(axes, placer.mesh()));
      });
      return sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists);
    };
    current = spmd::CollectivePermuteOp::create(
        builder, loc, current.getType(), current, write(source), write(target),
        placer.meshName());
  }
  /// Axes that cut dim `source` come to cut dim `target`.
  void move(int64_t source, int64_t target, sdy::AxisRefListAttr axes) {
    int64_t shards = numShards(axes);
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[source] *= shards;
    shape[target] /= shards;
    current = spmd::AllToAllOp::create(builder, loc, type.clone(shape), current,
                                       /*split_dim=*/target,
                                       /*concat_dim=*/source, placer.meshName(),
                                       axes);
  }

private:
  int64_t numShards(sdy::AxisRefListAttr axes) const {
    return toAxisList(axes.getValue(), placer.mesh()).numShards();
  }
  RankedTensorType grown(int64_t dim, int64_t shards) const {
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] *= shards;
    return type.clone(shape);
  }
  RankedTensorType cut(int64_t dim, int64_t shards) const {
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= shards;
    return type.clone(shape);
  }

  Value current;
  const Placer &placer;
  OpBuilder &builder;
  Location loc;
};

/// Calls `body(dim, axes)` for each dim that has axes.
template <typename Body>
void forEachDim(sdy::ListOfAxisRefListsAttr axesPerDim, Body body) {
  for (auto [dim, axes] : llvm::enumerate(axesPerDim.getValue()))
    if (!axes.getValue().empty())
      body(dim, axes);
}

} // namespace

Value buildWindow(OpBuilder &builder, Location loc, Value tensor, Value fill,
                  const Placer &placer, const Window &window) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (window.start == 0 && !fill &&
      window.size == type.getDimSize(window.dim) &&
      (window.windowAxes.empty() || window.step == window.size) &&
      window.axes == window.windowAxes)
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
                                     mesh, axes, windowAxes);
}

FailureOr<Value> buildLocalCollective(Operation *op, Value operand,
                                      const Placer &placer,
                                      OpBuilder &builder) {
  LocalChain chain(operand, placer, builder, op->getLoc());
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
            auto dims = [&](sdy::TensorShardingAttr sharding) {
              return llvm::map_to_vector(
                  toSharding(sharding, placer.mesh()).dims,
                  [](const DimSharding &dim) { return dim.axes; });
            };
            chain.permute(dims(sdy::getSharding(permute.getTensor())),
                          dims(permute.getOutSharding()));
            return success();
          })
          .Case([&](sdy::AllToAllOp allToAll) {
            for (sdy::AllToAllParamAttr param : allToAll.getParams().getValue())
              chain.move(
                  param.getSrcDim(), param.getTgtDim(),
                  sdy::AxisRefListAttr::get(op->getContext(), param.getAxes()));
            return success();
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
  LocalChain chain(whole, placer, builder, loc);
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    if (!axes.empty())
      chain.slice(dim,
                  sdy::AxisRefListAttr::get(builder.getContext(),
                                            fromAxisList(axes, placer.mesh())));
  return chain.value();
}

} // namespace shardonnay
