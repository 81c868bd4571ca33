//===- ReshardedOp.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/ReshardedOp.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

static bool isKnownZeros(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_if_present<sdy::ConstantOp>(op))
    return sdy::isZeroSplat(constant.getValue());
  if (isa_and_nonnull<sdy::AllSliceOp>(op))
    return isKnownZeros(op->getOperand(0), depth);
  auto rule = dyn_cast_if_present<ShardingRuleOpInterface>(op);
  return rule && depth < 4 && op->getNumOperands() == 1 &&
         rule.isLinear(ReductionKind::Sum, llvm::SmallBitVector(1, true)) &&
         isKnownZeros(op->getOperand(0), depth + 1);
}

bool isKnownZeros(Value value) { return isKnownZeros(value, 0); }

Value makeZeros(OpBuilder &builder, Value value, const TensorSharding &sharding,
                const sdy::NamedMesh &mesh) {
  auto type = cast<RankedTensorType>(value.getType());
  auto zeros = cast<DenseElementsAttr>(
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  Value made = sdy::ConstantOp::create(builder, value.getLoc(), zeros);
  sdy::setSharding(made, mesh.write(sharding));
  return made;
}

static bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

static bool isOnMesh(Value value, Operation *op, sdy::MeshAttr mesh) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  return !sharding || sharding.isReplicated() ||
         sdy::getMesh(op, sharding) == mesh;
}

std::optional<ReshardedOp> ReshardedOp::get(Operation *op,
                                            const sdy::NamedMesh &mesh) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !isPure(op) ||
      isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
      isa<ShardableDataFlowOpInterface>(op) ||
      isa<ShardingRuleOpInterface>(op->getParentOp()))
    return std::nullopt;
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(op->getResult(0));
  SmallVector<SmallVector<int64_t>> shapes;
  for (Value value : tensors) {
    if (!isStaticTensor(value) || !isOnMesh(value, op, mesh.mesh))
      return std::nullopt;
    shapes.emplace_back(cast<RankedTensorType>(value.getType()).getShape());
  }
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  std::string error;
  if (!rule || !rule->verify(shapes, error))
    return std::nullopt;
  return ReshardedOp(op, std::move(*rule), mesh);
}

ReshardedOp::ReshardedOp(Operation *op, FactorRule rule,
                         const sdy::NamedMesh &mesh)
    : op(op), rule(std::move(rule)), mesh(mesh), values(op->getOperands()) {
  for (Value value : values)
    present.push_back(mesh.readClosed(value));
  SmallVector<Value> tensors(values);
  tensors.push_back(op->getResult(0));
  before.resize(this->rule.factors.size());
  for (auto [i, value] : llvm::enumerate(tensors)) {
    const TensorMapping &mapping = this->rule.tensor(i);
    if (mapping.dims.empty())
      continue;
    TensorProjection row =
        project(mesh.readClosed(value), mapping, this->rule.factors);
    for (auto [axes, cell] : llvm::zip_equal(before, row.factors))
      if (!cell.axes.empty())
        axes = cell.axes;
  }
}

/// An op makes `value` of scalars alone, or of nothing: it is there in any
/// sharding.
static bool isMadeOfScalars(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<sdy::ConstantOp>(op))
    return true;
  auto rule = dyn_cast_if_present<ShardingRuleOpInterface>(op);
  return rule && isPure(op) && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.getRank() == 0;
         });
}

bool ReshardedOp::isMadeAnew(unsigned number) const {
  return isZerosBesideParts(number) ||
         (present[number].unreduced.empty() && isMadeOfScalars(values[number]));
}

bool ReshardedOp::isZerosBesideParts(unsigned number) const {
  auto isPart = [](const TensorSharding &sharding) {
    return !sharding.unreduced.empty() && sharding.kind == ReductionKind::Sum;
  };
  return llvm::any_of(present, isPart) && !isPart(present[number]) &&
         isKnownZeros(values[number]);
}

