//===- FactorAxes.cpp - the axes that shard an op's factors ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once for all ops of one rule and the same placements:
// 1. checkRule: the rule has a mapping for every operand and result, of its
//    rank and size.
// 2. collectAxes: project every tensor on the factors; all that have a factor
//    must agree on its axes.
// 3. checkShardings: every sharded factor is one that the op can be computed
//    with
// for.
//
// For each op, as it alone knows what it is linear in:
// 4. collectPartial: partial operands, where the op is linear in them, and
//    sharded factors that it reduces over make its results partial.
// 5. checkResults: the results say so.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/FactorAxes.h"

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Projection.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace shardonnay {

namespace {

class FactorAxesReader {
public:
  FactorAxesReader(Operation *op, const FactorRule &rule,
                   llvm::ArrayRef<const Placement *> placements,
                   const Placer &placer, MutableArrayRef<AxisList> factorAxes)
      : op(op), rule(rule), placements(placements), placer(placer),
        factorAxes(factorAxes) {}

  LogicalResult checkRule();
  LogicalResult collectAxes();
  LogicalResult checkShardings();
  LogicalResult collectPartial();
  LogicalResult checkResults();

private:
  /// Another reason for partial results, which is in `tensor`; not `isNew`: the
  /// same as before.
  LogicalResult addPartial(const AxisList &list, ReductionKind kind, bool isNew,
                           size_t tensor);
  std::string tensorName(size_t tensor) const {
    size_t numOperands = rule.operands.size();
    return tensor < numOperands
               ? "operand " + std::to_string(tensor)
               : "result " + std::to_string(tensor - numOperands);
  }
  Value tensorValue(size_t tensor) const {
    size_t numOperands = rule.operands.size();
    return tensor < numOperands ? op->getOperand(tensor)
                                : op->getResult(tensor - numOperands);
  }

  /// `diag` with a note where `tensor` is made, if that is an operand.
  InFlightDiagnostic at(InFlightDiagnostic diag, size_t tensor) const {
    return tensor < rule.operands.size()
               ? pointAtOperand(std::move(diag), op->getOperand(tensor),
                                "operand " + std::to_string(tensor) +
                                    " is made here")
               : std::move(diag);
  }
  /// The first tensor that `factor` is in and that is sharded.
  size_t tensorWith(int32_t factor) const {
    size_t tensor = 0;
    while (tensor + 1 < placements.size() &&
           (!rule.tensor(tensor).has(factor) ||
            placements[tensor]->layout.usedAxes().empty()))
      ++tensor;
    return tensor;
  }

  Operation *op;
  const FactorRule &rule;
  llvm::ArrayRef<const Placement *> placements;
  const Placer &placer;
  MutableArrayRef<AxisList> factorAxes;
  /// What the results are unreduced over, sorted.
  AxisList partial;
  ReductionKind partialKind = ReductionKind::Sum;
};

LogicalResult FactorAxesReader::checkRule() {
  if (rule.operands.size() != op->getNumOperands() ||
      rule.results.size() != op->getNumResults())
    return op->emitError() << "the sharding rule maps " << rule.operands.size()
                           << " operands and " << rule.results.size()
                           << " results, expected " << op->getNumOperands()
                           << " and " << op->getNumResults();
  SmallVector<SmallVector<int64_t>> shapes;
  for (size_t i = 0; i < placements.size(); ++i) {
    auto type = dyn_cast<RankedTensorType>(tensorValue(i).getType());
    shapes.emplace_back(type ? type.getShape() : ArrayRef<int64_t>());
    // A scalar operand may have no mapping, even if it is no scalar to builtin.
    if (rule.tensor(i).dims.empty())
      shapes.back().clear();
  }
  std::string error;
  if (!rule.verify(shapes, error))
    return op->emitError() << "the sharding rule is invalid: " << error;
  return success();
}

LogicalResult FactorAxesReader::collectAxes() {
  SmallVector<int64_t> firstTensor(rule.factors.size(), -1);
  for (auto [i, placement] : llvm::enumerate(placements)) {
    const TensorMapping &mapping = rule.tensor(i);
    if (mapping.dims.size() != placement->sharding.dims.size()) {
      if (!placement->layout.usedAxes().empty())
        return at(op->emitError() << tensorName(i)
                                  << " is sharded, but the sharding rule has "
                                     "no factors for it; expected it to be "
                                     "replicated",
                  i);
      continue;
    }
    TensorProjection row = project(placement->sharding, mapping, rule.factors);
    for (auto [factor, cell] : llvm::enumerate(row.factors)) {
      if (!cell.present)
        continue;
      if (!cell.overflow.empty())
        return at(op->emitError()
                      << "axes " << placer.str(cell.overflow) << " of "
                      << tensorName(i)
                      << " fit no factor of its dim; expected a reshard before",
                  i);
      if (firstTensor[factor] < 0) {
        firstTensor[factor] = i;
        factorAxes[factor] = cell.axes;
      } else if (factorAxes[factor] != cell.axes) {
        return at(at(op->emitError()
                         << tensorName(firstTensor[factor]) << " and "
                         << tensorName(i) << " disagree on a factor of size "
                         << rule.factors[factor].size << ": sharded by "
                         << placer.str(factorAxes[factor]) << " and by "
                         << placer.str(cell.axes)
                         << "; run sdy-insert-explicit-reshards first",
                     firstTensor[factor]),
                  i);
      }
    }
  }
  return success();
}

LogicalResult FactorAxesReader::checkShardings() {
  AxisList used;
  for (auto [id, factor, axes] : llvm::enumerate(rule.factors, factorAxes)) {
    if (axes.empty())
      continue;
    if (factor.kind == FactorKind::NeedReplication)
      return at(op->emitError()
                    << "a factor of size " << factor.size
                    << " that the op needs whole is sharded by "
                    << placer.str(axes) << "; expected a reshard before",
                tensorWith(id));
    if (factor.size % axes.numShards() != 0 && !rule.mayBeUneven(id))
      return at(op->emitError()
                    << "axes " << placer.str(axes) << " of size "
                    << axes.numShards() << " do not divide a factor of size "
                    << factor.size
                    << " that is a part of a dim; expected a reshard before",
                tensorWith(id));
    if (used.excludes(axes))
      return at(
          op->emitError()
              << "axes " << placer.str(axes)
              << " shard two factors of this op; expected a reshard before",
          tensorWith(id));
    used.append(axes);
  }
  return success();
}

LogicalResult FactorAxesReader::collectPartial() {
  SmallBitVector deferred(rule.operands.size());
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    if (placements[i]->layout.partial.empty())
      continue;
    if (failed(addPartial(placements[i]->layout.partial,
                          placements[i]->layout.kind, deferred.none(), i)))
      return failure();
    deferred.set(i);
  }
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  if (deferred.any() && !(ruleOp && ruleOp.isLinear(partialKind, deferred)))
    return at(op->emitError() << "operand " << deferred.find_first()
                              << " is unreduced over " << placer.str(partial)
                              << ", which the op does not pass on; expected a "
                                 "reshard before",
              deferred.find_first());
  for (auto [i, axes] : llvm::enumerate(factorAxes))
    if (!axes.empty() && rule.reducesOver(i) &&
        failed(addPartial(axes, rule.factors[i].combiner, /*isNew=*/true,
                          tensorWith(i))))
      return failure();
  return success();
}

LogicalResult FactorAxesReader::addPartial(const AxisList &list,
                                           ReductionKind kind, bool isNew,
                                           size_t tensor) {
  if (!partial.empty() && kind != partialKind)
    return at(op->emitError()
                  << "is unreduced both by " << toString(partialKind)
                  << " and by " << toString(kind)
                  << "; expected a reshard before",
              tensor);
  if (!isNew && list != partial)
    return at(op->emitError()
                  << "operands are unreduced over " << placer.str(partial)
                  << " and over " << placer.str(list)
                  << "; expected a reshard before",
              tensor);
  partialKind = kind;
  if (isNew)
    partial.append(list);
  partial = partial.sorted();
  return success();
}

LogicalResult FactorAxesReader::checkResults() {
  for (size_t i = rule.operands.size(); i < placements.size(); ++i) {
    const Layout &layout = placements[i]->layout;
    if (layout.partial != partial)
      return op->emitError() << tensorName(i) << " is unreduced over "
                             << placer.str(layout.partial) << ", expected "
                             << placer.str(partial);
    if (!partial.empty() && layout.kind != partialKind)
      return op->emitError()
             << tensorName(i) << " is unreduced by " << toString(layout.kind)
             << ", expected " << toString(partialKind);
  }
  return success();
}

} // namespace

FailureOr<ArrayRef<AxisList>>
FactorAxesTable::find(Operation *op, const FactorRule &rule,
                      ArrayRef<const Placement *> placements) {
  CompositeKey key = makeKey(&rule);
  key.addAll(placements);
  std::optional<Axes> &axes = known.find(key).first;
  bool isNew = !axes;
  if (isNew)
    axes.emplace(rule.factors.size());
  FactorAxesReader reader(op, rule, placements, placer, *axes);
  if (isNew && (failed(reader.checkRule()) || failed(reader.collectAxes()) ||
                failed(reader.checkShardings()))) {
    axes.reset();
    return failure();
  }
  if (failed(reader.collectPartial()) || failed(reader.checkResults()))
    return failure();
  return ArrayRef(*axes);
}

} // namespace shardonnay
