//===- PropagatePass.td - options of propagation -----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all passes that propagate have in common.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEPASS_TD
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEPASS_TD

include "mlir/Pass/PassBase.td"

class PropagatePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  Option keepRules = Option<
      "keepShardingRules", "keep-sharding-rules", "bool", "false",
      "Write each op's sharding rule as an attribute">;
  Option originsOption = Option<
      "debugShardingOrigins", "debug-sharding-origins", "bool", "false",
      "Write `sdy.sharding_origins`: where each axis of a value came from">;
  Option edgesOption = Option<
      "debugPropagationEdgeSharding", "debug-propagation-edge-sharding",
      "bool", "false",
      "Write `sdy.propagation_edges`: the steps that moved axes through an op">;
  Option remarksOption = Option<
      "remarksFile", "remarks-file", "std::string", "",
      "Write every axis that was taken or refused to this file, as remarks in "
      "JSON lines">;
  Option dumpOption = Option<
      "moduleDumpDirectory", "module-dump-directory", "std::string", "",
      "Write the module after the pass to this directory">;
  Option conservativeOption = Option<
      "conservativePropagation", "conservative-propagation", "bool", "false",
      "Take no part of an axis, and nothing along dims that need neighbours' "
      "data or are concatenated">;
  list<Option> shared = [keepRules, originsOption, edgesOption, remarksOption,
                         dumpOption, conservativeOption];
  Option strategyOption = Option<
      "strategy", "propagation-strategy", "::shardonnay::PropagationStrategy",
      "::shardonnay::PropagationStrategy::Aggressive",
      "How conflicts on one op are handled",
      [{::llvm::cl::values(
        clEnumValN(::shardonnay::PropagationStrategy::Basic, "basic",
                   "take only what no tensor of the op speaks against"),
        clEnumValN(::shardonnay::PropagationStrategy::Aggressive, "aggressive",
                   "resolve conflicts tensor by tensor"),
        clEnumValN(::shardonnay::PropagationStrategy::BasicThenAggressive,
                   "basic-then-aggressive", "one to the end, then the other"))}]>;
  Option opPriorityOption = Option<
      "runOpPriority", "run-op-priority-propagation", "bool", "true",
      "Visit pass-through ops before those that change shapes">;
  Option scheduleOption = Option<
      "backwardForward", "backward-forward", "bool", "false",
      "One sweep from results to operands, one from all to all, and no more">;
}

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEPASS_TD
