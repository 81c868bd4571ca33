//===- FitMemory.cpp - plans that hold no more than there is --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Lagrangian: what is too much has a price, so that the plan which is the
// cheapest holds less of it.
//
// 1. Nothing to do where all of the program, whole, is within the limit.
// 2. plan: the stages reshard, collectives and partition run on a copy whose
//    ops are numbered (by their locations, which all that is made of an op
//    inherits), and liveness says what is alive at the peak.
// 3. While that is too much: the ops that made it get a price for each byte
//    that a device holds of their results, or twice the one that they had, and
//    the copy is planned again.
// 4. lower: of the first plan within the limit, prices are taken off, of half
//    of the ops, a quarter and so on, where the plan stays within it and costs
//    less.
// 5. These prices, or else those of the plan that holds least, stay on the ops;
//    none where arguments and results alone are above the limit.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/Pipelines.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_FITMEMORYPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// Of a byte, in the time that it takes to send one: far below what anything is
/// worth that is sent once, and far above what is sent for many uses.
constexpr double kFirstPrice = 1.0 / 8;
constexpr double kLastPrice = 32;
constexpr int kMostPlans = 24;

struct Plan {
  int64_t peak = 0;
  /// Of it, what no plan changes.
  int64_t held = 0;
  /// Of its collectives, by the device model.
  double cost = 0;
  /// The numbers of the ops that made what is alive there.
  SmallVector<int64_t> producers;
};

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
    module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    prices.resize(ops.size());
  }

  /// Fails, with an error, where the program can't be planned.
  LogicalResult run();

private:
  /// Nothing, and an error of a stage, if there is none.
  std::optional<Plan> plan();
  void mark(Operation *op, int64_t number);
  /// Raises the prices of what is at the plan's peak; false if all are at their
  /// highest.
  bool raise(const Plan &plan);
  /// Takes off prices without which the plan is no worse than `plan`, which is
  /// within the limit, and costs less.
  void lower(Plan plan);

  ModuleOp module;
  const PipelineOptions &options;
  const DeviceModel &model;
  int plansLeft = kMostPlans;
  /// By number.
  std::vector<Operation *> ops;
  std::vector<double> prices;
};

void MemoryFitter::mark(Operation *op, int64_t number) {
  Builder builder(op->getContext());
  if (prices[number] > 0)
    op->setAttr(sdy::kMemoryPriceAttr, builder.getF64FloatAttr(prices[number]));
}

std::optional<Plan> MemoryFitter::plan() {
  --plansLeft;
  OwningOpRef<ModuleOp> copy = module.clone();
  Builder builder(module.getContext());
  int64_t number = 0;
  copy->walk<WalkOrder::PreOrder>([&](Operation *op) {
    mark(op, number);
    op->setLoc(FusedLoc::get(
        {op->getLoc()}, builder.getI64IntegerAttr(number++), op->getContext()));
  });
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  for (Stage stage : {Stage::Reshard, Stage::Collectives, Stage::Partition})
    addStage(pm, stage, options);
  pm.enableVerifier(kVerifiesEachPass); // The copy is thrown away.
  // The rest will be said of the program itself.
  ScopedDiagnosticHandler onlyErrors(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
      });
  if (failed(pm.run(*copy)))
    return std::nullopt;
  PeakMemory peak = findPeakMemory(*copy);
  Plan result{
      peak.bytes, peak.held, costOf(readCollectives(*copy), model).price, {}};
  for (Value value : peak.live)
    if (Operation *producer = value.getDefiningOp())
      if (std::optional<int64_t> made = readNumber(producer->getLoc()))
        result.producers.push_back(*made);
  return result;
}

bool MemoryFitter::raise(const Plan &plan) {
  bool raised = false;
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t number : plan.producers) {
    double &price = prices[number];
    if (!seen.insert(number).second || price >= kLastPrice)
      continue;
    price = price == 0 ? kFirstPrice : 2 * price;
    raised = true;
  }
  return raised;
}

void MemoryFitter::lower(Plan plan) {
  SmallVector<int64_t> priced;
  for (auto [number, price] : llvm::enumerate(prices))
    if (price > 0)
      priced.push_back(number);
  for (size_t size = priced.size(); size > 1 && plansLeft > 0;) {
    size = llvm::divideCeil(size, 2);
    for (size_t begin = 0; begin < priced.size() && plansLeft > 0;
         begin += size) {
      std::vector<double> before = prices;
      for (int64_t number :
           ArrayRef(priced).slice(begin, std::min(size, priced.size() - begin)))
        prices[number] = 0;
      std::optional<Plan> next = prices == before ? std::nullopt : this->plan();
      if (next && next->peak <= options.memoryLimit && next->cost < plan.cost)
        plan = *next;
      else
        prices = before;
    }
  }
}

LogicalResult MemoryFitter::run() {
  std::vector<double> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  while (plansLeft > 0) {
    std::optional<Plan> next = plan();
    if (!next)
      return failure();
    if (next->peak <= options.memoryLimit) {
      lower(*next);
      best = prices;
      break;
    }
    // What can't be met is no reason to send more.
    if (next->held > options.memoryLimit) {
      best.assign(ops.size(), 0);
      break;
    }
    if (next->peak < least) {
      least = next->peak;
      best = prices;
    }
    if (!raise(*next))
      break;
  }
  prices = best;
  for (auto [number, op] : llvm::enumerate(ops))
    mark(op, number);
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
    options.fitsMemory = false;
    if (failed(MemoryFitter(getOperation(), options, *model).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
