//===- PropagateByPrice.cpp - the order in which shardings propagate ------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Propagate what was given, in the order that user and op priorities say.
// 2. Where axes were given to several dims that meet, an estimate says which
//    should come first (transforms/propagate/GivenOrders.h). In each of the
//    orders that are tried, what should come later does in a second round.
//    Nothing comes of those in which most dims that come first have their axes
//    anyway (`contestedShare`), and of those that hardly change anything
//    (`differingShare`).
// 3. `plan`: the stages from export to partition run on a copy for each of the
//    others, and for the order that was given.
// 4. The cheapest stays.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/ComputePrice.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/TrialPlan.h"
#include "shardonnay/transforms/propagate/GivenOrders.h"
#include "shardonnay/transforms/propagate/PropagationRun.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PROPAGATEBYPRICEPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// Orders that are tried, of programs that have no more ops than this, or where
/// a search may take its time; else one.
constexpr size_t kMostOrders = 3;
constexpr int32_t kSmallProgram = 1000;
/// The least part of the bytes for which an order has to be open, and which it
/// has to change, to be worth a plan.
constexpr double kLeastContested = 0.001;
constexpr double kLeastDiffering = 0.01;

/// Ids of shardings, by tensor.
using ShardingIds = std::vector<int32_t>;

class OrderedPropagation {
public:
  OrderedPropagation(ModuleOp module, ModuleGraph &read,
                     const PipelineOptions &options, const DeviceModel &model)
      : module(module), read(read), graph(read.graph), options(options),
        model(model) {}

  void run(PropagationSink *sink);

private:
  struct Plan {
    double price;
    int64_t peak;
  };

  ShardingIds present() const;
  void set(const ShardingIds &ids);
  /// What comes of `given`.
  ShardingIds propagate(const ShardingIds &given,
                        PropagationSink *sink = nullptr);
  bool hasPriorities(const ShardingIds &given) const;
  GraphWeights readWeights() const;
  RankedTensorType typeOf(int32_t tensor) const;
  ShardingIds withPriorities(ShardingIds given, ArrayRef<GivenDim> later);
  size_t numTried(const GivenOrders &orders) const;
  /// `given`, some with priorities if what comes of that is cheaper than
  /// `asGiven`.
  ShardingIds findCheapest(const ShardingIds &given, const GivenOrders &orders,
                           const ShardingIds &asGiven);
  std::optional<Plan> plan(const ShardingIds &propagated);
  bool isBetter(const Plan &plan, const Plan &other) const;

  ModuleOp module;
  ModuleGraph &read;
  PropagationGraph &graph;
  const PipelineOptions &options;
  const DeviceModel &model;
  LentSolvers solvers;
};

ShardingIds OrderedPropagation::present() const {
  ShardingIds ids;
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    ids.push_back(graph.shardingId(tensor));
  return ids;
}

void OrderedPropagation::set(const ShardingIds &ids) {
  for (auto [tensor, id] : llvm::enumerate(ids))
    graph.setSharding(tensor, id);
}

ShardingIds OrderedPropagation::propagate(const ShardingIds &given,
                                          PropagationSink *sink) {
  set(given);
  if (options.schedule == "backward-forward")
    propagateBackwardForward(graph, sink);
  else
    propagateByUserPriority(graph, PropagationStrategy::Aggressive,
                            /*byOpPriority=*/true, sink);
  return present();
}

bool OrderedPropagation::hasPriorities(const ShardingIds &given) const {
  return llvm::any_of(given, [&](int32_t id) {
    return llvm::any_of(
        graph.shardingOf(id).sharding.dims,
        [](const DimSharding &dim) { return dim.priority != 0; });
  });
}

RankedTensorType OrderedPropagation::typeOf(int32_t tensor) const {
  if (Value value = read.value(tensor))
    return cast<RankedTensorType>(value.getType());
  ModuleGraph::FunctionResult result = *read.functionResult(tensor);
  return cast<RankedTensorType>(result.func.getResultTypes()[result.index]);
}

GraphWeights OrderedPropagation::readWeights() const {
  GraphWeights weights;
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    weights.bytes.push_back(byteSize(typeOf(tensor)));
  llvm::DenseMap<Block *, double> runs;
  for (int32_t number : llvm::seq(graph.ops().size())) {
    Operation *op = read.operation(number);
    auto [known, isNew] = runs.try_emplace(op->getBlock());
    if (isNew)
      known->second = sdy::getTrips(op).count;
    weights.runs.push_back(known->second);
  }
  return weights;
}

