//===- Report.h - what a partitioned program costs --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Communication, memory and compute of each device, with the same of the whole
// program on one device beside it. Read from the IR, so it says what is there
// and not what was planned.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_REPORT_H
#define SHARDONNAY_REPORT_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/Summary.h"
#include "llvm/Support/JSON.h"

namespace shardonnay {

/// What the ops whose strategies were weighed together cost with the moves
/// around them, in byte times: op by op, as chosen, and what no choice of the
/// same strategies is below; and how many values are sharded otherwise than
/// propagation decided, to save communication.
struct PlanCost {
  double greedy = 0, cost = 0, bound = 0;
  int64_t moved = 0;
};

/// An order of propagation that was taken because its plan is cheaper: what
/// came later than in the order given, what loops carry in the sharding that it
/// was given outside of them, what is split so that the inner dim has the axes,
/// and the prices of both plans.
struct OrderCost {
  llvm::SmallVector<std::string> later, carried, split;
  double price = 0, priceAsGiven = 0;
};

/// What a report compares with, taken from earlier states of the program.
struct ReportBaseline {
  /// On global types.
  ProgramSummary global;
  PlanCost plan;
  OrderCost order;
  /// Our collectives before partitioning,
  /// without what the user wrote, some of which may be dead in the end.
  CommunicationCost planned;
  /// As the user wrote it.
  ShardingCounts given;
  /// After propagation.
  ShardingCounts propagated;
  /// The target sends windows from device to device.
  bool directWindows = false;
};

/// The report on a module after `partition`:
///   {"devices", "collectives": [{"kind", "axes", "reduction", "source",
///    "name", "cause", "written", "operand", "result", "count", "bytes",
///    "trips", "trips_known"}],
///    "collective_bytes", "executed_bytes", "unknown_trips",
///    "price": {"device_model", "planned", "emitted", "compute"},
///    "plan": {"greedy", "cost", "bound", "gap", "moved"},
///    "peak_bytes": G, "peak": {"op", "source", "largest": [{"type", "bytes",
///    "source"}]}, "argument_bytes": G, "contraction_flops": G,
///    "shardings": {"tensors", "given", "decided"},
///    "order": {"later", "carried", "split", "price", "price_as_given"},
///    "window_bytes"}
/// with G = {"global", "per_device"}. "bytes" are what a device sends (ring
/// algorithms), over all `count` of them, each as often as it is written; in a
/// loop it runs "trips" times, which "executed_bytes" and prices count (1 where
/// not "trips_known"). A price is in bytes of the fastest link (MeshCosts):
/// that of the collectives before partitioning, of those in the program, and of
/// the windows among these that ops fetch for themselves; "compute" is that of
/// what a device computes between them (ComputePrice.h).
/// "order" is there if the given shardings called "later" propagated after all
/// others, or loops carry what is called "carried" in the sharding that it was
/// given outside of them, or reshapes give the inner of the dims that they
/// split the axes in what is called "split", as the plan is cheaper so, compute
/// included.
/// "window_bytes" is there with direct windows: what the device that sends most
/// sends in all windows together, where "bytes" are those of the device that
/// sends most in one of them. What is "written", by the user in manual
/// computations, counts in all sums. Collectives that agree in kind, axes,
/// types and source line are one entry, in program order.
llvm::json::Value buildReport(mlir::ModuleOp module,
                              const ReportBaseline &baseline,
                              const DeviceModel &model);

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_REPORT_H
