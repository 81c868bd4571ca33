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
#include "shardonnay/mpi/Passes.h"
#include "shardonnay/pipeline/KnownPipelines.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/PropagationOrder.h"
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

/// The options that passes read, as a pipeline's text has them.
struct PartitionPipelineOptions
    : PassPipelineOptions<PartitionPipelineOptions> {
#define SHARDONNAY_PIPELINE_OPTION(type, field, name, initial, value, help)    \
  Option<type> field{*this, name, llvm::cl::desc(help),                        \
                     llvm::cl::init(initial)};
#include "shardonnay/pipeline/Options.def"

  PipelineOptions get() const {
    PipelineOptions options;
#define SHARDONNAY_PIPELINE_OPTION(type, field, name, initial, value, help)    \
  options.field = field;
#include "shardonnay/pipeline/Options.def"
    return options;
  }
};

void addImport(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createImportEncodingsPass());
  pm.addPass(createImportDonationsPass());
  pm.addPass(createImportFrontendAttributesPass());
  pm.addPass(createImportGspmdShardingsPass());
  pm.addPass(createCheckStrictPass({options.strict}));
  pm.addPass(createLiftInlinedMeshesPass({/*collectives=*/false}));
  pm.addPass(createBindAxisSizesPass({options.devices}));
  pm.addPass(createInlineCollectiveMeshesPass());
  pm.addPass(createFoldSingleDeviceCollectivesPass());
  pm.addPass(createExpandCompositesPass());
  pm.addPass(createInlinePrivateFunctionsPass({options.keepFunctionsOf}));
  if (options.keepFunctionsOf > 0) {
    pm.addPass(createPropagateShardingFromFuncToCallPass());
    pm.addPass(createFlattenCallGraphPass());
    pm.addPass(createImportFuncCallsPass(
        {/*addDataFlowEdgesOnNamedComputations=*/false}));
  }
  // Here, so that all other stages see ops on the whole mesh only.
  pm.addNestedPass<func::FuncOp>(
      createResolveSingleDeviceShardingPass({/*keepGiven=*/true}));
  pm.addPass(createApplyCanonicalPatternsPass());
  pm.addPass(createForwardLoopCopiesPass());
  pm.addPass(createSlicesToBatchesPass());
  // What counts has been written by sizes that are data.
  pm.addNestedPass<func::FuncOp>(createExplicitGatherScatterBatchingPass());
  pm.addPass(createEraseUnusedResultsPass());
  // Behind canonical patterns, which undo it.
  pm.addPass(createReadsToGathersPass());
  pm.addPass(createCapturesToOperandsPass());
  pm.addPass(createCheckSupportedPass());
  pm.addPass(createRemoveSizeOneAxesPass());
  pm.addPass(createReductionsToConstraintsPass());
  pm.addPass(createTrimConstraintsPass());
  pm.addPass(createConstantOrScalarSplitterPass());
  pm.addPass(createDeriveOpShardingsPass());
  pm.addPass(createApplyOpShardingsPass());
  pm.addPass(createManualAxesCleanupPass());
  pm.addPass(createAddDataFlowEdgesPass());
  pm.addPass(createApplyShardingConstraintsPass());
  pm.addPass(createShardingGroupImportPass());
  if (!options.keepPropagated)
    pm.addPass(createSplitMergedDimsPass());
}

void addPropagate(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.keepPropagated) {
    pm.addPass(createPropagateByPricePass(options));
    return;
  }
  UserPriorityPropagatePassOptions propagation;
  propagation.backwardForward = options.schedule == "backward-forward";
  pm.addPass(createUserPriorityPropagatePass(propagation));
}

