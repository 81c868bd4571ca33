//===- TensorIndexed.cpp - sizes, positions, slices by index --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/interfaces/BatchingDims.h"
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

/// A gathered dim of the source that is read along a dim of the places at each
/// one's own number there, which is `column` of the place.
struct Batching {
  int64_t sourceDim, placeDim, column;
};

/// Those that `sdy.batching_dims` says; nothing if it says what cannot be.
std::optional<SmallVector<Batching>> batchingOf(tensor::GatherOp op) {
  SmallVector<Batching> found;
  auto pairs = op->getAttrOfType<DenseI64ArrayAttr>(kBatchingDimsAttr);
  if (!pairs)
    return found;
  ArrayRef<int64_t> source = shapeOf(op.getSource()), dims = op.getGatherDims();
  ArrayRef<int64_t> places = shapeOf(op.getIndices());
  llvm::SmallDenseSet<int64_t> seen;
  if (pairs.size() % 2 != 0 ||
      !op.getIndices().getType().getElementType().isIndex())
    return std::nullopt;
  for (int64_t i = 0; i < pairs.size(); i += 2) {
    int64_t sourceDim = pairs[i], placeDim = pairs[i + 1];
    const int64_t *at = llvm::find(dims, sourceDim);
    if (at == dims.end() || placeDim < 0 ||
        placeDim + 1 >= static_cast<int64_t>(places.size()) ||
        source[sourceDim] != places[placeDim] || !seen.insert(placeDim).second)
      return std::nullopt;
    found.push_back({sourceDim, placeDim, at - dims.begin()});
  }
  return found;
}

/// `places` on a device, which count along `batching` from its shard's start.
Value countFromShard(OpBuilder &builder, Location loc, Value places,
                     ArrayRef<Batching> batching) {
  auto type = cast<RankedTensorType>(places.getType());
  int64_t rank = type.getRank();
  SmallVector<Value> columns;
  for (const Batching &each : batching)
    columns.push_back(
        arith::ConstantIndexOp::create(builder, loc, each.column));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    Value place = arguments[0];
    Value column = linalg::IndexOp::create(inside, loc, rank - 1);
    for (auto [own, each] : llvm::zip_equal(columns, batching)) {
      Value isOwn = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::eq,
                                          column, own);
      Value number = linalg::IndexOp::create(inside, loc, each.placeDim);
      place = arith::SelectOp::create(inside, loc, isOwn, number, place);
    }
    linalg::YieldOp::create(inside, loc, place);
  };
  return linalg::GenericOp::create(builder, loc, type, places, empty, maps,
                                   kinds, body)
      .getResult(0);
}

/// Slices of the source at places that are data: a dim in which they are is
/// needed whole unless each is read at its own place; the others, and the
/// places, are each for itself.
struct GatherHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    auto gather = cast<tensor::GatherOp>(op);
    if (!isStatic(gather.getSource()) || !isStatic(gather.getIndices()))
      return std::nullopt;
    std::optional<SmallVector<Batching>> batching = batchingOf(gather);
    if (!batching)
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
    for (int64_t dim = 0; dim < lastPlace; ++dim) {
      const Batching *own = llvm::find_if(*batching, [&](const Batching &each) {
        return each.placeDim == dim;
      });
      int64_t sourceDim = own == batching->end() ? -1 : own->sourceDim;
      builder.add(places[dim], {sourceDim, dim}, {dim});
    }
    builder.add(places[lastPlace], {-1, lastPlace}, {-1}, kWhole);
    for (auto [index, size] : llvm::enumerate(source)) {
      int64_t dim = index;
      if (!llvm::is_contained(gather.getGatherDims(), dim)) {
        builder.add(size, {dim, -1}, {next++});
        continue;
      }
      bool isOwn = llvm::any_of(*batching, [&](const Batching &each) {
        return each.sourceDim == dim;
      });
      if (!isOwn)
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
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    SmallVector<Value> local(operands);
    auto batching = batchingOf(cast<tensor::GatherOp>(op));
    if (batching && !batching->empty())
      local[1] = countFromShard(builder, op->getLoc(), local[1], *batching);
    return cloneLocally(op, builder, local, context);
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
