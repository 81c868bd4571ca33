//===- Random.cpp - random bits -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

static std::optional<FactorRule> rngBitGeneratorRule(RngBitGeneratorOp op) {
  ArrayRef<int64_t> state = shapeOf(op.getInitialState());
  ArrayRef<int64_t> output = shapeOf(op.getOutput());
  int64_t stateRank = state.size(), rank = output.size();
  FactorRuleBuilder builder({stateRank}, {stateRank, rank});
  for (int64_t dim = 0; dim < stateRank; ++dim)
    builder.add(state[dim], {dim}, {dim, -1}, FactorKind::NeedReplication,
                ReductionKind::Sum, /*blocked=*/true);
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(output[dim], {-1}, {-1, dim});
  return builder.build();
}

static int64_t bytesOf(Type number) {
  return llvm::divideCeil(number.getIntOrFloatBitWidth(), 8);
}

/// The result alone is sharded; its sizes are data that is known.
static std::optional<FactorRule> rngRule(RngOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({0, 0, 1}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {-1, -1, -1}, {dim});
  builder.add(rank, {-1, -1, 0}, {-1}, FactorKind::NeedReplication);
  builder.addSum({/*tensor=*/3, bytesOf(getElementTypeOrSelf(op.getResult())),
                  /*isWhole=*/true});
  return builder.build();
}

/// This device's shard of `whole`, whose dims are sharded as `mapping` says
/// into shards of the sizes that `local` has.
static Value takeShard(OpBuilder &builder, Location loc, Value whole,
                       const TensorMapping &mapping, RankedTensorType local,
                       LocalContext &context) {
  LocalMath math(builder, loc);
  for (int64_t dim = 0; dim < local.getRank(); ++dim) {
    AxisList axes = axesOfDim(context, mapping, dim);
    if (axes.empty())
      continue;
    int64_t size = local.getDimSize(dim);
    // Shards of an uneven dim reach past its end.
    int64_t padded = size * axes.numShards();
    auto type = cast<RankedTensorType>(whole.getType());
    if (padded != type.getDimSize(dim)) {
      SmallVector<int64_t> none(type.getRank(), 0), high(none);
      high[dim] = padded - type.getDimSize(dim);
      Value zero = math.zero(RankedTensorType::get({}, type.getElementType()));
      whole = PadOp::create(builder, loc, whole, zero, none, high, none);
      type = cast<RankedTensorType>(whole.getType());
    }
    IntegerType position = math.positionType(padded);
    SmallVector<Value> starts(
        type.getRank(), math.splat(RankedTensorType::get({}, position), 0));
    starts[dim] = math.shardStart(context, axes, size, position);
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = size;
    whole = DynamicSliceOp::create(builder, loc, whole, starts,
                                   builder.getDenseI64ArrayAttr(sizes));
  }
  return whole;
}

/// Which bit is where depends on the whole shape: every device makes all bits
/// and takes its own.
static LocalResults rngBitGeneratorLocally(RngBitGeneratorOp op,
                                           OpBuilder &builder,
                                           ValueRange operands,
                                           LocalContext &context) {
  Location loc = op.getLoc();
  auto whole = RngBitGeneratorOp::create(builder, loc, context.resultTypes()[0],
                                         op.getOutput().getType(),
                                         op.getRngAlgorithm(), operands[0]);
  Value bits =
      takeShard(builder, loc, whole.getOutput(), context.rule().results[1],
                cast<RankedTensorType>(context.resultTypes()[1]), context);
  return SmallVector<Value>{whole.getOutputState(), bits};
}

namespace {
/// Devices need not have the same numbers: all take those of the first one.
/// Inside a manual computation each part is a program of its own.
struct RngModel : LocalComputeOpInterface::ExternalModel<RngModel, RngOp> {
  bool hasEffectOnce(Operation *) const { return true; }
  LocalResults computeLocally(Operation *op, OpBuilder &builder,
                              ValueRange operands,
                              LocalContext &context) const {
    auto rng = cast<RngOp>(op);
    Value whole = RngOp::create(
        builder, op->getLoc(), rng.getResult().getType(), operands[0],
        operands[1], operands[2], rng.getRngDistribution());
    if (AxisList axes = context.deviceAxes(); !axes.empty()) {
      LocalMath math(builder, op->getLoc());
      whole = context.allReduce(builder, op->getLoc(),
                                math.onlyOnFirst(context, axes, whole), axes);
    }
    auto local = cast<RankedTensorType>(context.resultTypes()[0]);
    return SmallVector<Value>{takeShard(builder, op->getLoc(), whole,
                                        context.rule().results[0], local,
                                        context)};
  }
};
} // namespace

void shardonnay::attachRandomModels(MLIRContext &context) {
  attachRule<RngBitGeneratorOp, rngBitGeneratorRule>(context);
  attachLocal<RngBitGeneratorOp, rngBitGeneratorLocally>(context);
  attachRule<RngOp, rngRule>(context);
  RngOp::attachInterface<RngModel>(context);
}
