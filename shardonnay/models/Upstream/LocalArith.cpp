//===- LocalArith.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/LocalArith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/interfaces/NeutralElement.h"

using namespace mlir;

namespace shardonnay::upstream {

Value LocalArith::deviceIndex(LocalContext &context, const AxisList &axes) {
  Value number = context.deviceIndex(builder, loc, axes);
  Value scalar = tensor::ExtractOp::create(builder, loc, number);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    scalar);
}

Value LocalArith::shardStart(LocalContext &context, const AxisList &axes,
                             int64_t localSize) {
  if (axes.empty())
    return arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::MulIOp::create(
      builder, loc, deviceIndex(context, axes),
      arith::ConstantIndexOp::create(builder, loc, localSize));
}

void LocalArith::shiftPositions(LocalContext &context, Operation *local) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(local->getResult(0).getType()).getShape();
  Block &body = local->getRegion(0).front();
  for (auto [dim, position] : llvm::enumerate(body.getArguments())) {
    AxisList axes = axesOfDim(context, context.rule().results[0], dim);
    if (axes.empty() || position.use_empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(local);
    Value start = shardStart(context, axes, shape[dim]);
    builder.setInsertionPointToStart(&body);
    auto shifted = arith::AddIOp::create(builder, loc, position, start);
    position.replaceAllUsesExcept(shifted, shifted);
  }
}

Value LocalArith::onlyOnFirst(LocalContext &context, const AxisList &axes,
                              Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        deviceIndex(context, axes), zero);
  DenseElementsAttr nothing =
      getNeutralElement(type.getElementType(), ReductionKind::Sum);
  return arith::SelectOp::create(
      builder, loc, isFirst, tensor,
      arith::ConstantOp::create(builder, loc, nothing.resizeSplat(type)));
}

} // namespace shardonnay::upstream
