//===- PropagationOrder.cpp - which given shardings come first ------------===//
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
//    (`differingShare`). Where what a loop carries would be gathered behind it,
//    one more propagation keeps that as it was given (GivenCarries.h). Where a
//    loop takes batches of sharded rows, one more shards each batch
//    (SharedBatches.h).
// 3. `plan`: the stages from export to partition run on a copy for each of the
//    others, and for the order that was given.
// 4. The cheapest stays, with its plan: a compilation goes on from there. Where
//    memory is limited and none fits, each is made to fit, if that is cheap to
//    find out (`fitMemory`).
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/PropagationOrder.h"
#include "shardonnay/analysis/ComputePrice.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/pipeline/TrialPlan.h"
#include "shardonnay/transforms/propagate/GivenOrders.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Orders that are tried, of programs that have no more ops than this, or where
/// a search may take its time.
constexpr size_t kMostOrders = 3;
constexpr int32_t kSmallProgram = 2000;
/// And of larger ones; of others one. The first that is not worth a plan ends
/// the search there.
constexpr size_t kMostOrdersOfLarger = 2;
constexpr int32_t kLargeProgram = 10000;
/// The least part of the bytes for which an order has to be open, and which it
/// has to change, to be worth a plan.
constexpr double kLeastContested = 0.001;
constexpr double kLeastDiffering = 0.01;

/// Ids of shardings, by tensor.
using ShardingIds = std::vector<int32_t>;

/// What came of an order.
struct TriedOrder {
  ShardingIds propagated;
  GivenChange change;
};

class OrderedPropagation {
public:
  OrderedPropagation(ModuleOp module, ModuleGraph &read,
                     const PipelineOptions &options, const DeviceModel &model)
      : module(module), read(read), graph(read.graph), options(options),
        model(model), given(present()) {}

  PropagationOrder run(PropagationSink *sink);

private:
  ShardingIds present() const;
  void set(const ShardingIds &ids);
  /// What comes of `ids`.
  ShardingIds propagate(const ShardingIds &ids,
                        PropagationSink *sink = nullptr);
  bool hasPriorities() const;
  GraphWeights readWeights() const;
  RankedTensorType typeOf(int32_t tensor) const;
  ShardingIds propagateWith(const GivenChange &change,
                            PropagationSink *sink = nullptr);
  bool isThorough() const;
  size_t mostOrders() const;
  /// False if it is not worth a plan.
  bool tryChange(GivenChange change, const GivenOrders &orders);
  void tryOrders(const GivenOrders &orders);
  void tryCarriesAndSplits(const GivenOrders &orders);
  /// Of those that were tried.
  PropagationOrder findCheapest();
  std::optional<PlannedProgram> plan(const ShardingIds &propagated,
                                     bool fitsMemory = false);
  /// Of the orders that were tried the cheapest if all are made to fit, or the
  /// one that holds least; `found` is what it was without.
  PropagationOrder fitMemory(PropagationOrder found);
  bool fits(const PlannedProgram &plan) const;
  bool isBetter(const PlannedProgram &plan, const PlannedProgram &other) const;

