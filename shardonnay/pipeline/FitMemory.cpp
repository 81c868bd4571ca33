//===- FitMemory.cpp - plans that hold no more than there is --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Nothing to do where all of the program, whole, is within the limit.
// 2. `plan`: the stages reshard, collectives and partition run on a copy whose
//    ops are numbered (by their locations, which all that is made of an op
//    inherits), and liveness says what is alive at the peak.
// 3. Which ops have a price for memory in these plans is found by
//    strategy/MemoryPrices.h.
// 4. `mark`: the prices that were found stay on the ops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/TrialPlan.h"
#include "shardonnay/strategy/MemoryPrices.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_FITMEMORYPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

constexpr int kMostPlans = 24;

using NumberLoc = FusedLocWith<IntegerAttr>;

std::optional<int64_t> readNumber(Location loc) {
  std::optional<int64_t> number;
  loc->walk([&](Location part) {
    auto numbered = dyn_cast<NumberLoc>(part);
    if (!numbered)
      return WalkResult::advance();
    number = numbered.getMetadata().getInt();
    return WalkResult::interrupt();
  });
  return number;
}

class MemoryFitter {
public:
  MemoryFitter(ModuleOp module, const PipelineOptions &options,
               const DeviceModel &model)
      : module(module), options(options), model(model) {
    module.walk<WalkOrder::PreOrder>([&](Operation *) { ++numOps; });
  }

  /// Fails, with an error, where the program can't be planned.
  LogicalResult run();

private:
  /// Nothing, and an error of a stage, if there is none.
  std::optional<PricedPlan> plan(ArrayRef<double> prices);
  static void mark(ModuleOp marked, ArrayRef<double> prices);

  ModuleOp module;
  const PipelineOptions &options;
  const DeviceModel &model;
  /// Numbered in the order of a walk.
  size_t numOps = 0;
  /// What ops would do does not depend on the prices.
  LentSolvers solvers;
};

void MemoryFitter::mark(ModuleOp marked, ArrayRef<double> prices) {
  Builder builder(marked.getContext());
  const double *price = prices.begin();
  marked.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (*price > 0)
      op->setAttr(sdy::kMemoryPriceAttr, builder.getF64FloatAttr(*price));
    ++price;
  });
}

std::optional<PricedPlan> MemoryFitter::plan(ArrayRef<double> prices) {
  OwningOpRef<ModuleOp> copy = module.clone();
  mark(*copy, prices);
  Builder builder(module.getContext());
  int64_t number = 0;
  copy->walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->setLoc(FusedLoc::get(
        {op->getLoc()}, builder.getI64IntegerAttr(number++), op->getContext()));
  });
  solvers.lendTo(*copy);
  std::optional<TrialPlan> trial =
      tryPlan(*copy, Stage::Reshard, options, model, /*saysErrors=*/true);
  if (!trial)
    return std::nullopt;
  PricedPlan result;
  result.peak = trial->peak.bytes;
  result.held = trial->peak.held;
  result.cost = trial->communication;
  copy->walk([&](spmd::BarrierOp barrier) {
    result.sendsAgain |= llvm::any_of(barrier->getUsers(), isMove);
  });
  for (Value value : trial->peak.live) {
    // What a loop carries is the loop's.
    Operation *owner = getOwnerOp(value);
    if (isa<BlockArgument>(value) && !isLoop(owner))
      continue;
    if (std::optional<int64_t> made = readNumber(owner->getLoc()))
      result.producers.push_back(*made);
  }
  return result;
}

LogicalResult MemoryFitter::run() {
  std::optional<std::vector<double>> prices =
      findMemoryPrices(numOps, options.memoryLimit, kMostPlans,
                       [&](ArrayRef<double> tried) { return plan(tried); });
  if (!prices)
    return failure();
  mark(module, *prices);
  return success();
}

struct FitMemoryPass : PricedPass<impl::FitMemoryPassBase<FitMemoryPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    if (memoryLimit == 0 || findPeakMemory(getOperation()).bytes <= memoryLimit)
      return;
    PipelineOptions options;
    options.deviceModel = deviceModel;
    options.memoryLimit = memoryLimit;
    options.searchMode = searchMode;
    options.noBucketing = noBucketing;
    options.fitsMemory = options.checksMemory = false;
    if (failed(MemoryFitter(getOperation(), options, *model).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
