//===- SliceGuard.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/SliceGuard.h"

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

/// The vectors along `vectorDim` of `indices` are one.
static bool isOnePlace(Value indices, int64_t vectorDim) {
  int64_t places = 1;
  auto shape = cast<RankedTensorType>(indices.getType()).getShape();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(dim) != vectorDim)
      places *= size;
  return places == 1;
}

/// `op` takes one piece out of its first operand, at a place that is data.
static bool takesOnePiece(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](stablehlo::DynamicSliceOp slice) {
        return llvm::any_of(slice.getStartIndices(), [](Value start) {
          return !start.getDefiningOp<stablehlo::ConstantOp>();
        });
      })
      .Case([](stablehlo::GatherOp gather) {
        return isOnePlace(gather.getStartIndices(),
                          gather.getDimensionNumbers().getIndexVectorDim());
      })
      .Case([](stablehlo::ScatterOp scatter) {
        return isOnePlace(
            scatter.getScatterIndices(),
            scatter.getScatterDimensionNumbers().getIndexVectorDim());
      })
      .Default(false);
}

static Value barrier(OpBuilder &builder, Value value) {
  return stablehlo::OptimizationBarrierOp::create(
             builder, value.getLoc(), TypeRange(value.getType()), value)
      ->getResult(0);
}

Value guardOperand(OpBuilder &builder, Value operand) {
  Operation *source = operand.getDefiningOp();
  if (!source || isa<stablehlo::ScatterOp>(source) || !takesOnePiece(source))
    return operand;
  return barrier(builder, operand);
}

Value guardPiece(OpBuilder &builder, Value piece, Value::user_range users) {
  return llvm::any_of(users, takesOnePiece) ? barrier(builder, piece) : piece;
}

} // namespace shardonnay
