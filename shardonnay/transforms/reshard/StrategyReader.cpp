//===- StrategyReader.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/StrategyReader.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/Callee.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/reshard/LinearOperands.h"

using namespace mlir;

namespace shardonnay {

static StrategyReader::Form readForm(Operation *op) {
  using Form = StrategyReader::Form;
  if (isa<ShardableDataFlowOpInterface, func::CallOp, sdy::ReshardOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return Form::PassesOn;
  return sdy::looksAtOperands(op) ? Form::Alone : Form::Shared;
}

StrategyReader::Form StrategyReader::formOf(Operation *op) {
  auto [entry, isNew] = forms.try_emplace(op->getName());
  if (isNew)
    entry->second = readForm(op);
  return entry->second;
}

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

StrategyReader::StrategyReader(Block &block, const MeshScope &scope,
                               OpSolvers &solvers,
                               const MemoryPrices &memoryPrices)
    : block(block), scope(scope), solvers(solvers), mesh(solvers.on(scope)),
      loopRuns(block, memoryPrices) {
  for (Operation *op = block.getParentOp(); op; op = op->getParentOp())
    if (auto manualOp = dyn_cast<sdy::ManualComputationOp>(op))
      manual.add(manualOp.getManualAxes());
  if (!block.empty()) {
    builder.setTrips(sdy::getTrips(&block.front()).count);
    builder.setManualAxes(mesh.table.getMesh().allAxes().subtract(
        sdy::getDeviceAxes(&block.front(), scope.getMesh())));
  }
  for (BlockArgument argument : block.getArguments())
    arguments.push_back(readValue(argument));
  if (auto func = dyn_cast<func::FuncOp>(block.getParentOp()))
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      otherMeshes |= !scope.allows(sdy::getFuncResultSharding(func, i));
  for (Operation &op : opsForward(block)) {
    readOp(&op);
    if (double price = memoryPrices.lookup(&op))
      builder.setMemoryPrice(ops.size() - 1, price);
  }
  graph = builder.finish();
}

int32_t StrategyReader::makeClass(Value value, bool constant, bool free,
                                  const EquivalentOps *known,
                                  const ReshardRuns &runs) {
  otherMeshes |= !scope.allows(sdy::getSharding(value));
  return mesh.classOf(value, constant, free, known, runs, scope);
}

int32_t StrategyReader::addValue(int32_t valueClass) {
  const ValueClass &known = mesh.classes[valueClass];
  StrategyValue value;
  value.tensor = known.tensor;
  value.sharding = known.number;
  value.constant = known.free;
  classes.push_back(valueClass);
  return builder.addValue(value);
}

int32_t StrategyReader::readValue(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (auto first = firstResults.find(result.getOwner());
        first != firstResults.end())
      return first->second + result.getResultNumber();
  auto [entry, isNew] = outside.try_emplace(value);
  if (isNew)
    entry->second = addValue(
        makeClass(value, constants.isConstantExpression(value),
                  constants.isFree(value), nullptr, loopRuns.ofInput(value)));
  return entry->second;
}

void StrategyReader::readOp(Operation *op) {
  SmallVector<int32_t> operands, operandClasses;
  for (Value operand : op->getOperands()) {
    operands.push_back(readValue(operand));
    operandClasses.push_back(classes[operands.back()]);
  }
  const EquivalentOps &equivalent = findEquivalent(op, operandClasses);
  auto [number, isNew] = classNumbers.try_emplace(&equivalent);
  if (isNew)
    number->second = builder.addClass(equivalent.opClass);
  int32_t firstResult = classes.size();
  for (int32_t result : equivalent.results)
    addValue(result);
  if (op->getNumResults())
    firstResults[op] = firstResult;
  SmallVector<int32_t> needs;
  if (equivalent.opClass.kind < 0)
    needs = readNeeds(op);
  builder.addOp(number->second, operands, needs, firstResult,
                op->getNumResults());
  ops.push_back(op);
  cases.push_back(&equivalent);
  if (op->getNumRegions())
    readCaptured(op);
}

const EquivalentOps &
StrategyReader::findEquivalent(Operation *op, ArrayRef<int32_t> operands) {
  CompositeKey key = manual;
  bool isShared =
      formOf(op) == Form::Shared && solvers.getSignatures().append(op, key);
  if (!isShared) {
    EquivalentOps &equivalent = mesh.cases.emplace_back();
    fillCase(op, operands, equivalent);
    return equivalent;
  }
  key.addAll(operands);
  if (op->getNumResults() == 1)
    if (double reduced = loopRuns.reducedRuns(op->getResult(0)); reduced != 1)
      key.add(llvm::bit_cast<uintptr_t>(reduced));
  auto [known, isNew] = mesh.knownEquivalents.find(key);
  if (isNew) {
    known = &mesh.cases.emplace_back();
    fillCase(op, operands, *known);
  }
  return *known;
}

bool StrategyReader::isConstant(Operation *op, ArrayRef<int32_t> operands,
                                bool hasRule) const {
  if (isa<sdy::ConstantOp>(op))
    return true;
  if (op->hasTrait<OpTrait::ConstantLike>() &&
      !isa<ShapedType>(op->getResult(0).getType()))
    return true;
  auto expression = dyn_cast<ConstantExpressionOpInterface>(op);
  return expression && op->getNumResults() == 1 &&
         expression.isConstantExpression() && hasRule &&
         llvm::all_of(operands, [&](int32_t operand) {
           return mesh.classes[operand].constant;
         });
}

/// What ops make of what a loop does not change is not changed either.
ReshardRuns StrategyReader::runsOfResults(Operation *op,
                                          ArrayRef<int32_t> operands) const {
  ReshardRuns runs;
  if (op->getNumResults() == 1)
    runs.reduced = loopRuns.reducedRuns(op->getResult(0));
  double moved = 0;
  for (int32_t operand : operands)
    if (const ValueClass &value = mesh.classes[operand]; !value.constant)
      moved = std::max(moved, value.runs.moved);
  if (moved > 0 && moved < 1 && op->getNumRegions() == 0 && isPure(op))
    runs.moved = runs.reduced = moved;
  return runs;
}

void StrategyReader::fillCase(Operation *op, ArrayRef<int32_t> operands,
                              EquivalentOps &equivalent) {
  if (formOf(op) == Form::PassesOn) {
    equivalent.opClass.passesOn = true;
    equivalent.opClass.isReshard = isa<sdy::ReshardOp>(op);
    // A barrier's result i is operand i.
    bool isBarrier =
        op->getNumRegions() == 0 && op->getNumResults() == op->getNumOperands();
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      equivalent.results.push_back(makeClass(
          result, false, false, nullptr,
          isBarrier ? mesh.classes[operands[i]].runs : ReshardRuns()));
    return;
  }
  bool hasRule = solvers.getRule(op) != nullptr;
  bool constant = isConstant(op, operands, hasRule);
  bool free = constant || (hasRule && isScalarExpansion(op));
  // It may be a shape or a position, which rules look at.
  bool looksAt =
      isa<sdy::ConstantOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
  ReshardRuns runs = runsOfResults(op, operands);
  for (OpResult result : op->getResults()) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    bool isFloat = tensor && isa<FloatType>(tensor.getElementType());
    equivalent.results.push_back(
        makeClass(result, constant, free,
                  looksAt && !isFloat ? &equivalent : nullptr, runs));
  }
  fillClass(op, operands, equivalent);
}

/// In which operands the op is linear, of sums.
static void fillLinear(Operation *op, OpClass &opClass) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || op->getNumResults() != 1 || !isPure(op))
    return;
  opClass.linear.resize(op->getNumOperands());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    llvm::SmallBitVector one(op->getNumOperands());
    one.set(i);
    std::optional<llvm::SmallBitVector> others =
        findOwned(op, ReductionKind::Sum, one);
    if (others && others->none())
      opClass.linear.set(i);
    if (others && others->any() && opClass.summands.empty())
      opClass.summands = one | *others;
  }
}

