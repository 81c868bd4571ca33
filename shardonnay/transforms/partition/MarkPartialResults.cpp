//===- MarkPartialResults.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every op with a rule and one mesh:
//   1. `findReduced`: the axes that shard factors which it reduces over, and
//      how what it makes of them combines.
//   2. Results that do not say so are marked, and `reduceBehind` sees to their
//      uses:
//      a collective that reduces along these axes is what was meant; all others
//      see the value reduced.
//   3. `dropNeedless`: a collective that reduces what an op computes whole
//      would add copies. It is left out, or slices.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Projection.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_MARKPARTIALRESULTSPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// What a result is partial over.
struct Reduced {
  AxisList axes;
  ReductionKind kind = ReductionKind::Sum;
  /// As the last operand names it.
  sdy::NamedMesh mesh;
};

/// Nothing if nothing is sharded that the op reduces over, or not by one kind.
std::optional<Reduced> findReduced(Operation *op, const FactorRule &rule) {
  Reduced found;
  for (auto [value, mapping] :
       llvm::zip_equal(op->getOperands(), rule.operands)) {
    sdy::TensorShardingAttr attr = sdy::getSharding(value);
    auto mesh = sdy::NamedMesh::of(op, attr);
    if (!mesh || mesh.mesh.getAxes().empty() ||
        mapping.dims.size() != attr.getDimShardings().size())
      continue;
    if (found.mesh && found.mesh.mesh != mesh.mesh)
      return std::nullopt;
    found.mesh = mesh;
    TensorProjection row = project(mesh.read(attr), mapping, rule.factors);
    for (auto [id, cell] : llvm::enumerate(row.factors)) {
      if (!cell.present || cell.axes.empty() || !rule.reducesOver(id))
        continue;
      if (!found.axes.empty() && found.kind != rule.factors[id].combiner)
        return std::nullopt;
      found.kind = rule.factors[id].combiner;
      found.axes.append(cell.axes.subtract(found.axes));
    }
  }
  found.axes = found.axes.sorted();
  return found.axes.empty() ? std::nullopt : std::optional(found);
}

/// `sharding` with `axes` unreduced besides; nothing if they shard its dims, or
/// it is partial of another kind.
sdy::TensorShardingAttr mark(sdy::TensorShardingAttr sharding,
                             const Reduced &reduced) {
  sdy::NamedMesh mesh{reduced.mesh.mesh, sharding.getMeshOrRef()};
  TensorSharding read = mesh.read(sharding);
  if (!read.unreduced.empty() && read.kind != reduced.kind)
    return nullptr;
  for (const DimSharding &dim : read.dims)
    if (dim.axes.excludes(reduced.axes))
      return nullptr;
  read.replicated = read.replicated.subtract(reduced.axes);
  read.unreduced.append(reduced.axes.subtract(read.unreduced));
  read.unreduced = read.unreduced.sorted();
  read.kind = reduced.kind;
  return mesh.write(read);
}

/// The collective `op` reduces its operand along all of `reduced`.
bool reducesAll(Operation *op, const Reduced &reduced) {
  AxisList axes;
  if (auto reduce = dyn_cast<sdy::AllReduceOp>(op))
    axes = toAxisList(reduce.getReductionAxes().getValue(), reduced.mesh.mesh);
  else if (auto scatter = dyn_cast<sdy::ReduceScatterOp>(op))
    for (sdy::AxisRefListAttr list : scatter.getReduceScatterAxes().getValue())
      axes.append(toAxisList(list.getValue(), reduced.mesh.mesh));
  return llvm::all_of(reduced.axes,
                      [&](AxisRef axis) { return axes.covers(axis); });
}

