//===- PropagationOrder.h - which given shardings come first ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation, in the order of the given shardings that makes the cheapest
// plan.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_PROPAGATIONORDER_H
#define SHARDONNAY_PIPELINE_PROPAGATIONORDER_H

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/pipeline/TrialPlan.h"
#include "shardonnay/transforms/propagate/GivenCarries.h"
#include "shardonnay/transforms/propagate/GivenOrders.h"
#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "shardonnay/transforms/propagate/PropagationEngine.h"
#include "shardonnay/transforms/propagate/SharedBatches.h"

namespace shardonnay {

/// A program behind partition, and how it came about.
struct PlannedProgram {
  mlir::OwningOpRef<mlir::ModuleOp> program;
  TrialPlan trial;
  PlanReadings readings;
  /// Of compute and communication, by the device model.
  double price = 0;
};

/// What an order has otherwise than user and op priorities say.
struct GivenChange {
  /// The dims that come after all others.
  std::vector<GivenDim> later;
  /// What loops carry as it was given.
  std::vector<GivenCarry> carried;
  /// What is split so that the inner dim has the axes.
  std::vector<SharedBatch> split;

  bool isNone() const {
    return later.empty() && carried.empty() && split.empty();
  }
};

/// The order in which a program was propagated.
struct PropagationOrder {
  GivenChange change;
  /// Of the plan's compute and communication, and of what it would be in the
  /// order of user and op priorities, by the device model. 0 if no other order
  /// was planned.
  double price = 0, priceAsGiven = 0;
  /// What came of it, if it was planned and holds no more than a device may.
  std::optional<PlannedProgram> planned;
};

/// Propagates in `graph`, which was read of the imported `module` and keeps its
/// operations, as plans with these options have it. The sink, null or not, is
/// told of what stays.
PropagationOrder propagateByPrice(mlir::ModuleOp module, ModuleGraph &graph,
                                  const PipelineOptions &options,
                                  const DeviceModel &model,
                                  PropagationSink *sink);

/// `sdy-propagate-by-price` as plans with these options have it.
std::unique_ptr<mlir::Pass>
createPropagateByPricePass(const PipelineOptions &options);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_PROPAGATIONORDER_H