void StrategyReader::fillClass(Operation *op, ArrayRef<int32_t> operands,
                               EquivalentOps &equivalent) {
  const FactorRule *rule = solvers.getRule(op);
  bool isAllowed = llvm::all_of(op->getOperandTypes(), isStatic) &&
                   llvm::all_of(op->getResultTypes(), isStatic);
  OpClass opClass;
  opClass.free.resize(op->getNumOperands() + op->getNumResults());
  SmallVector<int32_t, 4> tensors;
  for (int32_t number :
       llvm::concat<const int32_t>(operands, equivalent.results)) {
    const ValueClass &value = mesh.classes[number];
    equivalent.isSharded |= value.sharding != nullptr;
    isAllowed &= scope.allows(value.sharding);
    if (value.free && opClass.shardings.size() < operands.size())
      opClass.free.set(opClass.shardings.size());
    opClass.shardings.push_back(value.number);
    tensors.push_back(value.tensor);
  }
  if (!rule || !isAllowed || sdy::getSingleDevice(op))
    return;
  opClass.kind = solvers.kindOf(op, *rule, scope, tensors);
  fillLinear(op, opClass);
  // An op sharding is one of the factors of the computation's rule.
  if (sdy::getOpSharding(op)) {
    equivalent.opClass = std::move(opClass);
    return;
  }
  if (std::optional<FactorRule> picking = sdy::getPickingRule(op)) {
    std::optional<FactorRule> window = sdy::getWindowRule(op);
    if (window && fitsTypes(op, *picking) && fitsTypes(op, *window)) {
      opClass.kind = solvers.kindOf(op, *solvers.keep(*window), scope, tensors);
      opClass.pickingKind =
          solvers.kindOf(op, *solvers.keep(*picking), scope, tensors);
    }
  }
  equivalent.opClass = std::move(opClass);
}