void reduceBehind(OpResult result, sdy::TensorShardingAttr whole,
                  const Reduced &reduced) {
  auto kind = sdy::ReductionKindAttr::get(result.getContext(), reduced.kind);
  Value sum;
  for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
    Operation *user = use.getOwner();
    if (reducesAll(user, reduced)) {
      if (auto reduce = dyn_cast<sdy::AllReduceOp>(user))
        reduce.setKindAttr(kind);
      else
        cast<sdy::ReduceScatterOp>(user).setKindAttr(kind);
      continue;
    }
    if (!sum) {
      OpBuilder builder(result.getContext());
      builder.setInsertionPointAfter(result.getOwner());
      sum = sdy::AllReduceOp::create(builder, result.getLoc(), result.getType(),
                                     result, reduced.mesh.write(reduced.axes),
                                     whole, reduced.kind);
    }
    use.set(sum);
  }
}

void markResults(Operation *op) {
  if (isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
      sdy::getSingleDevice(op))
    return;
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  std::optional<Reduced> reduced =
      rule && rule->operands.size() == op->getNumOperands()
          ? findReduced(op, *rule)
          : std::nullopt;
  if (!reduced)
    return;
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    sdy::TensorShardingAttr sharding = sdy::getSharding(result);
    if (!sharding) // replicated
      sharding = reduced->mesh.replicated(type.getRank());
    if (sdy::getMesh(op, sharding) != reduced->mesh.mesh)
      continue;
    Reduced missing = *reduced;
    missing.axes =
        missing.axes.subtract(reduced->mesh.read(sharding).unreduced);
    sdy::TensorShardingAttr marked = mark(sharding, missing);
    if (missing.axes.empty() || !marked)
      continue;
    sdy::setSharding(result, marked);
    reduceBehind(result, sharding, missing);
  }
}

/// An op that has a rule, and so makes whole values where it does not say
/// otherwise, made this, or collectives did of what it made.
bool isMadeByRule(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<sdy::CollectiveOpInterface, sdy::ReshardOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && !isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
         !sdy::getSingleDevice(op) && sdy::getComputationRule(op);
}

/// The axes over which `value` is in parts.
AxisList partsOf(Value value, sdy::MeshAttr mesh) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  return sharding ? sdy::toSharding(sharding, mesh).unreduced : AxisList();
}

void dropNeedless(sdy::AllReduceOp reduce) {
  sdy::MeshAttr mesh = sdy::getMesh(reduce, reduce.getOutSharding());
  if (!mesh || !isMadeByRule(reduce.getTensor()))
    return;
  AxisList axes = toAxisList(reduce.getReductionAxes().getValue(), mesh);
  AxisList parts = partsOf(reduce.getTensor(), mesh);
  AxisList needed;
  for (AxisRef axis : axes)
    if (parts.covers(axis))
      needed.append(axis);
  if (needed == axes)
    return;
  if (!needed.empty()) {
    reduce.setReductionAxesAttr(sdy::AxisRefListAttr::get(
        reduce.getContext(), sdy::fromAxisList(needed, mesh)));
    return;
  }
  reduce.replaceAllUsesWith(reduce.getTensor());
  reduce.erase();
}

void dropNeedless(sdy::ReduceScatterOp scatter) {
  sdy::MeshAttr mesh = sdy::getMesh(scatter, scatter.getOutSharding());
  if (!mesh || !isMadeByRule(scatter.getTensor()) ||
      !partsOf(scatter.getTensor(), mesh).empty())
    return;
  OpBuilder builder(scatter);
  auto slice = sdy::AllSliceOp::create(
      builder, scatter.getLoc(), scatter.getType(), scatter.getTensor(),
      scatter.getReduceScatterAxes(), scatter.getOutSharding());
  scatter.replaceAllUsesWith(slice.getResult());
  scatter.erase();
}

struct MarkPartialResultsPass
    : impl::MarkPartialResultsPassBase<MarkPartialResultsPass> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      markResults(op);
      return isa<ShardingRuleOpInterface>(op) ? WalkResult::skip()
                                              : WalkResult::advance();
    });
    getOperation().walk([](Operation *op) {
      if (auto reduce = dyn_cast<sdy::AllReduceOp>(op))
        dropNeedless(reduce);
      else if (auto scatter = dyn_cast<sdy::ReduceScatterOp>(op))
        dropNeedless(scatter);
    });
  }
};

} // namespace

} // namespace shardonnay