ShardingIds
OrderedPropagation::withPriorities(ShardingIds given,
                                   ArrayRef<GivenDim> later) {
  for (const GivenDim &dim : later) {
    MeshSharding sharding = graph.shardingOf(given[dim.tensor]);
    sharding.sharding.dims[dim.dim].priority = 1;
    given[dim.tensor] = graph.intern(sharding);
  }
  return given;
}

std::optional<OrderedPropagation::Plan>
OrderedPropagation::plan(const ShardingIds &propagated) {
  IRMapping copied;
  OwningOpRef<ModuleOp> copy(
      cast<ModuleOp>(module->clone(copied)));
  set(propagated);
  read.writeTo(copied, /*dropsPriorities=*/true);
  solvers.lendTo(*copy);
  std::optional<TrialPlan> trial =
      tryPlan(*copy, Stage::Export, options, model, /*saysErrors=*/false);
  if (!trial)
    return std::nullopt;
  return Plan{trial->communication + findComputePrice(*copy, model),
              trial->peak.bytes};
}

/// A plan that does not fit is made to, at a price that is not known yet.
bool OrderedPropagation::isBetter(const Plan &plan, const Plan &other) const {
  int64_t limit = memoryLimitOf(options);
  auto fits = [&](const Plan &one) { return limit == 0 || one.peak <= limit; };
  if (fits(plan) != fits(other))
    return fits(plan);
  return plan.price < other.price && (fits(plan) || plan.peak <= other.peak);
}

size_t OrderedPropagation::numTried(const GivenOrders &orders) const {
  bool isSmall = graph.ops().size() <= kSmallProgram;
  return std::min(orders.size(), isSmall || options.searchMode == "graph"
                                     ? kMostOrders
                                     : size_t{1});
}

ShardingIds OrderedPropagation::findCheapest(const ShardingIds &given,
                                             const GivenOrders &orders,
                                             const ShardingIds &asGiven) {
  ShardingIds best = given;
  std::optional<Plan> bestPlan;
  std::vector<ShardingIds> tried{asGiven};
  for (size_t order : llvm::seq(numTried(orders))) {
    set(asGiven);
    if (orders.contestedShare(order) < kLeastContested)
      continue;
    ShardingIds ordered = withPriorities(given, orders.findLater(order));
    ShardingIds propagated = propagate(ordered);
    if (llvm::any_of(tried, [&](const ShardingIds &other) {
          return orders.differingShare(other, propagated) < kLeastDiffering;
        }))
      continue;
    if (!bestPlan && !(bestPlan = plan(asGiven)))
      return given;
    std::optional<Plan> found = plan(propagated);
    tried.push_back(std::move(propagated));
    if (found && isBetter(*found, *bestPlan)) {
      best = std::move(ordered);
      bestPlan = found;
    }
  }
  return best;
}

void OrderedPropagation::run(PropagationSink *sink) {
  ShardingIds given = present();
  if (hasPriorities(given)) {
    propagate(given, sink);
    return;
  }
  GraphWeights weights = readWeights();
  GivenOrders orders(graph, weights);
  ShardingIds asGiven = propagate(given);
  ShardingIds cheapest = findCheapest(given, orders, asGiven);
  if (sink || cheapest != given)
    propagate(cheapest, sink);
  else
    set(asGiven);
}

struct PropagateByPricePass
    : PropagationPass<impl::PropagateByPricePassBase<PropagateByPricePass>> {
  using PropagationPass::PropagationPass;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<PipelineOptions> parsed = parsePipelineOptions(pipelineOptions);
    if (failed(parsed))
      return failure();
    options = *parsed;
    options.fitsMemory = false;
    return loadDeviceModel(options.deviceModel, context, model);
  }

  void runOnOperation() override {
    // Groups that disagree get constraints.
    if (auto kinds = getCachedAnalysis<OpKinds>();
        kinds && !kinds->get().mayHave<sdy::ShardingGroupOp>())
      markAnalysesPreserved<OpKinds>();
    PropagationPass::runOnOperation();
  }
  bool readsPriorities() const override { return true; }
  bool readsOperations() const override { return true; }
  void propagate(PropagationGraph &, PropagationSink *) override {}
  void propagate(ModuleGraph &graph, PropagationSink *sink) override {
    OrderedPropagation(getOperation(), graph, options, *model).run(sink);
  }

  PipelineOptions options;
  std::shared_ptr<const DeviceModel> model;
};

} // namespace

} // namespace shardonnay
