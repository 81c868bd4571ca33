//===- Compile.cpp - from a program's text to a device's ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/pipeline/BoolElements.h"
#include "shardonnay/pipeline/Explain.h"
#include "shardonnay/pipeline/OpList.h"
#include "shardonnay/pipeline/ParseProgram.h"
#include "shardonnay/pipeline/PropagationOrder.h"
#include "shardonnay/pipeline/Registration.h"
#include "shardonnay/pipeline/ResourceLimits.h"
#include "shardonnay/pipeline/SealedBytecode.h"
#include "shardonnay/pipeline/Unpartitioned.h"
#include "shardonnay/report/Report.h"

using namespace mlir;

namespace shardonnay {

namespace {

llvm::StringRef toString(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("no such severity");
}

void append(std::vector<CompileDiagnostic> &all, Diagnostic &diagnostic) {
  all.push_back({toString(diagnostic.getSeverity()).str(),
                 getSourceLocation(diagnostic.getLocation()).line,
                 diagnostic.str()});
  for (Diagnostic &note : diagnostic.getNotes())
    append(all, note);
}

LogicalResult print(ModuleOp module, const CompileOptions &options,
                    std::string &text) {
  if (options.bytecode)
    return writeSealedBytecode(module, text);
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(options.debugInfo);
  flags.assumeVerified(); // The last stage was.
  module.print(os, flags);
  // jaxlib's MLIR writes them so; MLIR's own tools, which lower for MPI, don't.
  if (options.target != "mpi")
    unpackBoolElements(text);
  return success();
}

/// Runs the stages one by one and reads what the result wants of the states
/// between them.
class StageRunner {
public:
  StageRunner(ModuleOp module, const CompileOptions &compile, Stage last,
              CompileResult &result)
      : module(module), options{compile}, last(last), reports(compile.report),
        result(result) {
    options.recordsCauses = reports;
    if (last >= Stage::Partition)
      options.planned = &planned;
    if (reports)
      baseline.given = countShardings(module);
  }

  LogicalResult run(Stage stage) {
    bool isPlanned =
        planned && stage > Stage::Propagate && stage <= Stage::Partition;
    if (!isPlanned && failed(runPasses(stage)))
      return failure();
    if (reports)
      observe(stage);
    if (planned && stage == Stage::Propagate)
      return takePlan();
    return success();
  }

  void finish() { result.manifest = std::move(readings.manifest); }

private:
  LogicalResult runPasses(Stage stage) {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    addStage(pm, stage, options);
    bool isBoundary =
        stage == last || stage == Stage::Import || stage == Stage::Collectives;
    if (failed(runVerified(pm, module, isBoundary)))
      return failure();
    readings.read(module, stage, options,
                  [&]() -> const DeviceModel & { return model(); });
    return success();
  }

  /// Goes on behind the plan that propagation has made.
  LogicalResult takePlan() {
    ModuleOp program = *planned->program;
    module.getBodyRegion().takeBody(program.getBodyRegion());
    module->setAttrs(program->getAttrDictionary());
    readings = std::move(planned->readings);
    for (Diagnostic &diagnostic : planned->trial.said)
      module.getContext()->getDiagEngine().emit(std::move(diagnostic));
    return verify(module);
  }

  /// Takes down what the report wants of the state after a stage.
  void observe(Stage stage) {
    switch (stage) {
    case Stage::Import:
      baseline.global = summarize(module);
      break;
    case Stage::Propagate:
      baseline.propagated = countShardings(module);
      takeOrder();
      break;
    case Stage::Partition:
      baseline.plan = readings.cost;
      baseline.planned = readings.planned;
      baseline.directWindows = options.target == "mpi";
      result.report = buildReport(module, baseline, model());
      break;
    default:
      break;
    }
  }

  void takeOrder() {
    auto order = dyn_cast_or_null<DictionaryAttr>(
        module->removeAttr(sdy::kPropagationOrderAttr));
    if (!order)
      return;
    baseline.order.price = order.getAs<FloatAttr>("price").getValueAsDouble();
    baseline.order.priceAsGiven =
        order.getAs<FloatAttr>("price_as_given").getValueAsDouble();
    auto readNames = [&](StringRef entry) {
      return llvm::map_to_vector(
          order.getAs<ArrayAttr>(entry).getAsRange<StringAttr>(),
          [](StringAttr name) { return name.str(); });
    };
    baseline.order.later = readNames("later");
    baseline.order.carried = readNames("carried");
    baseline.order.split = readNames("split");
  }

