//===- OpProblem.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/OpProblem.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/Pieces.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/explain/OpAlternative.h"

using namespace mlir;

namespace shardonnay {

static SmallVector<Value> tensorsOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

ChoiceProblem readProblem(Operation *op, const FactorRule &rule,
                          const MeshScope &scope) {
  return readProblem(
      op, rule, scope.getMesh(),
      [&](Value value) -> const TensorSharding & { return scope.read(value); });
}

std::optional<double> priceOfReshard(OpChooser &chooser, RankedTensorType type,
                                     const TensorSharding &from,
                                     const TensorSharding &to) {
  // What is whole becomes partial for free.
  if (AxisList made = to.unreduced.subtract(from.unreduced); !made.empty()) {
    TensorSharding before = to;
    before.unreduced = to.unreduced.subtract(made);
    if (before.unreduced.empty())
      before.kind = ReductionKind::Sum;
    return priceOfReshard(chooser, type, from, before);
  }
  return chooser.priceOfReshard(Layout::get(from, type.getShape()),
                                Layout::get(to, type.getShape()),
                                sdy::getElementBytes(type));
}

OpChooser &OpChoosers::get(const MeshScope &scope) {
  std::unique_ptr<OpChooser> &chooser = choosers[scope.getMesh()];
  if (!chooser)
    chooser = std::make_unique<OpChooser>(scope.toMesh(), scope.costs(model));
  return *chooser;
}

const OpDecision &OpChoosers::decide(Operation *op, const FactorRule &rule,
                                     const MeshScope &scope,
                                     llvm::function_ref<bool(Value)> isFree) {
  SmallVector<Value> tensors = tensorsOf(op);
  SmallVector<bool> free(tensors.size());
  auto computed = dyn_cast<ShardingRuleOpInterface>(op);
  Key key = {
      sdy::toWord(&rule), sdy::toWord(scope.getMesh().getAsOpaquePointer()),
      static_cast<uintptr_t>(computed && computed.isContraction()),
      static_cast<uintptr_t>(computed ? computed.getTransformFlops() : 0),
      static_cast<uintptr_t>(computed && computed.isElementwise())};
  for (auto [i, value] : llvm::enumerate(tensors)) {
    free[i] = i < op->getNumOperands() && isFree(value);
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    key.push_back(sdy::toWord(value.getType().getAsOpaquePointer()));
    key.push_back(sdy::toWord(sharding.getAsOpaquePointer()));
    key.push_back(free[i]);
  }
  if (computed && computed.isContraction())
    for (auto manual = op->getParentOfType<sdy::ManualComputationOp>(); manual;
         manual = manual->getParentOfType<sdy::ManualComputationOp>())
      key.push_back(sdy::toWord(manual.getManualAxes().getAsOpaquePointer()));
  auto [known, isNew] = decisions.try_emplace(std::move(key));
  OpDecision &decision = known->second;
  if (!isNew)
    return decision;
  ChoiceProblem problem = readProblem(op, rule, scope);
  for (auto [tensor, isFree] : llvm::zip_equal(problem.tensors, free))
    tensor.free = isFree;
  decision = makeDecision(op, problem, get(scope).choose(problem));
  return decision;
}

std::optional<double>
OpChoosers::price(Operation *op, const FactorRule &rule, const MeshScope &scope,
                  const OpDecision &decision,
                  llvm::function_ref<bool(Value)> isFree) {
  auto [known, isNew] = prices.try_emplace(&decision);
  if (!isNew)
    return known->second;
  ChoiceProblem problem = readProblem(op, rule, scope);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    problem.tensors[i].free = isFree(operand);
  return prices[&decision] = get(scope).price(problem, *decision.assignment);
}

bool OpChoosers::appendSignature(Operation *op, sdy::Words &words) {
  if (!sdy::looksAtOperands(op))
    return cases.forms.append(op, words);
  // Its rule says what it found there.
  words.push_back(sdy::toWord(op->getName().getAsOpaquePointer()));
  words.push_back(sdy::toWord(getRule(op)));
  for (Type type : op->getResultTypes())
    words.push_back(sdy::toWord(type.getAsOpaquePointer()));
  return true;
}

OpDecision OpChoosers::makeDecision(Operation *op, const ChoiceProblem &problem,
                                    const FactorAssignment &assignment) {
  OpDecision decision;
  decision.assignment = &assignments[assignments.intern(assignment)];
  decision.needed.resize(problem.tensors.size());
  decision.differs.resize(problem.tensors.size());
  for (auto [i, value] : llvm::enumerate(tensorsOf(op))) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    decision.needed[i] = &shardings[shardings.intern(
        shardingUnder(assignment, problem.rule, i))];
    if (*decision.needed[i] != problem.tensors[i].sharding)
      decision.differs.set(i);
  }
  decision.repeatsWork =
      decision.differs.any() && repeatsWork(problem, assignment);
  return decision;
}

OpChoosers &
SharedChoosers::get(StringRef name,
                    const std::shared_ptr<const DeviceModel> &model) {
  std::unique_ptr<Entry> &entry = entries[name];
  if (!entry)
    entry.reset(new Entry{model, OpChoosers(*model)});
  return entry->choosers;
}

static bool fits(Operation *op, const FactorRule &rule, std::string &error) {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Value value : tensorsOf(op)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    shapes.push_back(type ? SmallVector<int64_t>(type.getShape())
                          : SmallVector<int64_t>());
  }
  return rule.verify(shapes, error);
}

std::optional<FactorRule> getFittingRule(Operation *op) {
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  std::string error;
  if (!rule || !fits(op, *rule, error))
    return std::nullopt;
  return rule;
}

LogicalResult verifyRule(Operation *op, const FactorRule &rule) {
  std::string error;
  if (fits(op, rule, error))
    return success();
  return op->emitOpError()
         << "has a sharding rule that does not fit its types: " << error;
}

} // namespace shardonnay
