//===- ExplainReshards.cpp - why each reshard is there --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every reshard of the function:
//   1. `explainSums`: the ops that made the partial values which it reduces,
//   and
//      the factors that they reduce over.
//   2. `explainMoves`: the use that needs the other sharding, or the op that
//      leaves the value in another sharding than it is used in.
//   3. `explainAlternative`: the next best strategy of that op, and the prices
//      of both; `explainEnds` where neither end is an op that could be sharded
//      otherwise.
//   4. The sentence becomes its `sdy.cause`, and that of all that stand between
//      equal ops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/CallInterfaces.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ReshardList.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/report/OpAlternative.h"
#include "shardonnay/transforms/reshard/EdgeAlternative.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "shardonnay/transforms/reshard/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPLAINRESHARDSPASS
#include "shardonnay/transforms/reshard/Passes.h.inc"

namespace {

class ReshardExplainer {
public:
  ReshardExplainer(sdy::ReshardOp op, const MeshScope &scope,
                   OpSolvers &solvers)
      : op(op), scope(scope), solvers(solvers), solver(solvers.get(scope)),
        before(scope.read(op.getInput())), after(scope.read(op.getResult())) {}

  std::string run();

private:
  void explainSums(raw_ostream &os);
  void explainDeferral(Operation *producer, const AxisList &reduced,
                       raw_ostream &os);
  void explainMoves(raw_ostream &os);
  /// False if there is no rule by which `decider` could be sharded otherwise.
  bool explainAlternative(Operation *decider, raw_ostream &os);
  void explainEnds(raw_ostream &os);

  std::string str(const AxisList &axes) const {
    return toText(axes, scope.getMesh());
  }
  std::optional<OpProblem> problemBefore(Operation *op, FactorStrategy &taken);

