//===- Mhlo.cpp - what StableHLO's text keeps of HLO ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/mhlo/Mhlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "shardonnay/dialect/chlo/Chlo.h"

using namespace mlir;
using namespace mlir::mhlo;

#include "shardonnay/dialect/mhlo/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "shardonnay/dialect/mhlo/Ops.cpp.inc"

void MhloDialect::initialize() {
  allowUnknownOperations();
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/mhlo/Ops.cpp.inc"
      >();
}

Attribute MhloDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  auto name = StringAttr::get(getContext(), getNamespace());
  if (!type)
    type = NoneType::get(getContext());
  return OpaqueAttr::get(name, parser.getFullSymbolSpec(), type);
}

/// HLO writes what it constrains as a copy with a sharding, which a reshape to
/// the same shape carries on.
LogicalResult CopyOp::canonicalize(CopyOp op, PatternRewriter &rewriter) {
  Value value = op.getOperand();
  if (DictionaryAttr others = op->getDiscardableAttrDictionary();
      !others.empty()) {
    auto reshape = stablehlo::ReshapeOp::create(rewriter, op.getLoc(),
                                                op.getType(), value);
    reshape->setDiscardableAttrs(others);
    value = reshape;
  }
  rewriter.replaceOp(op, value);
  return success();
}

LogicalResult ErfOp::canonicalize(ErfOp op, PatternRewriter &rewriter) {
  auto erf =
      chlo::ErfOp::create(rewriter, op.getLoc(), op.getType(), op.getOperand());
  erf->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, erf);
  return success();
}