/// What shards each factor: as the replaced operands have it, and as the others
/// where these have nothing, but for axes over which the replaced ones are in
/// parts. Nothing where two disagree on more than that one goes further.
std::optional<FactorStrategy>
ReshardedOp::strategyOf(llvm::ArrayRef<bool> replaced) {
  FactorStrategy strategy(rule.factors.size());
  AxisList parts;
  for (auto [isReplaced, sharding] : llvm::zip(replaced, present))
    if (isReplaced)
      parts.append(sharding.unreduced.subtract(parts));
  for (bool ofReplaced : {true, false})
    for (auto [i, mapping] : llvm::enumerate(rule.operands)) {
      if (replaced[i] != ofReplaced || mapping.dims.empty() || isMadeAnew(i))
        continue;
      TensorProjection row = project(present[i], mapping, rule.factors);
      for (auto [factor, cell] : llvm::enumerate(row.factors)) {
        AxisList &axes = strategy[factor];
        if (!cell.overflow.empty())
          return std::nullopt;
        AxisList has =
            ofReplaced ? cell.axes : cell.axes.prefixWithoutOverlap(parts);
        if (!cell.present || has.isPrefixOf(axes))
          continue;
        if (!axes.isPrefixOf(has))
          return std::nullopt;
        axes = has;
      }
    }
  return strategy;
}

/// Takes over how `strategy` has operands and result sharded, without what is
/// partial in the operands.
bool ReshardedOp::setFactors(const FactorStrategy &strategy) {
  if (!isLawful(strategy, rule))
    return false;
  for (auto [factor, now, then] :
       llvm::zip_equal(rule.factors, strategy, before))
    if ((factor.kind == FactorKind::Windowed ||
         factor.kind == FactorKind::Indexed) &&
        now != then)
      return false;
  needed.clear();
  for (auto [i, mapping] : llvm::enumerate(rule.operands)) {
    needed.push_back(
        mapping.dims.empty()
            ? TensorSharding::fullyClosed(
                  cast<RankedTensorType>(values[i].getType()).getRank())
            : shardingUnder(strategy, rule, i));
    if (!needed.back().unreduced.empty())
      return false;
  }
  result = shardingUnder(strategy, rule, rule.operands.size());
  return true;
}

/// Operands that are partial make a partial result, if the op is linear in
/// them.
bool ReshardedOp::addPartial() {
  llvm::SmallBitVector partial(values.size());
  for (unsigned i = 0; i < values.size(); ++i)
    if (!present[i].unreduced.empty())
      partial.set(i);
  if (partial.none())
    return true;
  const TensorSharding &first = present[partial.find_first()];
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruleOp || !ruleOp.isLinear(first.kind, partial) ||
      (!result.unreduced.empty() && result.kind != first.kind))
    return false;
  for (unsigned i : partial.set_bits()) {
    if (present[i].unreduced != first.unreduced ||
        present[i].kind != first.kind)
      return false;
    needed[i].unreduced = first.unreduced;
    needed[i].kind = first.kind;
  }
  for (const TensorSharding &sharding : needed)
    for (const DimSharding &dim : sharding.dims)
      if (dim.axes.excludes(first.unreduced))
        return false;
  if (result.unreduced.excludes(first.unreduced))
    return false;
  result.unreduced.append(first.unreduced);
  result.unreduced = result.unreduced.sorted();
  result.kind = first.kind;
  return true;
}

bool ReshardedOp::replaceOperands(
    const llvm::MapVector<unsigned, Value> &sources) {
  SmallVector<bool> replaced(values.size(), false);
  for (auto [i, source] : sources) {
    if (!isOnMesh(source, op, mesh.mesh))
      return false;
    values[i] = source;
    present[i] = mesh.readClosed(source);
    replaced[i] = true;
  }
  return reshardFrom(replaced);
}

bool ReshardedOp::replaceOperand(unsigned number, Value source,
                                 const TensorSharding &sharding) {
  values[number] = source;
  present[number] = sharding;
  SmallVector<bool> replaced(values.size(), false);
  replaced[number] = true;
  return reshardFrom(replaced);
}

bool ReshardedOp::passParts(unsigned carried, unsigned summand,
                            const TensorSharding &sharding) {
  // Dims that the summand has none of stay as they are.
  FactorStrategy others(rule.factors.size());
  TensorProjection row =
      project(present[carried], rule.tensor(carried), rule.factors);
  TensorProjection given =
      project(sharding, rule.tensor(summand), rule.factors);
  for (auto [axes, cell, other] :
       llvm::zip_equal(others, row.factors, given.factors))
    if (!other.present)
      axes = cell.axes;
  present[carried] = shardingUnder(others, rule, carried);
  present[summand] = sharding;
  SmallVector<bool> replaced(values.size(), false);
  replaced[summand] = true;
  std::optional<FactorStrategy> strategy = strategyOf(replaced);
  if (!strategy || !setFactors(*strategy))
    return false;
  present[carried] = needed[carried];
  present[carried].unreduced = sharding.unreduced;
  present[carried].kind = sharding.kind;
  return addPartial() && needed == present && result == present[carried];
}

