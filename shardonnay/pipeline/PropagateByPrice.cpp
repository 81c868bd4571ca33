//===- PropagateByPrice.cpp - the order in which shardings propagate ------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read the module into a graph.
// 2. Propagate in the order that makes the cheapest plan (PropagationOrder.h).
// 3. Write the shardings that changed, and on request what came later.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/PropagationOrder.h"
#include "shardonnay/transforms/propagate/PropagationRemarks.h"
#include "shardonnay/transforms/propagate/PropagationRun.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PROPAGATEBYPRICEPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

struct PropagateByPricePass
    : PropagationPass<impl::PropagateByPricePassBase<PropagateByPricePass>> {
  using PropagationPass::PropagationPass;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<PipelineOptions> parsed = parsePipelineOptions(pipelineOptions);
    if (failed(parsed))
      return failure();
    options = *parsed;
    options.recordsCauses = recordOrder;
    return loadDeviceModel(options.deviceModel, context, model);
  }

  bool readsPriorities() const override { return true; }
  bool readsOperations() const override { return true; }
  void propagate(ModuleGraph &graph, PropagationSink *sink) override {
    PropagationOrder order =
        propagateByPrice(getOperation(), graph, options, *model, sink);
    if (recordOrder && !order.change.isNone())
      record(graph, order);
    if (planned)
      *planned = std::move(order.planned);
  }

  /// The names of tensors, as a report calls them.
  ArrayAttr namesOf(const ModuleGraph &graph, ArrayRef<int32_t> tensors) {
    Builder builder(&getContext());
    llvm::SetVector<Attribute> names;
    for (int32_t tensor : tensors) {
      std::string name = getSourceLocation(locationOf(graph, tensor)).name;
      names.insert(
          builder.getStringAttr(name.empty() ? describe(graph, tensor) : name));
    }
    return builder.getArrayAttr(names.getArrayRef());
  }

  void record(const ModuleGraph &graph, const PropagationOrder &order) {
    SmallVector<int32_t> later, carried, split;
    for (const GivenDim &dim : order.change.later)
      later.push_back(dim.tensor);
    for (const GivenCarry &carry : order.change.carried)
      if (carry.isCarried)
        carried.push_back(carry.tensor);
    for (const SharedBatch &made : order.change.split)
      split.push_back(made.tensor);
    Builder builder(&getContext());
    getOperation()->setAttr(
        sdy::kPropagationOrderAttr,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("price",
                                  builder.getF64FloatAttr(order.price)),
             builder.getNamedAttr("price_as_given",
                                  builder.getF64FloatAttr(order.priceAsGiven)),
             builder.getNamedAttr("later", namesOf(graph, later)),
             builder.getNamedAttr("carried", namesOf(graph, carried)),
             builder.getNamedAttr("split", namesOf(graph, split))}));
  }

  /// Where the plan goes, or null.
  std::optional<PlannedProgram> *planned = nullptr;

private:
  PipelineOptions options;
  std::shared_ptr<const DeviceModel> model;
};

} // namespace

std::unique_ptr<Pass>
createPropagateByPricePass(const PipelineOptions &options) {
  PropagateByPricePassOptions written;
  written.pipelineOptions = toText(options);
  written.recordOrder = options.recordsCauses;
  auto pass = std::make_unique<PropagateByPricePass>(written);
  pass->planned = options.planned;
  return pass;
}

} // namespace shardonnay
