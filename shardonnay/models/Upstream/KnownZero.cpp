//===- KnownZero.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/KnownZero.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace shardonnay::upstream {

/// What all elements are of what an op without operands makes of its `value` or
/// `values`; null if they differ, or are not known.
static Attribute getKnownSplat(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 0)
    return nullptr;
  for (StringRef name : {"value", "values"})
    if (std::optional<Attribute> attr = op->getInherentAttr(name)) {
      auto elements = dyn_cast_if_present<DenseElementsAttr>(*attr);
      if (!elements)
        return *attr;
      return elements.isSplat() ? elements.getSplatValue<Attribute>() : nullptr;
    }
  return nullptr;
}

static bool isZero(Attribute attr) {
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return number.getValue().isZero();
  if (auto number = dyn_cast_if_present<IntegerAttr>(attr))
    return number.getValue().isZero();
  if (auto parts = dyn_cast_if_present<ArrayAttr>(attr)) // of a complex number
    return llvm::all_of(parts, isZero);
  return false;
}

bool isKnownZero(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isKnownZero(fill.getInputs().front());
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::SplatOp>(op))
    return isKnownZero(op->getOperand(0));
  return isZero(getKnownSplat(value));
}

} // namespace shardonnay::upstream
