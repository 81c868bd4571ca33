//===- PropagationRun.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationRun.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/report/JsonRemarks.h"
#include "shardonnay/report/ModuleDump.h"
#include "shardonnay/transforms/propagate/GroupShardings.h"
#include "shardonnay/transforms/propagate/PropagationRemarks.h"
#include "shardonnay/transforms/propagate/RecordAttributes.h"
#include "shardonnay/transforms/propagate/RuleAttributes.h"
#include "llvm/Support/FileSystem.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(shardonnay::PropagationStepAction)

using namespace mlir;

namespace shardonnay {

namespace {
/// Records steps, and offers each as an action first.
class ActionSink : public PropagationSink {
public:
  ActionSink(const ModuleGraph &module, PropagationRecorder &recorder,
             int32_t firstStep)
      : module(module), recorder(recorder), step(firstStep) {}

  bool visit(const PropagationGraph &graph,
             const PropagationVisit &visit) override {
    bool changes = llvm::any_of(visit.newShardings,
                                [](int32_t id) { return id != kNone; });
    bool execute = true;
    if (changes && module.context()->hasActionHandler()) {
      execute = false;
      SmallVector<IRUnit> units;
      if (!visit.isReturn)
        units.push_back(module.operation(visit.op));
      module.context()->executeAction<PropagationStepAction>(
          [&] { execute = true; }, units, text(visit));
    }
    if (execute) {
      recorder.visit(graph, visit);
      step += changes;
    }
    return execute;
  }

private:
  std::string text(const PropagationVisit &visit) const {
    const OpArray &ops =
        visit.isReturn ? module.graph.returns() : module.graph.ops();
    std::string result;
    llvm::raw_string_ostream os(result);
    os << "step " << step << ", priority " << visit.round << ", "
       << levelName(static_cast<int32_t>(visit.level)) << ":";
    for (auto [slot, id] : llvm::enumerate(visit.newShardings)) {
      if (id == kNone)
        continue;
      int32_t tensor = ops.tensors(visit.op)[slot];
      os << " " << describe(module, tensor) << " ";
      print(os, module.graph.shardingId(tensor), id);
      os << " -> ";
      print(os, id, id);
    }
    return result;
  }

  /// The dims of sharding `id`, in the mesh of sharding `named`.
  void print(raw_ostream &os, int32_t id, int32_t named) const {
    const PropagationGraph &graph = module.graph;
    sdy::MeshAttr mesh = module.mesh(graph.shardingOf(named).mesh);
    auto printDim = [&](const DimSharding &dim) {
      os << "{";
      llvm::interleaveComma(dim.axes, os, [&](AxisRef axis) {
        os << axisKey(sdy::fromAxisRef(axis, mesh));
      });
      if (!dim.closed)
        os << (dim.axes.empty() ? "?" : ", ?");
      os << "}";
    };
    os << "[";
    llvm::interleaveComma(graph.shardingOf(id).sharding.dims, os, printDim);
    os << "]";
  }

  const ModuleGraph &module;
  PropagationRecorder &recorder;
  int32_t step;
};
} // namespace

static LogicalResult writeRemarksFile(const ModuleGraph &module,
                                      const PropagationRecord &record,
                                      StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error, llvm::sys::fs::OF_Text);
  if (error)
    return emitError(module.location())
           << "cannot write remarks to '" << path << "': " << error.message();
  emitRemarks(*makeJsonRemarkEngine(kRemarkCategory, os), module, record);
  return success();
}

static LogicalResult writeRecord(const ModuleGraph &module,
                                 const PropagationRecord &record,
                                 const PropagationRunOptions &options,
                                 remark::detail::RemarkEngine *remarks) {
  if (options.origins)
    writeOrigins(module, record);
  if (options.edges)
    writeEdges(module, record);
  if (remarks)
    emitRemarks(*remarks, module, record);
  return options.remarksFile.empty()
             ? success()
             : writeRemarksFile(module, record, options.remarksFile);
}

LogicalResult runPropagation(
    ModuleOp module, const PropagationRunOptions &options,
    llvm::function_ref<void(ModuleGraph &, PropagationSink *)> propagate) {
  if (options.origins)
    nameOrigins(module);
  bool mayRecord = options.origins || options.edges ||
                   !options.remarksFile.empty() ||
                   module.getContext()->getRemarkEngine() ||
                   module.getContext()->hasActionHandler();
  ModuleGraph graph = shareGroupShardings(
      module, /*keepOperations=*/mayRecord || options.keepsOperations,
      options.conservative);
  remark::detail::RemarkEngine *remarks = askForRemarks(graph);
  bool records = options.origins || options.edges || remarks ||
                 !options.remarksFile.empty() ||
                 module.getContext()->hasActionHandler();
  if (records) {
    int64_t firstStep = getNextStep(module);
    PropagationRecorder recorder(graph.graph, firstStep);
    readOrigins(graph, recorder);
    ActionSink sink(graph, recorder, firstStep);
    propagate(graph, &sink);
    graph.write(options.dropsPriorities);
    if (failed(writeRecord(graph, recorder.take(), options, remarks)))
      return failure();
  } else {
    propagate(graph, nullptr);
    graph.write(options.dropsPriorities);
  }
  if (options.keepShardingRules)
    writeRuleAttributes(module, options.conservative);
  return dumpModule(module, options.dumpDirectory,
                    ("after_" + options.passName).str());
}

} // namespace shardonnay
