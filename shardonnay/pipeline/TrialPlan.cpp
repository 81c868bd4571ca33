//===- TrialPlan.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/TrialPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/dialect/sdy/Dialect.h"

using namespace mlir;

namespace shardonnay {

/// Takes what the searches have left on the functions.
static PlanCost takePlanCost(ModuleOp module) {
  PlanCost sum;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto cost =
        dyn_cast_or_null<DictionaryAttr>(func->removeAttr(sdy::kPlanCostAttr));
    if (!cost)
      continue;
    auto read = [&](StringRef name) {
      auto number = cost.getAs<FloatAttr>(name);
      return number ? number.getValueAsDouble() : 0;
    };
    sum.greedy += read("greedy");
    sum.cost += read("cost");
    sum.bound += read("bound");
    sum.moved += static_cast<int64_t>(read("moved"));
  }
  return sum;
}

void PlanReadings::read(ModuleOp module, Stage stage,
                        const PipelineOptions &options,
                        llvm::function_ref<const DeviceModel &()> model) {
  if (stage == Stage::Reshard && options.recordsCauses)
    cost = takePlanCost(module);
  if (stage != Stage::Collectives)
    return;
  manifest = readManifest(module, options.boundary());
  if (options.recordsCauses)
    planned = costOf(onlyPlanned(readCollectives(module)), model());
}

std::optional<TrialPlan> tryPlan(ModuleOp copy, Stage first,
                                 const PipelineOptions &options,
                                 const DeviceModel &model, bool saysErrors,
                                 PlanReadings *readings) {
  TrialPlan plan;
  ScopedDiagnosticHandler handler(
      copy.getContext(), [&](Diagnostic &diagnostic) {
        if (saysErrors && diagnostic.getSeverity() == DiagnosticSeverity::Error)
          return failure();
        plan.said.push_back(std::move(diagnostic));
        return success();
      });
  for (Stage stage : allStages()) {
    if (stage < first || stage > Stage::Partition)
      continue;
    PassManager pm(copy.getContext(), ModuleOp::getOperationName());
    addStage(pm, stage, options);
    if (failed(runVerified(pm, copy, /*isStageBoundary=*/false)))
      return std::nullopt;
    if (readings)
      readings->read(copy, stage, options,
                     [&]() -> const DeviceModel & { return model; });
  }
  std::vector<CollectiveUse> uses = readCollectives(copy);
  if (options.target == "mpi")
    countDirectWindows(uses);
  else
    countSharedWindows(uses);
  plan.communication = costOf(uses, model).price;
  plan.peak = findPeakMemory(copy);
  return plan;
}

} // namespace shardonnay
