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
#include "shardonnay/interfaces/NeutralElement.h"
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

/// `places` with those in column `columns[n]` replaced by what `replace` makes
/// of n and the place.
Value replaceColumns(
    OpBuilder &builder, Location loc, Value places, ArrayRef<Value> columns,
    llvm::function_ref<Value(OpBuilder &, size_t, Value)> replace) {
  auto type = cast<RankedTensorType>(places.getType());
  int64_t rank = type.getRank();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    Value place = arguments[0];
    Value column = linalg::IndexOp::create(inside, loc, rank - 1);
    for (auto [number, own] : llvm::enumerate(columns)) {
      Value isOwn = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::eq,
                                          column, own);
      place = arith::SelectOp::create(
          inside, loc, isOwn, replace(inside, number, arguments[0]), place);
    }
    linalg::YieldOp::create(inside, loc, place);
  };
  return linalg::GenericOp::create(builder, loc, type, places, empty, maps,
                                   kinds, body)
      .getResult(0);
}

/// `places` on a device, which count along `batching` from its shard's start.
Value countFromShard(OpBuilder &builder, Location loc, Value places,
                     ArrayRef<Batching> batching) {
  SmallVector<Value> columns;
  for (const Batching &each : batching)
    columns.push_back(
        arith::ConstantIndexOp::create(builder, loc, each.column));
  return replaceColumns(builder, loc, places, columns,
                        [&](OpBuilder &inside, size_t number, Value) -> Value {
                          return linalg::IndexOp::create(
                              inside, loc, batching[number].placeDim);
                        });
}

/// A gathered dim of the source of which a device has a part, whose places are
/// in `column`.
struct ShardedColumn {
  int64_t size, localSize;
  Value column, start;
};

/// Builds a gather of a part of the source.
class PartialGather {
public:
  PartialGather(OpBuilder &builder, Location loc,
                ArrayRef<ShardedColumn> sharded)
      : builder(builder), loc(loc), sharded(sharded) {}

  /// `places` in the part; those of other devices are anywhere in it.
  Value moveToPart(Value places);
  /// Which places are in the part: one truth for all columns.
  Value arePresent(Value places);
  /// `found` where `present`, else what adds nothing to it.
  Value maskAbsent(Value found, Value present, DenseElementsAttr nothing);

private:
  /// Where `place` is from the part's start. The whole op takes a place
  /// outside of the source for the nearest one inside, too.
  Value positionIn(OpBuilder &inside, const ShardedColumn &each, Value place);

  OpBuilder &builder;
  Location loc;
  ArrayRef<ShardedColumn> sharded;
};

Value clampTo(OpBuilder &builder, Location loc, Value place, int64_t size) {
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  Value last = arith::ConstantIndexOp::create(builder, loc, size - 1);
  return arith::MinSIOp::create(
      builder, loc, arith::MaxSIOp::create(builder, loc, place, first), last);
}

Value castTo(OpBuilder &builder, Location loc, Type type, Value place) {
  return place.getType() == type
             ? place
             : arith::IndexCastOp::create(builder, loc, type, place);
}

Value PartialGather::positionIn(OpBuilder &inside, const ShardedColumn &each,
                                Value place) {
  Value index = castTo(inside, loc, inside.getIndexType(), place);
  return arith::SubIOp::create(
      inside, loc, clampTo(inside, loc, index, each.size), each.start);
}

Value PartialGather::moveToPart(Value places) {
  Type type = getElementTypeOrSelf(places.getType());
  SmallVector<Value> columns =
      llvm::map_to_vector(sharded, std::mem_fn(&ShardedColumn::column));
  return replaceColumns(builder, loc, places, columns,
                        [&](OpBuilder &inside, size_t number, Value place) {
                          const ShardedColumn &each = sharded[number];
                          return castTo(inside, loc, type,
                                        clampTo(inside, loc,
                                                positionIn(inside, each, place),
                                                each.localSize));
                        });
}

