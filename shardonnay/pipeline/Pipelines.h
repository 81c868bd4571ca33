//===- Pipelines.h - the order of the stages --------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows the order of the stages. The IR between two stages
// is their only contract: shardonnay/transforms/<stage>/Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_PIPELINES_H
#define SHARDONNAY_PIPELINE_PIPELINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <optional>
#include <string>

namespace mlir {
class ModuleOp;
class OpPassManager;
class PassManager;
} // namespace mlir

namespace shardonnay {

/// The stages, in the order they run.
enum class Stage {
  Import,
  Propagate,
  Export,
  Reshard,
  Collectives,
  Partition,
  Emit,
};

/// All stages, in order.
llvm::ArrayRef<Stage> allStages();
/// "import", "propagate", ...: the name of the stage's folder.
llvm::StringRef toString(Stage stage);
/// The stage of that name; nothing if there is none.
std::optional<Stage> parseStage(llvm::StringRef name);

/// How the program is called: each argument (result) as the pieces that its
/// sharding says, or whole on every device.
struct BoundaryMode {
  bool wholeArguments = false;
  bool wholeResults = false;
};

struct PipelineOptions {
  /// An op that can't be computed on shards and gathers something is an error,
  /// not a warning.
  bool noImplicitReplication = false;
  /// What the documents ask for beyond the verifiers is an error, not a
  /// warning.
  bool strict = false;
  /// What plans and choices are priced by: see DeviceModel::load.
  std::string deviceModel = "cpu";
  BoundaryMode boundary;
  /// Bytes that a device may hold at once; 0: as many as the device model says.
  /// A program that needs more is an error, of the model's a warning.
  int64_t memoryLimit = 0;
  /// Small tensors may be reduced or gathered together.
  bool bucketing = true;
  /// A private function of so many ops or more that several calls have in
  /// common stays a function, one for each way that its calls are sharded. 0:
  /// all are inlined. A boundary forces its shardings on what crosses it.
  int64_t keepFunctionsOf = 0;
  /// Operands of calls stay as they are: what follows reshards them.
  bool avoidReshardsOnCalls = false;
  /// How ops are cut: "graph" chooses for neighbours together, "greedy" for
  /// each alone.
  std::string searchMode = "greedy";
  /// No value lies otherwise than propagation decided to save communication.
  bool keepPropagated = false;
  /// Plans are chosen that hold no more than the limit, and what holds more is
  /// refused.
  bool fitsMemory = true;
  /// Leave on each collective why it is there, and on the functions the plan's
  /// cost: for a report. The program is the same without.
  bool recordsCauses = false;
};

/// The IR is verified after each pass where assertions are on. Else it is where
/// it crosses a border: what the user wrote, in all its spellings, after
/// import; the plan after collectives; what leaves after the last stage. To
/// verify after each of the stages took a third of a compilation.
#ifdef NDEBUG
constexpr bool kVerifiesEachPass = false;
#else
constexpr bool kVerifiesEachPass = true;
#endif

/// Runs `pm` on the module, verifying each pass if `kVerifiesEachPass`, and
/// what comes of it if `isBorder`.
llvm::LogicalResult runVerified(mlir::PassManager &pm, mlir::ModuleOp module,
                                bool isBorder = true);

/// Appends the passes of one stage to a pass manager on the module.
void addStage(mlir::OpPassManager &pm, Stage stage,
              const PipelineOptions &options);

/// Registers `sdy-import-pipeline`, `sdy-propagation-pipeline`,
/// `sdy-export-pipeline` and `sdy-partition-pipeline` for textual use.
void registerAllPipelines();

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_PIPELINES_H
