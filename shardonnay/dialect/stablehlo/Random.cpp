//===- Random.cpp - random numbers ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Random.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Random.cpp.inc"

LogicalResult RngOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                      Adaptor adaptor, Types &types) {
  Type element = getElementTypeOrSelf(adaptor.getA());
  auto shapeType = dyn_cast<RankedTensorType>(adaptor.getShape().getType());
  if (!shapeType || shapeType.getRank() != 1)
    return emitOptionalError(location, "expected the shape as one list, got ",
                             adaptor.getShape().getType());
  if (adaptor.getRngDistribution() == RngDistribution::NORMAL &&
      !isa<FloatType>(element))
    return emitOptionalError(location,
                             "expected a normal distribution of "
                             "floats, got ",
                             element);
  SmallVector<int64_t> shape(shapeType.getDimSize(0), ShapedType::kDynamic);
  if (DenseIntElementsAttr sizes;
      matchPattern(adaptor.getShape(), m_Constant(&sizes)))
    for (auto [size, value] : llvm::zip(shape, sizes.getValues<APInt>())) {
      size = value.getSExtValue();
      if (size < 0)
        return emitOptionalError(location, "expected sizes of 0 or more, got ",
                                 size);
    }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  if (areCompatible(getInitialState().getType(), getOutputState().getType()))
    return success();
  return shardonnay::pointAt(
      emitOpError("expected the next state to have type ")
          << getInitialState().getType() << " like the first one, got "
          << getOutputState().getType(),
      getInitialState().getLoc(), "the first state is made here");
}
