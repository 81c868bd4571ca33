//===- Composite.cpp - functions that engines may know --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A composite has the rule that the user gives it. Import puts the
// decomposition of all others in their place (sdy-expand-composites), so the
// ones that come to be computed on local shards are element-wise.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/SameShape.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// `whole` on tensors of shape `local`: one function for each, beside it.
static func::FuncOp decompositionOn(func::FuncOp whole,
                                    ArrayRef<int64_t> local) {
  auto module = whole->getParentOfType<ModuleOp>();
  std::string name = (whole.getSymName() + "_on_").str();
  llvm::raw_string_ostream os(name);
  llvm::interleave(local, os, "x");
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  func::FuncOp made = whole.clone();
  made.setSymName(name);
  Block &body = made.getBody().front();
  changeShape(body, local);
  made.setType(FunctionType::get(made.getContext(), body.getArgumentTypes(),
                                 body.getTerminator()->getOperandTypes()));
  module.push_back(made);
  return made;
}

static LocalResults compositeLocally(CompositeOp op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
  SmallVector<Value> results = cloneLocally(op, builder, operands, context);
  if (op->getResultTypes() == context.resultTypes())
    return results;
  auto whole = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getDecompositionAttr());
  if (!cast<ShardingRuleOpInterface>(op.getOperation()).isElementwise()) {
    op.emitError(
        "is sharded, but its decomposition is not element-wise on tensors "
        "of one shape; leave out the sharding rule, so that it is "
        "computed as its decomposition");
    return failure();
  }
  func::FuncOp local = decompositionOn(whole, shapeOf(results.front()));
  cast<CompositeOp>(results.front().getDefiningOp())
      .setDecompositionAttr(FlatSymbolRefAttr::get(local.getSymNameAttr()));
  return results;
}

namespace {
struct CompositeRule
    : ShardingRuleOpInterface::ExternalModel<CompositeRule, CompositeOp> {
  /// The user's, which is written at the op.
  std::optional<FactorRule> getFactorRule(Operation *) const {
    return std::nullopt;
  }
  bool isElementwise(Operation *op) const {
    auto whole = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, cast<CompositeOp>(op).getDecompositionAttr());
    return whole && !whole.isExternal() && whole.getBody().hasOneBlock() &&
           commonShape(whole.getBody().front());
  }
};
} // namespace

void shardonnay::attachCompositeModels(MLIRContext &context) {
  CompositeOp::attachInterface<CompositeRule>(context);
  attachLocal<CompositeOp, compositeLocally>(context);
}
