//===- BlockPlan.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. `readOps`: the ops with a rule, and what each would choose alone
//   2. `selectOps`: those near an op that has something moved
//   3. `addOp`, `addValues`: the variables and their candidates
//   4. `connect`: the edges; what is fixed adds to own costs
//   5. chooseOnGraph; `apply` where that is cheaper by real reshards, each of
//      which counts once however many ops need it
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/BlockPlan.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/plan/GraphChoice.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace shardonnay {

namespace {

/// An op with a rule.
struct PlannedOp {
  Operation *op;
  const FactorRule *rule;
  const OpDecision *alone;
  /// Of an op that is weighed.
  ChoiceProblem problem;
  /// The choice alone, and then the others.
  ArrayRef<FactorAssignment> cuts;
  /// The number of its variable; -1: it stays as it is.
  int32_t variable = -1;
};

/// A result of a weighed op that may lie otherwise.
struct PlannedValue {
  OpResult value;
  int32_t variable;
  SmallVector<TensorSharding, 4> candidates;
  /// Equal lists have one number.
  int32_t list = 0;
};

class BlockPlanner {
public:
  BlockPlanner(Block &block, const BlockCases &cases, OpChoosers &choosers)
      : block(block), cases(cases), scope(cases.getScope()), choosers(choosers),
        chooser(choosers.get(scope)) {}

  BlockPlan run();

private:
  void readOps();
  bool movesSomething(const PlannedOp &planned);
  bool selectOps();
  void addVariables();
  void addValue(OpResult value);
  bool mayMove(OpResult value);
  void addCandidate(PlannedValue &planned, TensorSharding sharding);
  /// The layout that a use outside the weighed ops needs; nothing if it takes
  /// any.
  std::optional<TensorSharding> fixedNeed(OpOperand &use);
  void connect();
  void connectTensor(const PlannedOp &planned, int64_t tensor, Value value);
  void connectFixedUses(const PlannedValue &planned);
  double price(Value value, const TensorSharding &from,
               const TensorSharding &to);
  double realCost(ArrayRef<int32_t> chosen);
  void apply(ArrayRef<int32_t> chosen, BlockPlan &plan);

  TensorSharding under(const PlannedOp &planned, int64_t cut, int64_t tensor) {
    return shardingUnder(planned.cuts[cut], planned.problem.rule, tensor);
  }
  PlannedOp *find(Operation *op) {
    auto entry = numbers.find(op);
    return entry == numbers.end() ? nullptr : &ops[entry->second];
  }
  PlannedValue *find(Value value) {
    auto entry = valueNumbers.find(value);
    return entry == valueNumbers.end() ? nullptr : &values[entry->second];
  }
  /// How `value` lies under `chosen`.
  TensorSharding lies(Value value, ArrayRef<int32_t> chosen) {
    PlannedValue *planned = find(value);
    return planned ? planned->candidates[chosen[planned->variable]]
                   : scope.read(value);
  }

  Block &block;
  const BlockCases &cases;
  const MeshScope &scope;
  OpChoosers &choosers;
  OpChooser &chooser;
  ReshardBuilder constants;
  std::vector<PlannedOp> ops;
  DenseMap<Operation *, int32_t> numbers;
  std::vector<PlannedValue> values;
  DenseMap<Value, int32_t> valueNumbers;
  struct HashList {
    size_t operator()(const SmallVector<TensorSharding, 4> &list) const {
      return llvm::hash_combine_range(list);
    }
  };
  std::unordered_map<SmallVector<TensorSharding, 4>, int32_t, HashList> lists;
  /// Programs repeat themselves. By cuts, type, tensor of the op, list.
  using MoveKey = std::tuple<const void *, const void *, int64_t, int32_t>;
  std::map<MoveKey, std::vector<double>> moves;
  ChoiceGraph graph;
};

void BlockPlanner::readOps() {
  for (auto [op, opCase] : cases.getEntries()) {
    if (!opCase || !opCase->decision ||
        isa_and_present<sdy::SdyDialect>(op->getDialect()))
      continue;
    numbers[op] = ops.size();
    ops.push_back({op, opCase->rule, opCase->decision, {}, {}});
  }
}

bool BlockPlanner::movesSomething(const PlannedOp &planned) {
  return llvm::any_of(planned.alone->differs.set_bits(), [&](unsigned i) {
    return i >= planned.op->getNumOperands() ||
           !constants.isConstantExpression(planned.op->getOperand(i));
  });
}

/// Marks the ops to weigh by variable 0; false if there are none.
bool BlockPlanner::selectOps() {
  std::vector<PlannedOp *> frontier;
  for (PlannedOp &planned : ops)
    if (movesSomething(planned)) {
      planned.variable = 0;
      frontier.push_back(&planned);
    }
  bool any = !frontier.empty();
  for (int step = 0; step < kPlanRadius && !frontier.empty(); ++step) {
    std::vector<PlannedOp *> next;
    auto reach = [&](Operation *op) {
      PlannedOp *planned = op ? find(op) : nullptr;
      if (planned && planned->variable < 0) {
        planned->variable = 0;
        next.push_back(planned);
      }
    };
    for (PlannedOp *planned : frontier) {
      for (Value operand : planned->op->getOperands())
        reach(operand.getDefiningOp());
      for (Operation *user : planned->op->getUsers())
        reach(user);
    }
    frontier = std::move(next);
  }
  return any;
}

bool BlockPlanner::mayMove(OpResult value) {
  if (!isa<RankedTensorType>(value.getType()) || value.use_empty() ||
      constants.isConstantExpression(value))
    return false;
  if (!scope.read(value).unreduced.empty())
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user->getBlock() == &block;
  });
}

