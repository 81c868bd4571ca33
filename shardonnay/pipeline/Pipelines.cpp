//===- Pipelines.cpp - the order of the stages ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/pipeline/KnownPipelines.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/export/Passes.h"
#include "shardonnay/transforms/import/Passes.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/reshard/Passes.h"

using namespace mlir;

namespace shardonnay {

namespace {

constexpr std::pair<Stage, llvm::StringLiteral> kStages[] = {
    {Stage::Import, "import"},
    {Stage::Propagate, "propagate"},
    {Stage::Export, "export"},
    {Stage::Reshard, "reshard"},
    {Stage::Collectives, "collectives"},
    {Stage::Partition, "partition"},
    {Stage::Emit, "emit"},
};

void addImport(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createImportFrontendAttributesPass());
  pm.addPass(createImportGspmdShardingsPass());
  pm.addPass(createCheckStrictPass({options.strict}));
  pm.addPass(createLiftInlinedMeshesPass());
  pm.addPass(createExpandCompositesPass());
  pm.addPass(createInlinePrivateFunctionsPass({options.keepFunctionsOf}));
  if (options.keepFunctionsOf > 0) {
    pm.addPass(createPropagateShardingFromFuncToCallPass());
    pm.addPass(createFlattenCallGraphPass());
    pm.addPass(createImportFuncCallsPass(
        {/*addDataFlowEdgesOnNamedComputations=*/false}));
  }
  pm.addNestedPass<func::FuncOp>(createExplicitGatherScatterBatchingPass());
  // Here, so that all other stages see ops on the whole mesh only.
  pm.addNestedPass<func::FuncOp>(createResolveSingleDeviceShardingPass());
  pm.addPass(createApplyCanonicalPatternsPass());
  pm.addPass(createCheckSupportedPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  pm.addPass(createConstantOrScalarSplitterPass());
  pm.addPass(createManualAxesCleanupPass());
  pm.addPass(createAddDataFlowEdgesPass());
  pm.addPass(createApplyShardingConstraintsPass());
  pm.addPass(createShardingGroupImportPass());
}

void addPropagate(OpPassManager &pm) {
  pm.addPass(createUserPriorityPropagatePass());
}

void addExport(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createRemoveShardingGroupsPass());
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  pm.addNestedPass<func::FuncOp>(createSinkDataFlowEdgesPass());
  pm.addNestedPass<func::FuncOp>(createShardingConstraintToReshardPass());
  pm.addNestedPass<func::FuncOp>(createRemovePropagationBarriersPass());
  pm.addNestedPass<func::FuncOp>(createTrimIdleAxesPass());
  pm.addPass(createUpdateNonDivisibleInputOutputShardingsPass());
  pm.addPass(createRemoveSubAxesInInputOutputShardingsPass());
  pm.addPass(createCloseShardingsPass());
  pm.addPass(createUnifyMeshesPass());
  auto [arguments, results] = options.boundary;
  if (arguments || results)
    pm.addNestedPass<func::FuncOp>(
        createWholeBoundaryPass({arguments, results}));
  if (options.keepFunctionsOf > 0)
    pm.addPass(createShareComputationsPass());
  pm.addNestedPass<func::FuncOp>(createFindPeriodicWindowsPass());
}

/// What a device may hold; 0: any amount. A pass refuses a wrong model later.
int64_t memoryLimitOf(const PipelineOptions &options) {
  if (options.memoryLimit > 0)
    return options.memoryLimit;
  std::string error;
  auto model = DeviceModel::load(options.deviceModel, error);
  return model ? model->memoryBytes : 0;
}

void addReshard(OpPassManager &pm, const PipelineOptions &options) {
  int64_t memoryLimit = memoryLimitOf(options);
  if (memoryLimit > 0 && options.fitsMemory && !options.keepPropagated)
    pm.addPass(createFitMemoryPass({memoryLimit, options.deviceModel,
                                    options.searchMode, !options.bucketing}));
  InsertExplicitReshardsPassOptions reshards;
  reshards.memoryPrices = memoryLimit > 0;
  reshards.enableFullVersion = true;
  reshards.avoidReshardsOnCalls = options.avoidReshardsOnCalls;
  reshards.noImplicitReplication = options.noImplicitReplication;
  reshards.deviceModel = options.deviceModel;
  reshards.searchMode = options.searchMode;
  reshards.keepPropagated = options.keepPropagated;
  reshards.recordCost = options.recordsCauses;
  pm.addNestedPass<func::FuncOp>(createInsertExplicitReshardsPass(reshards));
  pm.addNestedPass<func::FuncOp>(
      createDeferReductionsPass({options.deviceModel}));
  if (options.recordsCauses)
    pm.addNestedPass<func::FuncOp>(
        createExplainReshardsPass({options.deviceModel}));
}

void addCollectives(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(
      createReshardToCollectivesPass({options.deviceModel}));
  OptimizeCollectivesPassOptions collectives;
  collectives.deviceModel = options.deviceModel;
  collectives.memoryLimit = options.memoryLimit;
  pm.addNestedPass<func::FuncOp>(createOptimizeCollectivesPass(collectives));
  // Equal moves of equal values are one.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
}

void addPartition(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(
      createPartitionToLocalPass({options.noImplicitReplication,
                                  options.deviceModel, options.recordsCauses}));
  // Equal windows are fetched once: the report counts what is there now.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
  int64_t memoryLimit = memoryLimitOf(options);
  if (memoryLimit > 0)
    pm.addPass(createMakeAgainPass({memoryLimit}));
  if (options.bucketing)
    pm.addNestedPass<func::FuncOp>(createBucketCollectivesPass(
        {options.deviceModel, options.memoryLimit}));
  if (memoryLimit > 0 && options.fitsMemory)
    pm.addPass(createCheckMemoryPass(
        {memoryLimit, /*warns=*/options.memoryLimit == 0}));
}

void addEmit(OpPassManager &pm) {
  pm.addPass(createEmitStablehloPass());
  // Every index computes its own position, every piece has its own constants.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
}

struct PartitionPipelineOptions
    : PassPipelineOptions<PartitionPipelineOptions> {
  Option<bool> noImplicitReplication{
      *this, "no-implicit-replication",
      llvm::cl::desc("A gather because an op can't be computed on shards is an "
                     "error"),
      llvm::cl::init(false)};
  Option<bool> strict{
      *this, "strict",
      llvm::cl::desc("What sdy-check-strict finds in the program is an error"),
      llvm::cl::init(false)};
  Option<std::string> deviceModel{
      *this, "device-model",
      llvm::cl::desc(
          "What the devices can do: a built-in model or a JSON file"),
      llvm::cl::init("cpu")};
  Option<bool> wholeArguments{
      *this, "whole-arguments",
      llvm::cl::desc("Every device is given whole arguments and slices them"),
      llvm::cl::init(false)};
  Option<bool> wholeResults{
      *this, "whole-results",
      llvm::cl::desc("Every device returns whole results"),
      llvm::cl::init(false)};
  Option<std::string> searchMode{
      *this, "search-mode",
      llvm::cl::desc("graph: cuts of neighbours are chosen together; greedy"),
      llvm::cl::init("greedy")};
  Option<bool> keepPropagated{
      *this, "keep-propagated",
      llvm::cl::desc("No value moves to save communication"),
      llvm::cl::init(false)};
  Option<int64_t> memoryLimit{
      *this, "memory-limit",
      llvm::cl::desc("Bytes that a device may hold at once; 0: as many as the "
                     "device model says"),
      llvm::cl::init(0)};
  Option<bool> noBucketing{
      *this, "no-bucketing",
      llvm::cl::desc("Small tensors are not reduced or gathered together"),
      llvm::cl::init(false)};
  Option<int64_t> keepFunctionsOf{
      *this, "keep-functions-of",
      llvm::cl::desc("Functions of so many ops that several calls have in "
                     "common stay functions; 0: none"),
      llvm::cl::init(0)};
};

} // namespace