  /// Loaded when it is asked for: a pass has refused a wrong name by then.
  const DeviceModel &model() {
    std::string error;
    if (!loaded)
      loaded = DeviceModel::load(options.deviceModel, error)
                   .value_or(DeviceModel::getDefault());
    return *loaded;
  }

  ModuleOp module;
  PipelineOptions options;
  Stage last;
  bool reports;
  CompileResult &result;
  ReportBaseline baseline;
  PlanReadings readings;
  std::optional<PlannedProgram> planned;
  std::optional<DeviceModel> loaded;
};

/// Parses the program and hands it to `process`, which fills the result. All
/// diagnostics on the way are in the result.
CompileResult withProgram(
    llvm::StringRef text, llvm::StringRef name, const ResourceLimits &limits,
    llvm::function_ref<LogicalResult(ModuleOp, CompileResult &)> process) {
  CompileResult result;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Diagnostics speak of the user's lines, not of the IR at hand.
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    append(result.diagnostics, diagnostic);
    return success();
  });
  OwningOpRef<ModuleOp> module = parseProgram(text, name, context);
  if (!module)
    return result;
  ResourceGuard guard(context, limits);
  bool isDone = succeeded(process(*module, result));
  result.ok = succeeded(guard.finish()) && isDone;
  return result;
}

CompileResult refuse(const std::string &mistake, llvm::StringRef name) {
  CompileResult refused;
  refused.diagnostics.push_back({"error", name.str(), mistake});
  return refused;
}

} // namespace

std::string CompileDiagnostic::str() const {
  return (location.empty() ? "" : location + ": ") + severity + ": " + message;
}

CompileResult compile(llvm::StringRef text, const CompileOptions &options,
                      llvm::StringRef name) {
  if (std::string mistake = findMistake(options); !mistake.empty())
    return refuse(mistake, name);
  std::optional<Stage> last = parseStage(options.to); // None: only parse.
  auto run = [&](ModuleOp module, CompileResult &result) -> LogicalResult {
    if (!last)
      return print(module, options, result.text);
    StageRunner runner(module, options, *last, result);
    for (Stage stage : allStages())
      if (stage <= *last && ((options.goesOn && !options.goesOn(stage)) ||
                             failed(runner.run(stage))))
        return failure();
    runner.finish();
    return print(module, options, result.text);
  };
  ResourceLimits limits{options.timeLimit, options.hostMemoryLimit};
  return withProgram(text, name, limits, run);
}

CompileResult unpartitioned(llvm::StringRef text, llvm::StringRef name) {
  auto run = [](ModuleOp module, CompileResult &result) -> LogicalResult {
    if (failed(dropShardings(module)))
      return failure();
    return print(module, {}, result.text);
  };
  return withProgram(text, name, {}, run);
}

CompileResult explain(llvm::StringRef text, const CompileOptions &options,
                      llvm::StringRef name) {
  if (std::string mistake = findMistake(options); !mistake.empty())
    return refuse(mistake, name);
  auto run = [&](ModuleOp module, CompileResult &result) -> LogicalResult {
    rememberNames(module);
    std::shared_ptr<const DeviceModel> model;
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    addStage(pm, Stage::Import, {options});
    if (failed(
            loadDeviceModel(options.deviceModel, module.getContext(), model)) ||
        failed(runVerified(pm, module)))
      return failure();
    result.report = explainPropagation(module, {options}, *model);
    return print(module, options, result.text);
  };
  return withProgram(text, name, {}, run);
}

CompileResult list(llvm::StringRef text, llvm::StringRef name) {
  auto run = [](ModuleOp module, CompileResult &result) -> LogicalResult {
    FailureOr<llvm::json::Value> ops = listOps(module);
    if (failed(ops))
      return failure();
    result.report = std::move(*ops);
    return success();
  };
  return withProgram(text, name, {}, run);
}

} // namespace shardonnay