void BlockPlanner::addCandidate(PlannedValue &planned,
                                TensorSharding sharding) {
  sharding.unreduced = AxisList();
  sharding.kind = ReductionKind::Sum;
  if (planned.candidates.size() < kMostCandidates &&
      !llvm::is_contained(planned.candidates, sharding))
    planned.candidates.push_back(sharding);
}

std::optional<TensorSharding> BlockPlanner::fixedNeed(OpOperand &use) {
  Operation *user = use.getOwner();
  int64_t rank = cast<RankedTensorType>(use.get().getType()).getRank();
  if (auto reshard = dyn_cast<sdy::ReshardOp>(user))
    return scope.read(reshard.getSharding(), rank);
  if (auto func = dyn_cast<func::FuncOp>(block.getParentOp());
      func && isa<func::ReturnOp>(user))
    return scope.read(sdy::getFuncResultSharding(func, use.getOperandNumber()),
                      rank);
  if (getEdgeOwner(use))
    return scope.read(sdy::getClassSharding(use), rank);
  PlannedOp *planned = find(user);
  if (!planned)
    return TensorSharding::fullyClosed(rank);
  if (planned->variable >= 0)
    return std::nullopt;
  return *planned->alone->needed[use.getOperandNumber()];
}

void BlockPlanner::addValue(OpResult value) {
  if (!mayMove(value))
    return;
  PlannedValue planned{value, static_cast<int32_t>(graph.own.size()), {}};
  addCandidate(planned, scope.read(value));
  auto addNeeds = [&](PlannedOp &other, int64_t tensor) {
    for (size_t cut = 0; cut < other.cuts.size(); ++cut)
      addCandidate(planned, under(other, cut, tensor));
  };
  PlannedOp &producer = *find(value.getOwner());
  for (OpOperand &use : value.getUses()) {
    if (std::optional<TensorSharding> need = fixedNeed(use))
      addCandidate(planned, *need);
    else
      addCandidate(planned,
                   under(*find(use.getOwner()), 0, use.getOperandNumber()));
  }
  addNeeds(producer, producer.op->getNumOperands() + value.getResultNumber());
  for (OpOperand &use : value.getUses())
    if (PlannedOp *user = find(use.getOwner()); user && user->variable >= 0)
      addNeeds(*user, use.getOperandNumber());
  planned.list =
      lists.try_emplace(planned.candidates, lists.size()).first->second;
  graph.own.emplace_back(planned.candidates.size(), 0.0);
  valueNumbers[value] = values.size();
  values.push_back(std::move(planned));
}

void BlockPlanner::addVariables() {
  for (PlannedOp &planned : ops) {
    if (planned.variable < 0)
      continue;
    planned.problem = readProblem(planned.op, *planned.rule, scope);
    for (auto [i, operand] : llvm::enumerate(planned.op->getOperands()))
      planned.problem.tensors[i].free = constants.isConstantExpression(operand);
    planned.cuts = chooser.candidates(planned.problem);
    planned.variable = graph.own.size();
    std::vector<double> &own = graph.own.emplace_back();
    for (const FactorAssignment &cut : planned.cuts)
      own.push_back(chooser.ownPrice(planned.problem, cut));
  }
  for (PlannedOp &planned : ops)
    if (planned.variable >= 0)
      for (OpResult result : planned.op->getResults())
        addValue(result);
}

double BlockPlanner::price(Value value, const TensorSharding &from,
                           const TensorSharding &to) {
  if (from == to)
    return 0;
  return priceOfReshard(chooser, cast<RankedTensorType>(value.getType()), from,
                        to)
      .value_or(kForbiddenChoice);
}

void BlockPlanner::connectTensor(const PlannedOp &planned, int64_t tensor,
                                 Value value) {
  if (planned.problem.tensors[tensor].free ||
      !isa<RankedTensorType>(value.getType()))
    return;
  bool isResult = tensor >= planned.op->getNumOperands();
  auto move = [&](const TensorSharding &inside, const TensorSharding &outside) {
    return isResult ? price(value, inside, outside)
                    : price(value, outside, inside);
  };
  PlannedValue *moved = find(value);
  if (!moved) {
    if (isResult && value.use_empty())
      return;
    for (size_t cut = 0; cut < planned.cuts.size(); ++cut)
      graph.own[planned.variable][cut] +=
          move(under(planned, cut, tensor), scope.read(value));
    return;
  }
  auto [known, isNew] = moves.try_emplace({planned.cuts.data(),
                                           value.getType().getAsOpaquePointer(),
                                           tensor, moved->list});
  if (isNew)
    for (size_t cut = 0; cut < planned.cuts.size(); ++cut) {
      TensorSharding inside = under(planned, cut, tensor);
      for (const TensorSharding &outside : moved->candidates)
        known->second.push_back(move(inside, outside));
    }
  graph.edges.push_back({planned.variable, moved->variable, known->second});
}

