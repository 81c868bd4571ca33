//===- SameShape.cpp - bodies that can be computed on any shape -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/SameShape.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;
using namespace shardonnay;

/// The attribute that holds a constant's elements, if all are alike.
static std::optional<NamedAttribute> splatOf(Operation *op) {
  if (op->getNumOperands() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  for (NamedAttribute attr : op->getAttrs())
    if (auto elements = dyn_cast<DenseElementsAttr>(attr.getValue());
        elements && elements.isSplat() &&
        elements.getType() == op->getResult(0).getType())
      return attr;
  return std::nullopt;
}

static bool isSameOnShards(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return op->getNumRegions() == 0 &&
         (splatOf(op) || (rule && rule.isElementwise()));
}

std::optional<SmallVector<int64_t>> shardonnay::commonShape(Block &body) {
  Operation *end = body.getTerminator();
  if (end->getNumOperands() == 0)
    return std::nullopt;
  auto first = dyn_cast<RankedTensorType>(end->getOperand(0).getType());
  if (!first || !first.hasStaticShape())
    return std::nullopt;
  ArrayRef<int64_t> shape = first.getShape();
  auto hasShape = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getShape() == shape;
  };
  auto fits = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && (type.getRank() == 0 || type.getShape() == shape);
  };
  if (!llvm::all_of(body.getArguments(), hasShape) ||
      !llvm::all_of(end->getOperands(), hasShape))
    return std::nullopt;
  for (Operation &op : body.without_terminator())
    if (!isSameOnShards(&op) || !llvm::all_of(op.getResults(), fits))
      return std::nullopt;
  return SmallVector<int64_t>(shape);
}

void shardonnay::changeShape(Block &body, ArrayRef<int64_t> local) {
  auto change = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() > 0)
      value.setType(type.clone(local));
  };
  for (Value argument : body.getArguments())
    change(argument);
  for (Operation &op : body.without_terminator()) {
    std::optional<NamedAttribute> splat = splatOf(&op);
    for (Value result : op.getResults())
      change(result);
    if (splat)
      op.setAttr(splat->getName(),
                 cast<DenseElementsAttr>(splat->getValue())
                     .resizeSplat(cast<ShapedType>(op.getResult(0).getType())));
  }
}