void addExport(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createRemoveShardingGroupsPass());
  pm.addNestedPass<func::FuncOp>(createConstantOrScalarMergerPass());
  pm.addNestedPass<func::FuncOp>(createSinkDataFlowEdgesPass());
  pm.addNestedPass<func::FuncOp>(createShardingConstraintToReshardPass());
  pm.addNestedPass<func::FuncOp>(createRemovePropagationBarriersPass());
  pm.addNestedPass<func::FuncOp>(createTrimIdleAxesPass());
  pm.addPass(
      createUpdateNonDivisibleInputOutputShardingsPass({/*keepGiven=*/true}));
  pm.addPass(
      createRemoveSubAxesInInputOutputShardingsPass({/*keepGiven=*/true}));
  pm.addPass(createCloseShardingsPass());
  pm.addPass(createUnifyMeshesPass());
  auto [arguments, results] = options.boundary();
  if (arguments || results)
    pm.addNestedPass<func::FuncOp>(
        createWholeBoundaryPass({arguments, results}));
  if (options.keepFunctionsOf > 0)
    pm.addPass(createShareComputationsPass());
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
  // Here, as other partitioners take in what is exported.
  if (options.findsWindows) {
    pm.addNestedPass<func::FuncOp>(createFindPeriodicWindowsPass());
    pm.addNestedPass<func::FuncOp>(createSliceBeforePadPass());
  }
  // What is made twice is reduced and moved once.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass({/*keepLoops=*/true}));
  int64_t memoryLimit = memoryLimitOf(options);
  if (memoryLimit > 0 && options.fitsMemory && !options.keepPropagated)
    pm.addPass(createFitMemoryPass({memoryLimit, options.deviceModel,
                                    options.searchMode, options.noBucketing}));
  InsertExplicitReshardsPassOptions reshards;
  reshards.pricesMemory = memoryLimit > 0;
  reshards.enableFullVersion = true;
  reshards.avoidReshardsOnCalls = options.avoidReshardsOnCalls;
  reshards.noImplicitReplication = options.noImplicitReplication;
  reshards.noGatherByPrice = options.noGatherByPrice;
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
  pm.addNestedPass<func::FuncOp>(
      createOptimizeCollectivesPass({options.deviceModel}));
  // Equal moves of equal values are one.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
}

void addPartition(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createPartitionToLocalPass(
      {options.noImplicitReplication, options.deviceModel,
       options.recordsCauses, options.keepsShardings}));
  // Equal windows are fetched once: the report counts what is there now.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
  int64_t memoryLimit = memoryLimitOf(options);
  if (memoryLimit > 0)
    pm.addPass(createRematerializePass({memoryLimit}));
  if (!options.noBucketing)
    pm.addNestedPass<func::FuncOp>(createBucketCollectivesPass(
        {options.deviceModel, options.memoryLimit}));
  if (memoryLimit > 0 && options.checksMemory)
    pm.addPass(createCheckMemoryPass(
        {memoryLimit, /*warns=*/options.memoryLimit == 0}));
}

void addEmit(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target == "mpi") {
    pm.addNestedPass<func::FuncOp>(createComposeWindowsPass());
    pm.addNestedPass<func::FuncOp>(createSplitElementwisePass());
    pm.addNestedPass<func::FuncOp>(createExpandUnloweredPass());
    pm.addNestedPass<func::FuncOp>(createGuardDivisionsPass());
    pm.addNestedPass<func::FuncOp>(createReadInitsAsInputsPass());
    // Its calls have effects, so equal ones stay apart.
    pm.addPass(createEmitMpiPass());
    return;
  }
  pm.addPass(createEmitStablehloPass());
  // Every index computes its own position, every shard has its own constants.
  pm.addNestedPass<func::FuncOp>(createShareEqualOpsPass());
}

LogicalResult
addPartitionPipeline(OpPassManager &pm, StringRef text,
                     llvm::function_ref<LogicalResult(const Twine &)> error) {
  FailureOr<PipelineOptions> options = parsePipelineOptions(text);
  if (failed(options))
    return failure();
  if (std::string mistake = findMistake(*options); !mistake.empty())
    return error(mistake);
  for (Stage stage : allStages())
    addStage(pm, stage, *options);
  return success();
}

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

FailureOr<PipelineOptions> parsePipelineOptions(StringRef text) {
  PartitionPipelineOptions given;
  if (failed(given.parseFromString(text)))
    return failure();
  return given.get();
}

std::string toText(const PipelineOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
#define SHARDONNAY_PIPELINE_OPTION(type, field, name, initial, value, help)    \
  if (options.field != PipelineOptions().field)                                \
    os << name << "='" << options.field << "' ";
#include "shardonnay/pipeline/Options.def"
  return text;
}

LogicalResult runVerified(PassManager &pm, ModuleOp module, bool isBoundary) {
  pm.enableVerifier(kVerifiesEachPass);
  if (failed(pm.run(module)))
    return failure();
  return success(kVerifiesEachPass || !isBoundary || succeeded(verify(module)));
}

void addStage(OpPassManager &pm, Stage stage, const PipelineOptions &options) {
  switch (stage) {
  case Stage::Import:
    return addImport(pm, options);
  case Stage::Propagate:
    return addPropagate(pm, options);
  case Stage::Export:
    return addExport(pm, options);
  case Stage::Reshard:
    return addReshard(pm, options);
  case Stage::Collectives:
    return addCollectives(pm, options);
  case Stage::Partition:
    return addPartition(pm, options);
  case Stage::Emit:
    return addEmit(pm, options);
  }
}

void registerAllPipelines() {
  registerKnownPipelines();
  registerPassPipeline(
      "sdy-partition-pipeline",
      "From a program as JAX prints it to the StableHLO of one device",
      addPartitionPipeline,
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> document) {
        document(PartitionPipelineOptions());
      });
}

} // namespace shardonnay
