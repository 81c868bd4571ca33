//===- ShareComputations.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost computations first, so that those around them see calls:
//
// 1. Sort the computations of a depth into classes: of one name, and sharded
//    and built alike.
// 2. A class of several becomes a function and calls; one alone, its body.
//
//===----------------------------------------------------------------------===//

#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/transforms/export/OutlineComputation.h"
#include "shardonnay/transforms/export/Passes.h"
#include <map>

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SHARECOMPUTATIONSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

static Attribute orUnit(Attribute attr, MLIRContext *context) {
  return attr ? attr : UnitAttr::get(context);
}

/// Computations with different keys are not alike.
static Attribute getKey(sdy::NamedComputationOp op) {
  MLIRContext *context = op.getContext();
  return ArrayAttr::get(
      context, {op.getNameAttr(),
                TypeAttr::get(FunctionType::get(context, op.getOperandTypes(),
                                                op.getResultTypes())),
                orUnit(op.getInShardingsAttr(), context),
                orUnit(op.getOutShardingsAttr(), context)});
}

/// Shardings inside aside: each is right in the place of the other.
static bool haveAlikeBodies(sdy::NamedComputationOp a,
                            sdy::NamedComputationOp b) {
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getBody(), &b.getBody(),
      OperationEquivalence::IgnoreLocations |
          OperationEquivalence::IgnoreDiscardableAttrs);
}

static bool hasCaptures(Operation *op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return !captured.empty();
}

/// `value`, under `sharding` if that says something else.
static Value reshard(OpBuilder &builder, Location loc, Value value,
                     sdy::TensorShardingAttr sharding) {
  if (!sharding || !isa<RankedTensorType>(value.getType()) ||
      sharding == sdy::getSharding(value))
    return value;
  return sdy::ReshardOp::create(builder, loc, value, sharding);
}

/// The body in place of the computation.
static void putInPlace(sdy::NamedComputationOp op) {
  OpBuilder builder(op);
  Block &body = op.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), op.getOperands())) {
    if (argument.use_empty())
      continue;
    argument.replaceAllUsesWith(
        reshard(builder, op.getLoc(), operand, sdy::getSharding(argument)));
  }
  Operation *end = body.getTerminator();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations(), body.begin(),
                                         end->getIterator());
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), end->getOperands()))
    if (!result.use_empty())
      result.replaceAllUsesWith(
          reshard(builder, op.getLoc(), value, sdy::getSharding(result)));
  op.erase();
}

static func::FuncOp makeFunction(sdy::NamedComputationOp op,
                                 SymbolTable &symbols) {
  func::FuncOp func = outlineBody(op, symbols);
  sdy::SignatureAttributes signature(func);
  if (auto shardings = op.getOutShardingsAttr())
    for (auto [i, sharding] : llvm::enumerate(shardings.getShardings()))
      if (isa<RankedTensorType>(func.getResultTypes()[i]))
        signature.setResult(i, sdy::kShardingAttr, sharding);
  return func;
}

namespace {
using Computations = SmallVector<sdy::NamedComputationOp>;

struct ShareComputationsPass
    : impl::ShareComputationsPassBase<ShareComputationsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    std::map<int64_t, Computations, std::greater<>> byDepth;
    getOperation().walk([&](sdy::NamedComputationOp op) {
      int64_t depth = 0;
      for (auto outer = op->getParentOfType<sdy::NamedComputationOp>(); outer;
           outer = outer->getParentOfType<sdy::NamedComputationOp>())
        ++depth;
      byDepth[depth].push_back(op);
    });
    for (auto &[depth, computations] : byDepth)
      for (Computations &alike : sortIntoClasses(computations))
        replace(alike, symbols);
  }

private:
  SmallVector<Computations> sortIntoClasses(const Computations &all) {
    SmallVector<Computations> classes;
    llvm::DenseMap<Attribute, SmallVector<size_t>> classesOf;
    for (sdy::NamedComputationOp op : all) {
      if (op->getParentOfType<sdy::ManualComputationOp>() || hasCaptures(op)) {
        classes.push_back({op});
        continue;
      }
      SmallVector<size_t> &sameKey = classesOf[getKey(op)];
      auto *found = llvm::find_if(sameKey, [&](size_t i) {
        return haveAlikeBodies(classes[i].front(), op);
      });
      if (found != sameKey.end()) {
        classes[*found].push_back(op);
        continue;
      }
      sameKey.push_back(classes.size());
      classes.push_back({op});
    }
    return classes;
  }

  void replace(const Computations &alike, SymbolTable &symbols) {
    if (alike.size() == 1)
      return putInPlace(alike.front());
    func::FuncOp func;
    for (sdy::NamedComputationOp op : alike) {
      if (!func)
        func = makeFunction(op, symbols);
      replaceByCall(op, func);
    }
  }
};
} // namespace

} // namespace shardonnay
