//===- Random.cpp - random bits -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

// `rng` has no model: each device would have numbers of its own.

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

/// Which bit is where depends on the whole shape: every device makes all bits
/// and takes its own.
static FailureOr<SmallVector<Value>>
rngBitGeneratorLocally(RngBitGeneratorOp op, OpBuilder &builder,
                       ValueRange operands, LocalContext &context) {
  Location loc = op.getLoc();
  auto global = op.getOutput().getType();
  auto whole =
      RngBitGeneratorOp::create(builder, loc, context.resultTypes()[0], global,
                                op.getRngAlgorithm(), operands[0]);
  auto local = cast<RankedTensorType>(context.resultTypes()[1]);
  LocalMath math(builder, loc);
  Value bits = whole.getOutput();
  for (int64_t dim = 0; dim < global.getRank(); ++dim) {
    AxisList axes = axesOfDim(context, context.rule().results[1], dim);
    if (axes.empty())
      continue;
    int64_t size = local.getDimSize(dim);
    // Pieces of an uneven dim reach past its end.
    int64_t padded = size * axes.numShards();
    bits = context.fetchWindow(builder, loc, bits, dim, global.getDimSize(dim),
                               AxisList(), /*start=*/0, /*step=*/0, padded,
                               /*fill=*/Value());
    auto type = cast<RankedTensorType>(bits.getType());
    IntegerType position = math.positionType(padded);
    SmallVector<Value> starts(
        type.getRank(), math.splat(RankedTensorType::get({}, position), 0));
    starts[dim] = math.shardStart(context, axes, size, position);
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = size;
    bits = DynamicSliceOp::create(builder, loc, bits, starts,
                                  builder.getDenseI64ArrayAttr(sizes));
  }
  return SmallVector<Value>{whole.getOutputState(), bits};
}

void shardonnay::attachRandomModels(MLIRContext &context) {
  attachRule<RngBitGeneratorOp, rngBitGeneratorRule>(context);
  attachLocal<RngBitGeneratorOp, rngBitGeneratorLocally>(context);
}
