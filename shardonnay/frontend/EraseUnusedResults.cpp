//===- EraseUnusedResults.cpp - generics without what nothing uses --------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each linalg.generic:
//
//  1. the results that something uses are needed, and so are those whose
//     element, as it was before, goes into a needed one or has an effect;
//  2. a generic without the others is made, if its operands still say how long
//     each loop is.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ERASEUNUSEDRESULTSPASS
#include "shardonnay/frontend/Passes.h.inc"

static llvm::SmallBitVector findNeededResults(linalg::GenericOp op) {
  llvm::SmallBitVector needed(op.getNumResults());
  Operation *yield = op.getBody()->getTerminator();
  SmallVector<Value> waiting;
  auto need = [&](unsigned number) {
    if (needed.test(number))
      return;
    needed.set(number);
    waiting.push_back(yield->getOperand(number));
  };
  for (OpResult result : op.getResults())
    if (!result.use_empty())
      need(result.getResultNumber());
  // What an op with an effect is given is needed too.
  for (Operation &inside : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&inside))
      llvm::append_range(waiting, inside.getOperands());
  llvm::DenseSet<Value> seen;
  unsigned numInputs = op.getNumDpsInputs();
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == op.getBody() &&
        argument.getArgNumber() >= numInputs)
      need(argument.getArgNumber() - numInputs);
    if (Operation *inside = value.getDefiningOp();
        inside && op->isProperAncestor(inside))
      inside->walk([&](Operation *each) {
        llvm::append_range(waiting, each->getOperands());
      });
  }
  return needed;
}

/// The body yields needed results only, and computes nothing for others.
static void shrinkBody(Block *body, unsigned numInputs,
                       const llvm::SmallBitVector &needed) {
  Operation *yield = body->getTerminator();
  llvm::SmallBitVector unneeded = ~needed;
  for (int number = unneeded.find_last(); number >= 0;
       number = unneeded.find_prev(number))
    yield->eraseOperand(number);
  for (Operation &inside : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inside))
      inside.erase();
  for (int number = unneeded.find_last(); number >= 0;
       number = unneeded.find_prev(number))
    body->eraseArgument(numInputs + number);
}

static void eraseUnusedResults(linalg::GenericOp op) {
  if (op.getNumResults() < 2 || op->use_empty() ||
      op->hasAttr(sdy::kShardingRuleAttr) || op->hasAttr(sdy::kOpShardingAttr))
    return;
  llvm::SmallBitVector needed = findNeededResults(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> outputs;
  SmallVector<AffineMap> keptMaps(
      ArrayRef(maps).take_front(op.getNumDpsInputs()));
  SmallVector<sdy::TensorShardingAttr> shardings;
  for (unsigned number : needed.set_bits()) {
    outputs.push_back(op.getOutputs()[number]);
    keptMaps.push_back(maps[op.getNumDpsInputs() + number]);
    shardings.push_back(sdy::getSharding(op.getResult(number)));
  }
  if (needed.all() ||
      !inversePermutation(concatAffineMaps(keptMaps, op.getContext())))
    return;
  OpBuilder builder(op);
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  attributes.erase(sdy::kShardingAttr);
  auto smaller = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(ValueRange(outputs)), op.getInputs(),
      outputs, builder.getAffineMapArrayAttr(keptMaps), op.getIteratorTypes(),
      op.getDocAttr(), op.getLibraryCallAttr());
  smaller->setDiscardableAttrs(attributes.getDictionary(op.getContext()));
  smaller.getRegion().takeBody(op.getRegion());
  shrinkBody(smaller.getBody(), smaller.getNumDpsInputs(), needed);
  for (auto [number, from] : llvm::enumerate(needed.set_bits())) {
    op.getResult(from).replaceAllUsesWith(smaller.getResult(number));
    if (shardings[number])
      sdy::setSharding(smaller.getResult(number), shardings[number]);
  }
  op.erase();
}

namespace {
struct EraseUnusedResultsPass
    : impl::EraseUnusedResultsPassBase<EraseUnusedResultsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<linalg::GenericOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        eraseUnusedResults(op);
    });
  }
};
} // namespace

} // namespace shardonnay
