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

#include "shardonnay/pipeline/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <optional>

namespace mlir {
class ModuleOp;
class OpPassManager;
class PassManager;
} // namespace mlir

namespace shardonnay {

struct PlannedProgram;

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

/// What users choose, and what the pipelines that are made of the stages do.
struct PipelineOptions : Options {
  /// Operands of calls stay as they are: what follows reshards them.
  bool avoidReshardsOnCalls = false;
  /// Plans are chosen that hold no more than the limit.
  bool fitsMemory = true;
  /// What holds more than the limit is refused.
  bool checksMemory = true;
  /// Leave on each collective why it is there, and on the functions the plan's
  /// cost: for a report. The program is the same without.
  bool recordsCauses = false;
  /// The shardings of which the local tensors are shards stay.
  bool keepsShardings = false;
  /// Ops of `spmd` may stand for the program's: all stages follow.
  bool findsWindows = true;
  /// Where propagation leaves the plan behind partition, if it has made that
  /// one to compare; null: nowhere.
  std::optional<PlannedProgram> *planned = nullptr;
};

/// As `sdy-partition-pipeline` has them. An error says what is wrong with them.
llvm::FailureOr<PipelineOptions> parsePipelineOptions(llvm::StringRef text);
/// What `parsePipelineOptions` reads: all but those that users can't choose.
std::string toText(const PipelineOptions &options);

/// The IR is verified after each pass where assertions are on. Else it is where
/// it crosses a boundary: what the user wrote, in all its spellings, after
/// import; the plan after collectives; what leaves after the last stage. To
/// verify after each of the stages took a third of a compilation.
#ifdef NDEBUG
constexpr bool kVerifiesEachPass = false;
#else
constexpr bool kVerifiesEachPass = true;
#endif

/// Runs `pm` on the module, verifying each pass if `kVerifiesEachPass`, and
/// what comes of it if `isStageBoundary`.
llvm::LogicalResult runVerified(mlir::PassManager &pm, mlir::ModuleOp module,
                                bool isStageBoundary = true);

/// Appends the passes of one stage to a pass manager on the module.
void addStage(mlir::OpPassManager &pm, Stage stage,
              const PipelineOptions &options);

/// Registers `sdy-import-pipeline`, `sdy-propagation-pipeline`,
/// `sdy-export-pipeline` and `sdy-partition-pipeline` for textual use.
void registerAllPipelines();

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_PIPELINES_H
