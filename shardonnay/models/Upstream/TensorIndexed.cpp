//===- TensorIndexed.cpp - sizes, positions, slices by index --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// A size is the type's: the tensor is not looked at, however it is sharded.
struct DimHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    Value source = op->getOperand(0);
    if (!isStatic(source))
      return std::nullopt;
    ArrayRef<int64_t> shape = shapeOf(source);
    FactorRuleBuilder builder({static_cast<int64_t>(shape.size()), 0}, {0});
    for (auto [dim, size] : llvm::enumerate(shape))
      builder.add(size, {static_cast<int64_t>(dim), -1}, {-1},
                  FactorKind::NeedReplication);
    return builder.build();
  }
  static bool mayShard(Operation *, const FactorRule &, int32_t) {
    return true;
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands, LocalContext &) {
    Location loc = op->getLoc();
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
    auto makeSize = [&](int64_t size) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, size);
    };
    std::optional<int64_t> dim = cast<tensor::DimOp>(op).getConstantIndex();
    if (dim && *dim >= 0 && *dim < static_cast<int64_t>(shape.size()))
      return SmallVector<Value>{makeSize(shape[*dim])};
    Value sizes = tensor::FromElementsOp::create(
        builder, loc, llvm::map_to_vector(shape, makeSize));
    Value size = tensor::ExtractOp::create(builder, loc, sizes, operands[1]);
    return SmallVector<Value>{size};
  }
};

/// Slices of the source at places that are data: a dim in which they are is
/// needed whole; the others, and the places, are each for itself.
struct GatherHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    auto gather = cast<tensor::GatherOp>(op);
    if (!isStatic(gather.getSource()) || !isStatic(gather.getIndices()))
      return std::nullopt;
    constexpr auto kWhole = FactorKind::NeedReplication;
    ArrayRef<int64_t> source = shapeOf(gather.getSource());
    ArrayRef<int64_t> places = shapeOf(gather.getIndices());
    int64_t rank = shapeOf(gather.getResult()).size();
    int64_t lastPlace = places.size() - 1, next = lastPlace;
    bool keepsDims = rank == lastPlace + static_cast<int64_t>(source.size());
    FactorRuleBuilder builder({static_cast<int64_t>(source.size()),
                               static_cast<int64_t>(places.size())},
                              {rank});
    for (int64_t dim = 0; dim < lastPlace; ++dim)
      builder.add(places[dim], {-1, dim}, {dim});
    builder.add(places[lastPlace], {-1, lastPlace}, {-1}, kWhole);
    for (auto [index, size] : llvm::enumerate(source)) {
      int64_t dim = index;
      if (!llvm::is_contained(gather.getGatherDims(), dim)) {
        builder.add(size, {dim, -1}, {next++});
        continue;
      }
      builder.add(size, {dim, -1}, {-1}, kWhole);
      if (keepsDims)
        builder.add(1, {-1, -1}, {next++});
    }
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial[0] && !partial[1];
  }
};

/// Elements by their positions, which on a device are not the tensor's.
struct GenerateHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    Value result = op->getResult(0);
    if (!isStatic(result) || op->getNumOperands() != 0)
      return std::nullopt;
    ArrayRef<int64_t> shape = shapeOf(result);
    FactorRuleBuilder builder({}, {static_cast<int64_t>(shape.size())});
    for (auto [dim, size] : llvm::enumerate(shape))
      builder.add(size, {}, {static_cast<int64_t>(dim)});
    return builder.build();
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    SmallVector<Value> results = cloneLocally(op, builder, operands, context);
    LocalArith(builder, op->getLoc())
        .shiftPositions(context, results[0].getDefiningOp());
    return results;
  }
};
} // namespace

void shardonnay::upstream::attachTensorIndexedModels(MLIRContext &context) {
  attach<DimHooks, tensor::DimOp>(context);
  attach<GatherHooks, tensor::GatherOp>(context);
  attach<GenerateHooks, tensor::GenerateOp>(context);
}