  ModuleOp module;
  ModuleGraph &read;
  PropagationGraph &graph;
  const PipelineOptions &options;
  const DeviceModel &model;
  LentSolvers solvers;
  StepMemo memo;
  const ShardingIds given;
  /// Those that were planned; the first is that of the order given.
  std::vector<TriedOrder> tried;
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

ShardingIds OrderedPropagation::propagate(const ShardingIds &ids,
                                          PropagationSink *sink) {
  set(ids);
  if (options.schedule == "backward-forward")
    propagateBackwardForward(graph, sink, &memo);
  else
    propagateByUserPriority(graph, PropagationStrategy::Aggressive,
                            /*byOpPriority=*/true, sink, &memo);
  return present();
}

bool OrderedPropagation::hasPriorities() const {
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

ShardingIds OrderedPropagation::propagateWith(const GivenChange &change,
                                              PropagationSink *sink) {
  ShardingIds ids = given;
  for (const GivenDim &dim : change.later) {
    MeshSharding sharding = graph.shardingOf(ids[dim.tensor]);
    sharding.sharding.dims[dim.dim].priority = 1;
    ids[dim.tensor] = graph.intern(sharding);
  }
  for (const GivenCarry &carry : change.carried)
    ids[carry.tensor] = carry.shardingId;
  for (const SharedBatch &split : change.split)
    ids[split.tensor] = split.shardingId;
  return propagate(ids, sink);
}

std::optional<PlannedProgram>
OrderedPropagation::plan(const ShardingIds &propagated, bool fitsMemory) {
  IRMapping copied;
  PlannedProgram plan;
  plan.program = cast<ModuleOp>(module->clone(copied));
  ModuleOp copy = *plan.program;
  set(propagated);
  read.writeTo(copied, /*dropsPriorities=*/true);
  solvers.lendTo(copy);
  PipelineOptions trialOptions = options;
  trialOptions.fitsMemory = fitsMemory;
  trialOptions.checksMemory = false;
  std::optional<TrialPlan> trial =
      tryPlan(copy, Stage::Export, trialOptions, model, /*saysErrors=*/false,
              &plan.readings);
  if (!trial)
    return std::nullopt;
  plan.price = trial->communication + findComputePrice(copy, model);
  plan.trial = *std::move(trial);
  return plan;
}

bool OrderedPropagation::fits(const PlannedProgram &plan) const {
  int64_t limit =
      options.memoryLimit > 0 ? options.memoryLimit : model.memoryBytes;
  return limit == 0 || plan.trial.peak.bytes <= limit;
}

/// A plan that does not fit is made to, at a price that is not known yet.
bool OrderedPropagation::isBetter(const PlannedProgram &plan,
                                  const PlannedProgram &other) const {
  if (fits(plan) != fits(other))
    return fits(plan);
  return plan.price < other.price &&
         (fits(plan) || plan.trial.peak.bytes <= other.trial.peak.bytes);
}

bool OrderedPropagation::isThorough() const {
  return graph.ops().size() <= kSmallProgram || options.searchMode == "graph";
}

size_t OrderedPropagation::mostOrders() const {
  if (isThorough())
    return kMostOrders;
  return graph.ops().size() <= kLargeProgram ? kMostOrdersOfLarger : 1;
}

bool OrderedPropagation::tryChange(GivenChange change,
                                   const GivenOrders &orders) {
  ShardingIds propagated = propagateWith(change);
  if (llvm::any_of(tried, [&](const TriedOrder &other) {
        return orders.differingShare(other.propagated, propagated) <
               kLeastDiffering;
      }))
    return false;
  tried.push_back({std::move(propagated), std::move(change)});
  return true;
}

void OrderedPropagation::tryOrders(const GivenOrders &orders) {
  for (size_t order : llvm::seq(orders.size())) {
    set(tried.front().propagated);
    bool isTried = orders.contestedShare(order) >= kLeastContested &&
                   tryChange({orders.findLater(order), {}, {}}, orders);
    if (!isTried && !isThorough())
      return;
  }
}

void OrderedPropagation::tryCarriesAndSplits(const GivenOrders &orders) {
  if (graph.ops().size() > kLargeProgram)
    return;
  SmallVector<int32_t> carried;
  for (int32_t number : llvm::seq(graph.ops().size()))
    if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(read.operation(number)))
      if (isLoop(getOwnerOp(edge.getInput())))
        carried.push_back(number);
  std::vector<GivenCarry> carries =
      findGivenCarries(graph, carried, given, tried.front().propagated);
  if (!carries.empty())
    tryChange({{}, std::move(carries), {}}, orders);
  std::vector<SharedBatch> splits =
      findSharedBatches(graph, carried, given, tried.front().propagated);
  if (!splits.empty())
    tryChange({{}, {}, std::move(splits)}, orders);
}

PropagationOrder OrderedPropagation::findCheapest() {
  PropagationOrder cheapest;
  if (tried.size() == 1)
    return cheapest;
  std::optional<PlannedProgram> best = plan(tried.front().propagated);
  if (!best)
    return cheapest;
  cheapest.priceAsGiven = cheapest.price = best->price;
  for (const auto &[propagated, change] : ArrayRef(tried).drop_front()) {
    std::optional<PlannedProgram> found = plan(propagated);
    if (!found || !isBetter(*found, *best))
      continue;
    best = std::move(found);
    cheapest.price = best->price;
    cheapest.change = change;
  }
  if (!fits(*best))
    return isThorough() ? fitMemory(std::move(cheapest)) : std::move(cheapest);
  cheapest.planned = std::move(best);
  return cheapest;
}

PropagationOrder OrderedPropagation::fitMemory(PropagationOrder found) {
  std::optional<PlannedProgram> best;
  auto isBetterFitted = [&](const PlannedProgram &plan) {
    if (!best || fits(plan) != fits(*best))
      return !best || fits(plan);
    return fits(plan) ? plan.price < best->price
                      : plan.trial.peak.bytes < best->trial.peak.bytes;
  };
  for (const auto &[propagated, change] : tried) {
    std::optional<PlannedProgram> fitted =
        plan(propagated, /*fitsMemory=*/true);
    if (!fitted)
      continue;
    if (change.isNone())
      found.priceAsGiven = fitted->price;
    if (!isBetterFitted(*fitted))
      continue;
    found.price = fitted->price;
    found.change = change;
    best = std::move(fitted);
  }
  if (best && fits(*best))
    found.planned = std::move(best);
  return found;
}

PropagationOrder OrderedPropagation::run(PropagationSink *sink) {
  if (options.keepPropagated || hasPriorities()) {
    propagate(given, sink);
    return {};
  }
  GraphWeights weights = readWeights();
  GivenOrders orders(graph, weights, mostOrders());
  tried.push_back({propagate(given), {}});
  tryOrders(orders);
  tryCarriesAndSplits(orders);
  PropagationOrder cheapest = findCheapest();
  if (sink || !cheapest.change.isNone())
    propagateWith(cheapest.change, sink);
  else
    set(tried.front().propagated);
  return cheapest;
}

} // namespace

PropagationOrder propagateByPrice(ModuleOp module, ModuleGraph &graph,
                                  const PipelineOptions &options,
                                  const DeviceModel &model,
                                  PropagationSink *sink) {
  return OrderedPropagation(module, graph, options, model).run(sink);
}

} // namespace shardonnay
