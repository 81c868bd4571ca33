//===- KnownPipelines.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/KnownPipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/export/Passes.h"
#include "shardonnay/transforms/import/Passes.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/reshard/Passes.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// An option, what it is for, and its value unless one is given.
template <typename T> struct Described : mlir::detail::PassOptions::Option<T> {
  Described(mlir::detail::PassOptions &parent, StringRef name, StringRef text,
            T initial = T())
      : mlir::detail::PassOptions::Option<T>(parent, name, llvm::cl::desc(text),
                                             llvm::cl::init(initial)) {}
};

struct FunctionOptions : PassPipelineOptions<FunctionOptions> {
  Described<bool> dedupFunctionsFully{
      *this, "dedup-functions-fully",
      "One function for all its calls: propagate between functions by edges, "
      "without copies"};
};

struct ExportOptions : PassPipelineOptions<ExportOptions> {
  Described<bool> explicitCollectives{
      *this, "enable-insert-explicit-collectives",
      "Turn disagreement into reshards, and these into collectives"};
  Described<bool> avoidExportForPartitioning{
      *this, "avoid-export-for-partitioning",
      "Leave groups and constraints as they are"};
  Described<bool> keepShardingRules{*this, "keep-sharding-rules",
                                    "Leave `sdy.sharding_rule` attributes"};
  Described<bool> dumpShardingOrigins{*this, "dump-sharding-origins",
                                      "Leave the records of propagation"};
  Described<bool> dumpPropagationEdges{*this, "dump-propagation-edges",
                                       "Leave the records of propagation"};
  Described<bool> divisibleBoundary{
      *this, "update-non-divisible-input-output-shardings",
      "Trim the boundary so that it divides", true};
  Described<bool> keepGiven{
      *this, "keep-given",
      "Leave what was given at the boundary, whether it divides or not"};
  Described<bool> forCmv1{
      *this, "remove-all-gather-reduce-scatter-for-cmv1",
      "Leave gathers and scatters around contractions to the engine"};
  Described<std::string> dumpDirectory{
      *this, "dump-directory",
      "Where the module goes as it closes and at the end"};
  Described<bool> perInstruction{
      *this, "enable-per-instruction-partitioning",
      "Partition operations alone, in the place of explicit collectives"};
  Described<std::string> perInstructionFilter{
      *this, "per-instruction-partitioning-filter",
      "Which operations; none: all"};
  Described<int64_t> replicaCount{
      *this, "replica-count",
      "Replicas that the engine runs operations on that are partitioned alone",
      1};
  Described<int64_t> partitionCount{
      *this, "partition-count",
      "Partitions of a replica; 1, of 1 replica: one for each device", 1};
  Described<bool> avoidCallReshards{*this, "avoid-reshards-on-calls",
                                    "Calls take and return what they are "
                                    "given: no reshards of their operands"};
  Described<bool> inlineMeshes{
      *this, "inline-meshes",
      "After explicit collectives, put meshes into shardings", true};
};

struct LocalOptions : PassPipelineOptions<LocalOptions> {
  Described<bool> perDimAllGather{
      *this, "per-dim-all-gather",
      "Accepted for those who write it: gathers are per dim"};
  Described<bool> combineReduceScatter{
      *this, "combine-multi-dimension-reduce-scatter",
      "Accepted for those who write it: reduce_scatters are per dim"};
  Described<bool> meshAxesGroups{*this, "enable-rgv3",
                                 "Replica groups name mesh axes, not devices"};
  Described<int64_t> replicaCount{*this, "replica-count",
                                  "Replicas that the engine runs", 1};
  Described<int64_t> partitionCount{
      *this, "partition-count",
      "Partitions of a replica; 1, of 1 replica: one for each device", 1};
};

void addGlobalToLocal(OpPassManager &pm, const LocalOptions &options) {
  pm.addPass(createReadsToGathersPass());
  pm.addPass(createCapturesToOperandsPass());
  pm.addNestedPass<func::FuncOp>(createRemovePropagationBarriersPass());
  pm.addNestedPass<func::FuncOp>(
      createResolveSingleDeviceShardingPass({/*keepGiven=*/true}));
  pm.addPass(createCheckEveryDevicePass());
  pm.addNestedPass<func::FuncOp>(createMarkPartialResultsPass());
  // What other tools take to agree may not: ops of which they have no rule, or
  // another one. Those that do agree stay as they are.
  InsertExplicitReshardsPassOptions reshard;
  reshard.enableFullVersion = reshard.keepPropagated = true;
  pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass(reshard));
  pm.addNestedPass<func::FuncOp>(createReshardToCollectivesPass());
  PipelineOptions partition;
  partition.keepsShardings = true;
  addStage(pm, Stage::Partition, partition);
  EmitStablehloPassOptions emit;
  emit.keepMeshes = true;
  emit.anyEngine = true;
  emit.enableRGV3 = options.meshAxesGroups;
  emit.replicaCount = options.replicaCount;
  emit.partitionCount = options.partitionCount;
  pm.addPass(createEmitStablehloPass(emit));
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
  pm.addPass(createNumberChannelsPass());
}

void addConstraints(OpPassManager &pm) {
  pm.addPass(createApplyShardingConstraintsPass());
  pm.addPass(createShardingGroupImportPass());
}