Value PartialGather::arePresent(Value places) {
  auto type = cast<RankedTensorType>(places.getType());
  int64_t rank = type.getRank();
  auto truths =
      RankedTensorType::get(type.getShape().drop_back(), builder.getI1Type());
  Value init = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(truths, true));
  AffineMap whole = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.back() = utils::IteratorType::reduction;
  auto body = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    Value column = linalg::IndexOp::create(inside, loc, rank - 1);
    Value present = arguments[1];
    for (const ShardedColumn &each : sharded) {
      Value isOther = arith::CmpIOp::create(
          inside, loc, arith::CmpIPredicate::ne, column, each.column);
      Value isInside = arith::CmpIOp::create(
          inside, loc, arith::CmpIPredicate::ult,
          positionIn(inside, each, arguments[0]),
          arith::ConstantIndexOp::create(inside, loc, each.localSize));
      present = arith::AndIOp::create(
          inside, loc, present,
          arith::OrIOp::create(inside, loc, isOther, isInside));
    }
    linalg::YieldOp::create(inside, loc, present);
  };
  return linalg::GenericOp::create(
             builder, loc, truths, places, init,
             ArrayRef<AffineMap>{whole, whole.dropResult(rank - 1)}, kinds,
             body)
      .getResult(0);
}

Value PartialGather::maskAbsent(Value found, Value present,
                                DenseElementsAttr nothing) {
  auto type = cast<RankedTensorType>(found.getType());
  int64_t rank = type.getRank();
  int64_t batchRank = cast<RankedTensorType>(present.getType()).getRank();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  AffineMap whole = builder.getMultiDimIdentityMap(rank);
  AffineMap batch = whole.getMajorSubMap(batchRank);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value zero = arith::ConstantOp::create(builder, loc, nothing);
  zero = tensor::ExtractOp::create(builder, loc, zero);
  auto body = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    Value element =
        arith::SelectOp::create(inside, loc, arguments[0], arguments[1], zero);
    linalg::YieldOp::create(inside, loc, element);
  };
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{present, found}, empty,
             ArrayRef<AffineMap>{batch, whole, whole}, kinds, body)
      .getResult(0);
}

/// Sums of one bit wrap; "or" is as good.
ReductionKind combinerOf(tensor::GatherOp op) {
  return op.getType().getElementType().isInteger(1) ? ReductionKind::Max
                                                    : ReductionKind::Sum;
}

/// Null for elements that are no numbers.
DenseElementsAttr nothingOf(tensor::GatherOp op) {
  return getNeutralElement(op.getType().getElementType(), combinerOf(op));
}

/// Slices of the source at places that are data: of a dim in which they are, a
/// device finds those in its part unless each is read at its own place; the
/// others, and the places, are each for itself.
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
        builder.add(size, {dim, -1}, {-1},
                    size > 1 && nothingOf(gather) ? FactorKind::Indexed
                                                  : kWhole,
                    combinerOf(gather));
      if (keepsDims)
        builder.add(1, {-1, -1}, {next++});
    }
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial[0] && !partial[1];
  }
  static bool mayShard(Operation *, const FactorRule &rule, int32_t factor) {
    return rule.factors[factor].kind == FactorKind::Indexed;
  }
  /// The gathered dims that no place has as its own number, and are sharded.
  static SmallVector<ShardedColumn> shardedColumns(tensor::GatherOp op,
                                                   OpBuilder &builder,
                                                   Value source,
                                                   LocalContext &context) {
    SmallVector<ShardedColumn> sharded;
    for (auto [column, dim] : llvm::enumerate(op.getGatherDims())) {
      const TensorMapping &mapping = context.rule().operands[0];
      AxisList axes = axesOfDim(context, mapping, dim);
      int32_t factor = mapping.dims[dim].front();
      if (axes.empty() ||
          context.rule().factors[factor].kind != FactorKind::Indexed)
        continue;
      int64_t localSize = shapeOf(source)[dim];
      sharded.push_back(
          {shapeOf(op.getSource())[dim], localSize,
           arith::ConstantIndexOp::create(builder, op.getLoc(), column),
           LocalArith(builder, op.getLoc())
               .shardStart(context, axes, localSize)});
    }
    return sharded;
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    auto gather = cast<tensor::GatherOp>(op);
    SmallVector<Value> local(operands);
    auto batching = batchingOf(gather);
    if (batching && !batching->empty())
      local[1] = countFromShard(builder, op->getLoc(), local[1], *batching);
    SmallVector<ShardedColumn> sharded =
        shardedColumns(gather, builder, operands[0], context);
    if (sharded.empty())
      return cloneLocally(op, builder, local, context);
    PartialGather part(builder, op->getLoc(), sharded);
    Value present = part.arePresent(local[1]);
    local[1] = part.moveToPart(local[1]);
    Value found = cloneLocally(op, builder, local, context)[0];
    return SmallVector<Value>{
        part.maskAbsent(found, present, nothingOf(gather))};
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