void BlockPlanner::connectFixedUses(const PlannedValue &planned) {
  SmallVector<TensorSharding, 2> seen;
  for (OpOperand &use : planned.value.getUses()) {
    std::optional<TensorSharding> need = fixedNeed(use);
    if (!need || llvm::is_contained(seen, *need))
      continue;
    seen.push_back(*need);
    for (auto [i, candidate] : llvm::enumerate(planned.candidates))
      graph.own[planned.variable][i] += price(planned.value, candidate, *need);
  }
}

void BlockPlanner::connect() {
  for (const PlannedOp &planned : ops) {
    if (planned.variable < 0)
      continue;
    for (auto [i, operand] : llvm::enumerate(planned.op->getOperands()))
      // An operand that is used twice is moved once.
      if (!llvm::is_contained(planned.op->getOperands().take_front(i), operand))
        connectTensor(planned, i, operand);
    for (auto [i, result] : llvm::enumerate(planned.op->getResults()))
      connectTensor(planned, planned.op->getNumOperands() + i, result);
  }
  for (const PlannedValue &planned : values)
    connectFixedUses(planned);
}

double BlockPlanner::realCost(ArrayRef<int32_t> chosen) {
  double sum = 0;
  // By value: where it is moved to.
  llvm::MapVector<Value, SmallVector<TensorSharding, 2>> needs;
  auto need = [&](Value value, const TensorSharding &sharding) {
    SmallVector<TensorSharding, 2> &list = needs[value];
    if (!llvm::is_contained(list, sharding)) {
      list.push_back(sharding);
      sum += price(value, lies(value, chosen), sharding);
    }
  };
  for (const PlannedOp &planned : ops) {
    if (planned.variable < 0)
      continue;
    int64_t cut = chosen[planned.variable];
    sum += chooser.ownPrice(planned.problem, planned.cuts[cut]);
    for (auto [i, operand] : llvm::enumerate(planned.op->getOperands()))
      if (!planned.problem.tensors[i].free &&
          isa<RankedTensorType>(operand.getType()))
        need(operand, under(planned, cut, i));
    for (auto [i, result] : llvm::enumerate(planned.op->getResults()))
      if (isa<RankedTensorType>(result.getType()) && !result.use_empty())
        sum +=
            price(result, under(planned, cut, planned.op->getNumOperands() + i),
                  lies(result, chosen));
  }
  for (const PlannedValue &planned : values)
    for (OpOperand &use : planned.value.getUses())
      if (std::optional<TensorSharding> fixed = fixedNeed(use))
        need(planned.value, *fixed);
  return sum;
}

void BlockPlanner::apply(ArrayRef<int32_t> chosen, BlockPlan &plan) {
  for (const PlannedValue &planned : values) {
    int32_t candidate = chosen[planned.variable];
    if (candidate == 0)
      continue;
    sdy::setSharding(planned.value, scope.write(planned.candidates[candidate]));
    ++plan.moved;
  }
  // Against the shardings that the values have now. What uses a value that
  // moves, and was not weighed, stays as it is.
  for (const PlannedOp &planned : ops) {
    bool weighed = planned.variable >= 0;
    if (!weighed && llvm::none_of(planned.op->getOperands(), [&](Value value) {
          return find(value) != nullptr;
        }))
      continue;
    plan.decisions[planned.op] = choosers.makeDecision(
        planned.op, readProblem(planned.op, *planned.rule, scope),
        weighed ? planned.cuts[chosen[planned.variable]]
                : *planned.alone->assignment);
  }
}

BlockPlan BlockPlanner::run() {
  BlockPlan plan;
  readOps();
  if (!selectOps())
    return plan;
  addVariables();
  connect();
  std::vector<int32_t> start(graph.own.size());
  GraphChoice choice = chooseOnGraph(graph, start);
  plan.greedyCost = plan.cost = graph.costOf(start);
  plan.bound = choice.bound;
  if (choice.cost < plan.cost * (1 - kLeastGain) &&
      realCost(choice.chosen) < realCost(start) * (1 - kLeastGain)) {
    plan.cost = choice.cost;
    apply(choice.chosen, plan);
  }
  return plan;
}

} // namespace

BlockPlan planBlock(Block &block, const BlockCases &cases,
                    OpChoosers &choosers) {
  return BlockPlanner(block, cases, choosers).run();
}

} // namespace shardonnay