sdy::TensorShardingAttr StrategyReader::needAt(OpOperand &use, bool &isKnown) {
  Operation *user = use.getOwner();
  isKnown = true;
  if (auto reshard = dyn_cast<sdy::ReshardOp>(user))
    return reshard.getSharding();
  if (isa<func::ReturnOp>(user))
    return sdy::getFuncResultSharding(cast<func::FuncOp>(user->getParentOp()),
                                      use.getOperandNumber());
  if (auto call = dyn_cast<func::CallOp>(user)) {
    func::FuncOp callee = sdy::getCalleeWithBody(call);
    isKnown = callee != nullptr;
    return callee ? sdy::getSharding(callee.getArgument(use.getOperandNumber()))
                  : nullptr;
  }
  isKnown = getEdgeOwner(use) != nullptr;
  return isKnown ? sdy::getClassSharding(use) : nullptr;
}

SmallVector<int32_t> StrategyReader::readNeeds(Operation *op) {
  SmallVector<int32_t> needs;
  for (OpOperand &use : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(use.get().getType());
    bool isKnown = false;
    sdy::TensorShardingAttr need;
    if (type)
      need = needAt(use, isKnown);
    needs.push_back(isKnown ? mesh.table.add(scope.read(need, type.getRank()))
                            : -1);
  }
  return needs;
}

void StrategyReader::readCaptured(Operation *op) {
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block)
          builder.addUnknownUse(readValue(operand));
    });
}

bool StrategyReader::agrees(int32_t op, const StrategyState &state) const {
  const OpStrategy *strategy = state.strategyOf(op);
  if (!strategy)
    return false;
  if (strategy->differs.none())
    return true;
  // What has no shardings, and gets none, is not sharded for its own sake.
  return !cases[op]->isSharded && state.isAsAtFirst(op);
}

void StrategyReader::write(const StrategyState &state) const {
  auto numValues = static_cast<int32_t>(graph.numValues());
  auto toAttr = [&](int32_t value) {
    return scope.write(state.readSharding(value));
  };
  for (auto [number, op] : llvm::enumerate(ops))
    for (OpResult result : op->getResults()) {
      int32_t value = graph.firstResult(number) + result.getResultNumber();
      if (state.shardingOf(value) != graph.value(value).sharding)
        sdy::setSharding(result, toAttr(value));
    }
  if (state.getCopies().empty())
    return;
  // An op that reads a copy reads its source as yet.
  SmallVector<Value> made(state.getCopies().size());
  auto forEachReader = [&](llvm::function_ref<void(OpOperand &, Value &)> fn) {
    for (auto [number, op] : llvm::enumerate(ops))
      for (auto [operand, value] :
           llvm::zip(op->getOpOperands(), state.operandsOf(number)))
        if (value >= numValues)
          fn(operand, made[value - numValues]);
  };
  forEachReader([](OpOperand &operand, Value &copy) { copy = operand.get(); });
  for (auto [number, copy] : llvm::enumerate(made)) {
    if (!copy)
      continue;
    OpBuilder opBuilder(block.getParentOp()->getContext());
    opBuilder.setInsertionPointAfterValue(copy);
    copy = sdy::ReshardOp::create(opBuilder, copy.getLoc(), copy,
                                  toAttr(numValues + number));
  }
  forEachReader([](OpOperand &operand, Value &copy) { operand.set(copy); });
}

MemoryPrices takeMemoryPrices(func::FuncOp func) {
  MemoryPrices prices;
  func.walk([&](Operation *op) {
    double price = sdy::getMemoryPrice(op);
    if (price == 0)
      return;
    prices[op] = price;
    if (!isLoop(op))
      op->removeAttr(sdy::kMemoryPriceAttr);
  });
  return prices;
}

} // namespace shardonnay
