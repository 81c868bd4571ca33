//===- TrialPlan.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/TrialPlan.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/analysis/CollectiveUses.h"

using namespace mlir;

namespace shardonnay {

std::optional<TrialPlan> tryPlan(ModuleOp copy, Stage first,
                                 const PipelineOptions &options,
                                 const DeviceModel &model, bool saysErrors) {
  PassManager pm(copy.getContext(), ModuleOp::getOperationName());
  for (Stage stage : allStages())
    if (stage >= first && stage <= Stage::Partition)
      addStage(pm, stage, options);
  pm.enableVerifier(kVerifiesEachPass); // The copy is thrown away.
  // The rest will be said of the program itself.
  ScopedDiagnosticHandler handler(
      copy.getContext(), [&](Diagnostic &diagnostic) {
        return success(!saysErrors ||
                       diagnostic.getSeverity() != DiagnosticSeverity::Error);
      });
  if (failed(pm.run(copy)))
    return std::nullopt;
  std::vector<CollectiveUse> uses = readCollectives(copy);
  if (options.target == "mpi")
    countDirectWindows(uses);
  else
    countSharedWindows(uses);
  return TrialPlan{costOf(uses, model).price, findPeakMemory(copy)};
}

} // namespace shardonnay