llvm::ArrayRef<Stage> allStages() {
  static const auto stages = llvm::map_to_vector(
      kStages, [](const auto &entry) { return entry.first; });
  return stages;
}

llvm::StringRef toString(Stage stage) {
  return kStages[static_cast<size_t>(stage)].second;
}

std::optional<Stage> parseStage(llvm::StringRef name) {
  for (const auto &[stage, stageName] : kStages)
    if (stageName == name)
      return stage;
  return std::nullopt;
}

LogicalResult runVerified(PassManager &pm, ModuleOp module, bool isBorder) {
  pm.enableVerifier(kVerifiesEachPass);
  if (failed(pm.run(module)))
    return failure();
  return success(kVerifiesEachPass || !isBorder || succeeded(verify(module)));
}

void addStage(OpPassManager &pm, Stage stage, const PipelineOptions &options) {
  switch (stage) {
  case Stage::Import:
    return addImport(pm, options);
  case Stage::Propagate:
    return addPropagate(pm);
  case Stage::Export:
    return addExport(pm, options);
  case Stage::Reshard:
    return addReshard(pm, options);
  case Stage::Collectives:
    return addCollectives(pm, options);
  case Stage::Partition:
    return addPartition(pm, options);
  case Stage::Emit:
    return addEmit(pm);
  }
}

void registerAllPipelines() {
  registerKnownPipelines();
  PassPipelineRegistration<PartitionPipelineOptions>(
      "sdy-partition-pipeline",
      "From a program as JAX prints it to the StableHLO of one device",
      [](OpPassManager &pm, const PartitionPipelineOptions &options) {
        for (Stage stage : allStages())
          addStage(pm, stage,
                   {options.noImplicitReplication,
                    options.strict,
                    options.deviceModel,
                    {options.wholeArguments, options.wholeResults},
                    options.memoryLimit,
                    !options.noBucketing,
                    options.keepFunctionsOf,
                    /*avoidReshardsOnCalls=*/false,
                    options.searchMode,
                    options.keepPropagated});
      });
}

} // namespace shardonnay