void addImport(OpPassManager &pm, const FunctionOptions &options) {
  pm.addPass(createImportEncodingsPass());
  pm.addPass(createEraseUnusedSymbolsPass());
  pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  pm.addPass(createPropagateShardingFromFuncToCallPass());
  pm.addPass(createConstantOrScalarSplitterPass());
  pm.addPass(createEraseUnusedSymbolsPass());
  pm.addPass(createManualAxesCleanupPass());
  pm.addPass(createAddDataFlowEdgesPass());
  // Copies of functions have constraints of their own.
  if (options.dedupFunctionsFully)
    addConstraints(pm);
}

void addExport(OpPassManager &pm, const ExportOptions &options) {
  if (!options.avoidExportForPartitioning)
    pm.addPass(createRemoveShardingGroupsPass());
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  pm.addNestedPass<func::FuncOp>(createSinkDataFlowEdgesPass(
      {options.dumpShardingOrigins, options.dumpPropagationEdges}));
  if (!options.avoidExportForPartitioning)
    pm.addNestedPass<func::FuncOp>(createShardingConstraintToReshardPass());
  if (options.divisibleBoundary) {
    pm.addPass(
        createUpdateNonDivisibleInputOutputShardingsPass({options.keepGiven}));
    pm.addPass(
        createRemoveSubAxesInInputOutputShardingsPass({options.keepGiven}));
  }
  pm.addPass(createCloseShardingsPass());
  pm.addPass(createSaveModulePass({options.dumpDirectory, "after_close"}));
  if (!options.dumpShardingOrigins && !options.dumpPropagationEdges)
    pm.addPass(createRemovePropagationDebugInfoPass());
  if (options.perInstruction) {
    pm.addPass(createPerInstructionPartitioningPass(
        {options.perInstructionFilter, /*enableHaloExchange=*/true,
         options.replicaCount, options.partitionCount}));
  } else if (options.explicitCollectives) {
    PipelineOptions stages;
    stages.avoidReshardsOnCalls = options.avoidCallReshards;
    stages.findsWindows = false;
    pm.addNestedPass<func::FuncOp>(createRemovePropagationBarriersPass());
    addStage(pm, Stage::Reshard, stages);
    addStage(pm, Stage::Collectives, stages);
    if (options.forCmv1)
      pm.addNestedPass<func::FuncOp>(
          createRemoveAllGatherReduceScatterForCmv1Pass());
  } else if (!options.avoidExportForPartitioning) {
    InsertExplicitReshardsPassOptions partial;
    partial.avoidReshardsOnCalls = options.avoidCallReshards;
    pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass(partial));
  }
  if (!options.perInstruction) {
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    pm.addPass(createCanonicalizerPass(config, /*disabledPatterns=*/{},
                                       {sdy::kCollectivePatterns.str()}));
  }
  if (!options.keepShardingRules)
    pm.addNestedPass<func::FuncOp>(createDropShardingRulesPass());
  if (options.explicitCollectives && options.inlineMeshes)
    pm.addPass(createInlineMeshesPass());
  pm.addPass(createSaveModulePass({options.dumpDirectory, "after_export"}));
  // What is dumped is for the saved modules.
  if (options.dumpShardingOrigins || options.dumpPropagationEdges)
    pm.addPass(createRemovePropagationDebugInfoPass());
}

/// Functions are one for all their calls: values flow between them by edges.
void addSharedFunctions(OpPassManager &pm) {
  pm.addPass(createAddFuncDataFlowEdgesPass());
  pm.addPass(createPreOrderFuncsPass());
  pm.addPass(createUserPriorityPropagatePass());
  pm.addNestedPass<func::FuncOp>(createSinkFuncDataFlowEdgesPass());
  pm.addPass(createPropagateToFuncResultsPass());
}

/// Functions are copied for each call and merged again where the copies are
/// sharded alike.
void addCopiedFunctions(OpPassManager &pm) {
  pm.addPass(createFlattenCallGraphPass());
  pm.addPass(createImportFuncCallsPass());
  pm.addPass(createEraseUnusedSymbolsPass());
  addConstraints(pm);
  pm.addPass(createPreOrderFuncsPass());
  pm.addPass(createUserPriorityPropagatePass());
  pm.addPass(createExportNamedComputationsPass());
  pm.addPass(createPropagateToFuncResultsPass());
  pm.addPass(createUnflattenCallGraphPass());
}

void addPropagation(OpPassManager &pm, const FunctionOptions &options) {
  addImport(pm, options);
  if (options.dedupFunctionsFully)
    addSharedFunctions(pm);
  else
    addCopiedFunctions(pm);
  pm.addPass(createEraseUnusedSymbolsPass());
  pm.addPass(createInsertFuncCallReshardsPass());
  addExport(pm, {});
}

} // namespace

void registerKnownPipelines() {
  PassPipelineRegistration<FunctionOptions>(
      "sdy-import-pipeline", "The program in the form that propagation reads",
      addImport);
  PassPipelineRegistration<FunctionOptions>(
      "sdy-propagation-pipeline",
      "Import, propagation of shardings, and export", addPropagation);
  PassPipelineRegistration<LocalOptions>(
      "sdy-convert-global-to-local",
      "From collectives on global types to the StableHLO of one device",
      addGlobalToLocal);
  PassPipelineRegistration<ExportOptions>(
      "sdy-export-pipeline", "Finishes shardings after propagation", addExport);
}

} // namespace shardonnay
