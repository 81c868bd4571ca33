//===- PropagationRun.h - what the propagation passes share -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRUN_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRUN_H

#include "mlir/IR/Action.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "shardonnay/transforms/propagate/PropagationRecorder.h"

namespace shardonnay {

/// One visit of propagation that changes shardings: what it did to which values
/// of which op. A handler that does not execute it leaves the shardings as they
/// are. Shown by `--log-actions-to`, counted by `--mlir-debug-counter`.
class PropagationStepAction
    : public mlir::tracing::ActionImpl<PropagationStepAction> {
public:
  static constexpr llvm::StringLiteral tag = "sdy-propagation-step";
  /// `text`: "step 3, priority 0, all factors: result 0 of stablehlo.add
  /// [{?}, {?}] -> [{"x", ?}, {?}]".
  PropagationStepAction(llvm::ArrayRef<mlir::IRUnit> units, std::string text)
      : ActionImpl(units), text(std::move(text)) {}

  void print(llvm::raw_ostream &os) const override {
    os << tag << ", " << text;
  }

private:
  std::string text;
};

struct PropagationRunOptions {
  bool keepShardingRules = false;
  /// Write `sdy.sharding_origins`, `sdy.propagation_edges`.
  bool origins = false;
  bool edges = false;
  /// Where remarks go as JSON lines; empty: where the context streams them.
  std::string remarksFile;
  /// See ConservativeRule.h.
  bool conservative = false;
  /// Priorities have done their work.
  bool dropsPriorities = false;
  /// `propagate` asks for the operations of the graph.
  bool keepsOperations = false;
  /// Where the module goes after the pass, as after_<pass>.mlir; empty:
  /// nowhere.
  std::string dumpDirectory;
  llvm::StringRef passName;
};

/// Reads the module, runs `propagate` on its graph and writes it back, with
/// what was asked for besides. The sink is null if nothing was. Fails, with an
/// error, if the file can't be written.
llvm::LogicalResult runPropagation(
    mlir::ModuleOp module, const PropagationRunOptions &options,
    llvm::function_ref<void(ModuleGraph &, PropagationSink *)> propagate);

/// A pass that runs `propagate`, with the options that all such passes have.
template <typename BaseT> struct PropagationPass : BaseT {
  using BaseT::BaseT;

protected:
  virtual void propagate(ModuleGraph &module, PropagationSink *sink) = 0;
  virtual bool readsPriorities() const { return false; }
  virtual bool readsOperations() const { return false; }

  void runOnOperation() override {
    // Groups that disagree get constraints.
    if (auto kinds = this->template getCachedAnalysis<OpKinds>();
        kinds && !kinds->get().template mayHave<mlir::sdy::ShardingGroupOp>())
      this->template markAnalysesPreserved<OpKinds>();
    PropagationRunOptions options;
    options.keepShardingRules = this->keepShardingRules;
    options.origins = this->debugShardingOrigins;
    options.edges = this->debugPropagationEdgeSharding;
    options.remarksFile = this->remarksFile;
    options.conservative = this->conservativePropagation;
    options.dropsPriorities = readsPriorities();
    options.keepsOperations = readsOperations();
    options.dumpDirectory = this->moduleDumpDirectory;
    options.passName = this->getArgument();
    if (llvm::failed(
            runPropagation(this->getOperation(), options,
                           [&](ModuleGraph &graph, PropagationSink *sink) {
                             propagate(graph, sink);
                           })))
      this->signalPassFailure();
  }
};

} // namespace shardonnay

MLIR_DECLARE_EXPLICIT_TYPE_ID(shardonnay::PropagationStepAction)

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRUN_H
