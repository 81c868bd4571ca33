//===- TrialPlan.h - what a plan would cost ---------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program can be planned in several ways, on copies of it, and the best of
// them is then done to the program itself.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_TRIALPLAN_H
#define SHARDONNAY_PIPELINE_TRIALPLAN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/pipeline/Manifest.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/report/Report.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace shardonnay {

/// What a compilation wants of the states between the stages of a plan.
struct PlanReadings {
  std::optional<Manifest> manifest;
  /// Only where causes are recorded.
  PlanCost cost;
  CommunicationCost planned;

  /// Reads what there is to read after `stage`.
  void read(mlir::ModuleOp module, Stage stage, const PipelineOptions &options,
            llvm::function_ref<const DeviceModel &()> model);
};

struct TrialPlan {
  /// Of communication, by the device model.
  double communication = 0;
  PeakMemory peak;
  /// Warnings and remarks of the stages.
  std::vector<mlir::Diagnostic> said;
};

/// Runs the stages from `first` to partition on `copy`. Nothing if one of them
/// fails. Says no more than its errors, and these only if `saysErrors`. Who
/// keeps the plan gives `readings`, which are filled, and verifies it.
std::optional<TrialPlan> tryPlan(mlir::ModuleOp copy, Stage first,
                                 const PipelineOptions &options,
                                 const DeviceModel &model, bool saysErrors,
                                 PlanReadings *readings = nullptr);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_TRIALPLAN_H
