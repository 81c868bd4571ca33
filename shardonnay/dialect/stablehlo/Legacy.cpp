//===- Legacy.cpp - older forms of other ops ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addLegacyOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Legacy.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Legacy.cpp.inc"

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                            Adaptor adaptor, Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  for (int64_t size : shape)
    if (size < 0)
      return emitOptionalError(location, "broadcasts to the negative size ",
                               size);
  llvm::append_range(shape, operand.getShape());
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return success();
}