bool ReshardedOp::reshardFrom(ArrayRef<bool> replaced) {
  std::optional<FactorStrategy> strategy = strategyOf(replaced);
  if (!strategy || !setFactors(*strategy) || !addPartial())
    return false;
  for (auto [i, isReplaced] : llvm::enumerate(replaced))
    if (isReplaced && needed[i].dims != present[i].dims)
      return false;
  return true;
}

bool ReshardedOp::shardResult(const TensorSharding &wanted) {
  if (!wanted.unreduced.empty())
    return false;
  FactorStrategy strategy(rule.factors.size());
  for (bool ofResult : {true, false})
    for (unsigned i = 0; i < rule.numTensors(); ++i) {
      const TensorMapping &mapping = rule.tensor(i);
      bool isResult = i == rule.operands.size();
      if (isResult != ofResult || mapping.dims.empty())
        continue;
      TensorProjection row =
          project(isResult ? wanted : present[i], mapping, rule.factors);
      for (auto [factor, cell] : llvm::enumerate(row.factors)) {
        // A factor that the result has is sharded as there.
        if (!cell.present || (!isResult && rule.inResults(factor)))
          continue;
        if (!cell.overflow.empty() ||
            (!isResult && !cell.axes.empty() && !strategy[factor].empty() &&
             strategy[factor] != cell.axes))
          return false;
        if (!cell.axes.empty())
          strategy[factor] = cell.axes;
      }
    }
  return setFactors(strategy) && addPartial() && result == wanted;
}

bool ReshardedOp::plan(CollectivePlanner &planner) {
  plans.clear();
  priceOfOperands = 0;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (needed[i] != present[i] && isMadeAnew(i)) {
      plans.push_back(nullptr);
      continue;
    }
    const ReshardPlan *reshard =
        planner.plan(cast<RankedTensorType>(values[i].getType()), present[i],
                     needed[i], mesh.mesh);
    if (!reshard)
      return false;
    plans.push_back(reshard);
    priceOfOperands += reshard->price;
  }
  Value value = op->getResult(0);
  resultPlan = planner.plan(cast<RankedTensorType>(value.getType()), result,
                            mesh.readClosed(value), mesh.mesh);
  return resultPlan != nullptr;
}

static double touched(ArrayRef<Value> values,
                      ArrayRef<TensorSharding> shardings) {
  double bytes = 0;
  for (auto [value, sharding] : llvm::zip_equal(values, shardings))
    bytes +=
        sdy::getShardBytes(cast<RankedTensorType>(value.getType()), sharding);
  return bytes;
}

double ReshardedOp::touchedBefore() const {
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(op->getResult(0));
  SmallVector<TensorSharding, 0> shardings;
  for (Value value : tensors)
    shardings.push_back(mesh.readClosed(value));
  return touched(tensors, shardings);
}

double ReshardedOp::touchedAfter() const {
  return touched(values, needed) + touched({op->getResult(0)}, {result});
}

void ReshardedOp::apply(Attribute cause, bool keepSharding) {
  OpBuilder builder(op);
  for (auto [i, value] : llvm::enumerate(values))
    op->setOperand(i, plans[i] ? buildPlan(builder, value.getLoc(), value,
                                           *plans[i], mesh, cause)
                               : makeAnew(builder, i));
  applyToResult();
  if (keepSharding)
    return;
  OpResult value = op->getResult(0);
  builder.setInsertionPointAfter(op);
  Value former =
      buildPlan(builder, op->getLoc(), value, *resultPlan, mesh, cause);
  if (former == value)
    return;
  // The chain's first op takes the value itself.
  Operation *first = former.getDefiningOp();
  while (first->getOperand(0) != value)
    first = first->getOperand(0).getDefiningOp();
  value.replaceAllUsesExcept(former, first);
}

Value ReshardedOp::makeAnew(OpBuilder &builder, unsigned number) const {
  Value value = values[number];
  if (isZerosBesideParts(number))
    return makeZeros(builder, value, needed[number], mesh);
  Value made = builder.clone(*value.getDefiningOp())->getResult(0);
  sdy::setSharding(made, mesh.write(needed[number]));
  return made;
}

void ReshardedOp::applyToResult() {
  sdy::setSharding(op->getResult(0), mesh.write(result));
}

} // namespace shardonnay
