//===- LocalArith.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/LocalArith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace shardonnay::upstream {

AxisList axesOfDim(const LocalContext &context, const TensorMapping &mapping,
                   int64_t dim) {
  AxisList axes;
  for (int32_t factor : mapping.dims[dim])
    axes.append(context.factorAxes(factor));
  return axes;
}

AxisList axesOfPartialSums(const LocalContext &context) {
  const FactorRule &rule = context.rule();
  AxisList axes;
  for (auto [id, factor] : llvm::enumerate(rule.factors))
    if (rule.reducesOver(id) && factor.combiner == ReductionKind::Sum)
      axes.append(context.factorAxes(id));
  return axes;
}

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

Value LocalArith::onlyOnFirst(LocalContext &context, const AxisList &axes,
                              Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        deviceIndex(context, axes), zero);
  TypedAttr element = builder.getZeroAttr(type.getElementType());
  if (auto number = dyn_cast<FloatAttr>(element))
    element = FloatAttr::get(type.getElementType(), -number.getValue());
  Value nothing = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, Attribute(element)));
  return arith::SelectOp::create(builder, loc, isFirst, tensor, nothing);
}

} // namespace shardonnay::upstream