  sdy::ReshardOp op;
  const MeshScope &scope;
  OpSolvers &solvers;
  OpSolver &solver;
  TensorSharding before, after;
  /// The op whose strategy the reshard follows from; null if that is not known.
  Operation *decider = nullptr;
  /// The price of the sum elsewhere was told.
  bool comparesPlaces = false;
};

/// `made` is partial along `axes`: which op made it so.
Operation *producerOfParts(Value made, const AxisList &axes,
                           const MeshScope &scope) {
  Operation *producer = made.getDefiningOp();
  while (producer) {
    auto *source = llvm::find_if(producer->getOpOperands(), [&](OpOperand &o) {
      return isa<RankedTensorType>(o.get().getType()) &&
             scope.read(o.get()).unreduced.excludes(axes);
    });
    if (source == producer->getOpOperands().end())
      return producer;
    producer = source->get().getDefiningOp();
  }
  return nullptr;
}

/// The factors that the op reduces over and that `axes` shard in some operand.
std::string reducedFactors(Operation *producer, const FactorRule &rule,
                           const AxisList &axes, const MeshScope &scope) {
  std::string names;
  for (int32_t f = 0, e = rule.factors.size(); f < e; ++f) {
    bool sharded =
        rule.reducesOver(f) &&
        llvm::any_of(
            llvm::enumerate(producer->getOperands()), [&](const auto &operand) {
              const TensorMapping &mapping = rule.operands[operand.index()];
              int64_t dim = mapping.dimOf(f);
              return dim >= 0 &&
                     scope.read(operand.value()).dims[dim].axes.excludes(axes);
            });
    if (sharded)
      names += (names.empty() ? "" : ", ") + factorName(f);
  }
  return names;
}

void ReshardExplainer::explainSums(raw_ostream &os) {
  AxisList reduced = before.unreduced.subtract(after.unreduced);
  if (reduced.empty())
    return;
  os << "reduces the " << toString(before.kind) << " along " << str(reduced);
  Operation *producer = producerOfParts(op.getInput(), reduced, scope);
  if (!producer || isa<sdy::ReshardOp>(producer)) {
    os << " of a value that is given in parts";
    return;
  }
  os << " that '" << producer->getName() << "' computes in parts";
  // Farther away it is not this reshard that its price has.
  if (producer == op.getInput().getDefiningOp())
    decider = producer;
  if (const FactorRule *rule = solvers.getRule(producer)) {
    std::string names = reducedFactors(producer, *rule, reduced, scope);
    if (!names.empty())
      os << " (it reduces over factor " << names << ")";
  }
  if (producer != decider)
    explainDeferral(producer, reduced, os);
}

/// What the sum would have cost where its parts were made.
void ReshardExplainer::explainDeferral(Operation *producer,
                                       const AxisList &reduced,
                                       raw_ostream &os) {
  auto price = [&](Value value, const TensorSharding &target) {
    return priceOfReshard(solver, cast<RankedTensorType>(value.getType()),
                          scope.read(value), target);
  };
  for (Value made : producer->getResults()) {
    if (!isa<RankedTensorType>(made.getType()) ||
        !scope.read(made).unreduced.excludes(reduced))
      continue;
    TensorSharding whole = scope.read(made);
    whole.unreduced = whole.unreduced.subtract(reduced);
    std::optional<double> here = price(op.getInput(), after);
    std::optional<double> there = price(made, whole);
    comparesPlaces = here && there;
    if (comparesPlaces)
      os << "; here it costs " << solver.prices().str(*here) << ", behind '"
         << producer->getName() << "' " << solver.prices().str(*there);
    return;
  }
}

void ReshardExplainer::explainMoves(raw_ostream &os) {
  std::string moves;
  for (auto [dim, from, to] : llvm::enumerate(before.dims, after.dims))
    if (from.axes != to.axes)
      moves += (moves.empty() ? "dim " : ", dim ") + std::to_string(dim) +
               " from " + str(from.axes) + " to " + str(to.axes);
  if (moves.empty())
    return;
  if (!before.unreduced.subtract(after.unreduced).empty())
    os << "; ";
  os << "moves " << moves;
  if (op->use_empty())
    return;
  OpOperand &use = *op->use_begin();
  Operation *user = use.getOwner();
  if (user->hasTrait<OpTrait::ReturnLike>()) {
    os << ", as result " << use.getOperandNumber() << " is wanted";
  } else {
    os << ", as operand " << use.getOperandNumber() << " of '"
       << user->getName() << "' is needed";
    if (!decider && solvers.getRule(user))
      decider = user;
  }
  if (!decider)
    decider = op.getInput().getDefiningOp();
}

/// The problem of an op as it was before its operands and results were
/// resharded, and in `taken` the strategy that it has now.
std::optional<OpProblem>
ReshardExplainer::problemBefore(Operation *op, FactorStrategy &taken) {
  const FactorRule *rule = solvers.getRule(op);
  if (!rule)
    return std::nullopt;
  OpProblem problem = readProblem(op, *rule, scope);
  taken = voteStrategy(problem);
  // At the boundary values are on other meshes, whose axes are none here.
  auto isHere = [&](Value value) {
    return scope.allows(sdy::getSharding(value));
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (auto reshard = operand.getDefiningOp<sdy::ReshardOp>();
        reshard && isHere(reshard.getInput()))
      problem.tensors[i].sharding = scope.read(reshard.getInput());
  for (OpResult result : op->getResults())
    if (result.hasOneUse())
      if (auto reshard = dyn_cast<sdy::ReshardOp>(*result.user_begin());
          reshard && isHere(reshard.getResult()))
        problem.tensors[op->getNumOperands() + result.getResultNumber()]
            .sharding = scope.read(reshard.getResult());
  return problem;
}

bool ReshardExplainer::explainAlternative(Operation *decider, raw_ostream &os) {
  FactorStrategy taken;
  std::optional<OpProblem> problem;
  if (decider)
    problem = problemBefore(decider, taken);
  if (!problem)
    return false;
  os << "; "
     << describeAlternative(decider, *problem, taken, solver, scope.getMesh());
  if (repeatsWork(*problem, taken) && solver.mayRepeat(*problem))
    os << "; gathered by price: 'no-gather-by-price' keeps it sharded";
  return true;
}

/// `op` does more than to pass values on.
bool isComputed(Operation *op) {
  return !op->hasTrait<OpTrait::IsTerminator>() &&
         !isa<ShardableDataFlowOpInterface, CallOpInterface>(op) &&
         !isa_and_present<sdy::SdyDialect>(op->getDialect());
}

/// No op at either end might be sharded otherwise.
void ReshardExplainer::explainEnds(raw_ostream &os) {
  if (std::string carried = describeOtherCarry(op, scope, solvers);
      !carried.empty()) {
    os << "; " << carried;
    return;
  }
  Operation *producer = op.getInput().getDefiningOp();
  Operation *user = op->use_empty() ? nullptr : *op->user_begin();
  for (Operation *end : {producer, user})
    if (end && isComputed(end)) {
      os << "; no other plan: '" << end->getName()
         << "' is computed on whole tensors alone";
      return;
    }
  auto priceTo = [&](const TensorSharding &target) {
    return priceOfReshard(solver, cast<RankedTensorType>(op.getType()), before,
                          target);
  };
  std::optional<double> price = priceTo(after),
                        whole = priceTo(TensorSharding::fullyClosed(
                            static_cast<int64_t>(before.dims.size())));
  if (price && whole && *price < *whole)
    os << "; both ends are fixed: the way between costs "
       << solver.prices().str(*price) << ", through the whole tensor "
       << solver.prices().str(*whole);
  else
    os << "; no other plan: the shardings at both ends are fixed";
}

std::string ReshardExplainer::run() {
  std::string text;
  llvm::raw_string_ostream os(text);
  explainSums(os);
  explainMoves(os);
  if (text.empty())
    return text;
  bool isCompared = explainAlternative(decider, os) || comparesPlaces;
  Operation *producer = op.getInput().getDefiningOp();
  Operation *user = op->use_empty() ? nullptr : *op->user_begin();
  if (!isCompared && !explainAlternative(producer, os) &&
      !explainAlternative(user, os))
    explainEnds(os);
  return text;
}

/// Reshards around equal ops have one sentence.
class Explanations {
public:
  explicit Explanations(OpSolvers &solvers) : solvers(solvers) {}

  /// Null if there is nothing to be said.
  StringAttr get(sdy::ReshardOp op) {
    if (!isa<RankedTensorType>(op.getType()))
      return nullptr;
    if (changesMesh(op))
      return StringAttr::get(op.getContext(),
                             "brings shards from one mesh to another; no other "
                             "plan: both meshes are given");
    if (failed(scope.moveTo(
            op, {sdy::getSharding(op.getInput()), op.getSharding()})) ||
        scope.empty())
      return nullptr;
    CompositeKey key;
    if (!append(op, key))
      return explain(op);
    auto [sentence, isNew] = known.find(key);
    if (isNew)
      sentence = explain(op);
    return sentence;
  }

private:
  static bool changesMesh(sdy::ReshardOp op) {
    sdy::TensorShardingAttr before = sdy::getSharding(op.getInput());
    if (!before || before.getMeshOrRef() == op.getSharding().getMeshOrRef())
      return false;
    sdy::MeshAttr source = sdy::getMesh(op, before);
    sdy::MeshAttr target = sdy::getMesh(op, op.getSharding());
    return source && target && source != target && !source.isEmpty() &&
           !target.isEmpty() && !source.isMaximal() && !target.isMaximal();
  }
  StringAttr explain(sdy::ReshardOp op) {
    std::string cause = ReshardExplainer(op, scope, solvers).run();
    return cause.empty() ? nullptr : StringAttr::get(op.getContext(), cause);
  }

  /// Appends all that the sentence depends on; false if that is too much.
  bool append(sdy::ReshardOp op, CompositeKey &key) {
    key.add(sdy::getSharding(op.getInput()), op.getSharding(),
            op->use_empty() ? 0 : op->use_begin()->getOperandNumber() + 1);
    Operation *producer = op.getInput().getDefiningOp();
    AxisList reduced =
        scope.read(op.getInput()).unreduced.subtract(scope.read(op).unreduced);
    Operation *ofParts = reduced.empty()
                             ? nullptr
                             : producerOfParts(op.getInput(), reduced, scope);
    if (ofParts == producer)
      ofParts = nullptr;
    // What is carried depends on all that is around.
    if (!(producer && solvers.getRule(producer)) &&
        (getEdgeOwner(op.getInput()) ||
         llvm::any_of(op->getUses(),
                      [](OpOperand &use) { return getEdgeOwner(use); })))
      return false;
    for (Operation *above : {producer, ofParts}) {
      key.add(above != nullptr);
      if (above && !append(above, key))
        return false;
    }
    return op->use_empty() || append(*op->user_begin(), key);
  }
  bool append(Operation *op, CompositeKey &key) {
    if (op->hasTrait<OpTrait::ReturnLike>()) {
      key.add(op->getName());
      return true;
    }
    if (!solvers.appendSignature(op, key))
      return false;
    key.add(op->getNumOperands());
    for (Value operand : op->getOperands()) {
      auto reshard = operand.getDefiningOp<sdy::ReshardOp>();
      key.add(operand.getType(), sdy::getSharding(operand),
              reshard ? sdy::getSharding(reshard.getInput()) : nullptr);
      solvers.getSignatures().appendConstant(operand, key);
    }
    for (Value result : op->getResults()) {
      auto reshard = result.hasOneUse()
                         ? dyn_cast<sdy::ReshardOp>(*result.user_begin())
                         : nullptr;
      key.add(result.getType(), reshard ? reshard.getSharding() : nullptr);
    }
    return true;
  }

  OpSolvers &solvers;
  /// The scope of the reshard before; most have the same.
  MeshScope scope;
  CompositeMap<StringAttr> known;
};

struct ExplainReshardsPass
    : PricedPass<impl::ExplainReshardsPassBase<ExplainReshardsPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    Explanations explanations(
        getAnalysis<SharedSolvers>().get(deviceModel, model));
    StringAttr name = StringAttr::get(&getContext(), sdy::kCauseAttr);
    for (sdy::ReshardOp op : getAnalysis<sdy::ReshardList>().get())
      if (StringAttr cause = explanations.get(op))
        op->setDiscardableAttr(name, cause);
    markAnalysesPreserved<sdy::ReshardList>();
  }
};

} // namespace

} // namespace shardonnay
