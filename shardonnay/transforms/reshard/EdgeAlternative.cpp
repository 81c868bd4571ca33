//===- EdgeAlternative.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/EdgeAlternative.h"

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/report/OpAlternative.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Values that flow into one another.
class CarriedClass {
public:
  CarriedClass(Value owner, const MeshScope &scope, OpSolvers &solvers)
      : op(cast<ShardableDataFlowOpInterface>(
            isa<OpResult>(owner) ? owner.getDefiningOp()
                                 : owner.getParentBlock()->getParentOp())),
        scope(scope), solvers(solvers), solver(solvers.get(scope)),
        sources(op.getEdgeSources(owner)), targets(op.getEdgeTargets(owner)) {}

  /// The price of the ops and reshards around the class where it is carried in
  /// `sharding`; nothing if one has no plan.
  std::optional<double> priceAs(const TensorSharding &sharding);
  Operation *getOp() const { return op; }
  const TensorSharding &present() const { return scope.read(targets.front()); }

private:
  void addSource(OpOperand &source);
  void addUse(OpOperand &use, const TensorSharding &need);
  void addOp(Operation *around);
  void addReshard(Value value, const TensorSharding &from,
                  const TensorSharding &to, Operation *at);
  void add(std::optional<double> price, Operation *at);
  bool isSource(OpOperand &use) const {
    return llvm::is_contained(sources, &use);
  }
  /// The sharding that `value` has, or would have.
  const TensorSharding &read(Value value) const {
    return llvm::is_contained(targets, value) ? *carried : scope.read(value);
  }

  ShardableDataFlowOpInterface op;
  const MeshScope &scope;
  OpSolvers &solvers;
  OpSolver &solver;
  SmallVector<OpOperand *> sources;
  SmallVector<Value> targets;

  // Of one price.
  const TensorSharding *carried = nullptr;
  std::optional<double> sum;
  llvm::SmallPtrSet<Operation *, 8> counted;
};

/// The value that is moved, if anything moves it.
Value beforeReshards(Value value) {
  while (auto reshard = value.getDefiningOp<sdy::ReshardOp>())
    value = reshard.getInput();
  return value;
}

std::optional<double> CarriedClass::priceAs(const TensorSharding &sharding) {
  carried = &sharding;
  sum = 0;
  counted.clear();
  for (OpOperand *source : sources)
    addSource(*source);
  TensorSharding before = present();
  for (Value target : targets)
    for (OpOperand &use : target.getUses())
      addUse(use, before);
  return sum;
}

void CarriedClass::add(std::optional<double> price, Operation *at) {
  if (!price || !sum) {
    sum = std::nullopt;
    return;
  }
  // Each time that the op of the class runs, if it ever does.
  int64_t runs =
      sdy::getTrips(at).count / std::max<int64_t>(sdy::getTrips(op).count, 1);
  *sum += *price * static_cast<double>(runs);
}

void CarriedClass::addReshard(Value value, const TensorSharding &from,
                              const TensorSharding &to, Operation *at) {
  add(priceOfReshard(solver, cast<RankedTensorType>(value.getType()), from, to),
      at);
}

void CarriedClass::addSource(OpOperand &source) {
  Value value = beforeReshards(source.get());
  if (llvm::is_contained(targets, value))
    return;
  Operation *producer = value.getDefiningOp();
  if (producer && value.hasOneUse() && solvers.getRule(producer))
    addOp(producer);
  else
    addReshard(value, scope.read(value), *carried, source.getOwner());
}

void CarriedClass::addUse(OpOperand &use, const TensorSharding &need) {
  Operation *user = use.getOwner();
  if (isSource(use))
    return;
  if (auto reshard = dyn_cast<sdy::ReshardOp>(user))
    for (OpOperand &next : reshard->getUses())
      addUse(next, scope.read(reshard.getResult()));
  else if (solvers.getRule(user))
    addOp(user);
  else
    addReshard(use.get(), *carried, need, user);
}

/// Sharded as is best then.
void CarriedClass::addOp(Operation *around) {
  if (!counted.insert(around).second)
    return;
  const FactorRule *rule = solvers.getRule(around);
  OpProblem problem = readProblem(
      around, *rule, scope.getMesh(),
      [&](Value value) -> const TensorSharding & {
        if (llvm::is_contained(around->getOperands(), value))
          return read(beforeReshards(value));
        if (!value.hasOneUse())
          return scope.read(value);
        OpOperand *use = &*value.use_begin();
        if (auto reshard = dyn_cast<sdy::ReshardOp>(use->getOwner())) {
          if (!reshard->hasOneUse())
            return scope.read(reshard.getResult());
          value = reshard.getResult();
          use = &*value.use_begin();
        }
        return isSource(*use) ? *carried : scope.read(value);
      });
  add(solver.price(problem, solver.solve(problem)), around);
}

/// Null if `op` is none, or one with shardings of its own.
Value ownerOf(Value owner) {
  if (!owner)
    return nullptr;
  Operation *op = isa<OpResult>(owner) ? owner.getDefiningOp()
                                       : owner.getParentBlock()->getParentOp();
  return isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op) ? nullptr
                                                                    : owner;
}

} // namespace

std::string describeOtherCarry(sdy::ReshardOp op, const MeshScope &scope,
                               OpSolvers &solvers) {
  auto asWhole = [&](Value value) {
    TensorSharding sharding = scope.read(value);
    sharding.unreduced = AxisList();
    return sharding;
  };
  SmallVector<std::pair<Value, TensorSharding>, 2> others;
  if (Value owner = ownerOf(getEdgeOwner(op.getInput())))
    others.emplace_back(owner, asWhole(op.getResult()));
  for (OpOperand &use : op->getUses())
    if (Value owner = ownerOf(getEdgeOwner(use)))
      others.emplace_back(owner, asWhole(op.getInput()));
  const MeshCosts &prices = solvers.get(scope).prices();
  std::string text;
  for (auto &[owner, sharding] : others) {
    CarriedClass carried(owner, scope, solvers);
    std::optional<double> present = carried.priceAs(carried.present());
    std::optional<double> other = carried.priceAs(sharding);
    if (!text.empty())
      text += "; ";
    text += "'" + carried.getOp()->getName().getStringRef().str() + "' ";
    if (present && other)
      text += "carries it for " + prices.str(*present) +
              ", with what the ops around it cost; in the other sharding for " +
              prices.str(*other);
    else
      text += "can carry it in no other sharding";
  }
  return text;
}

} // namespace shardonnay
