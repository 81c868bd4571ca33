//===- PartialSumReducer.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/PartialSumReducer.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// `value` with its unreduced axes changed, step by step.
class Change {
public:
  Change(OpBuilder &builder, Value value, const sdy::NamedMesh &mesh)
      : builder(builder), value(value), mesh(mesh),
        sharding(mesh.readClosed(value)) {}

  void reduce(const AxisList &axes) {
    if (axes.empty())
      return;
    ReductionKind kind = sharding.kind;
    sharding.unreduced = sharding.unreduced.subtract(axes);
    if (sharding.unreduced.empty())
      sharding.kind = ReductionKind::Sum;
    value = sdy::AllReduceOp::create(builder, value.getLoc(), value.getType(),
                                     value, mesh.write(axes), write(), kind);
  }

  /// Axes that are last in dims go off them; others are unused.
  void makeParts(const AxisList &axes, ReductionKind kind) {
    sharding.kind = axes.empty() ? sharding.kind : kind;
    SmallVector<sdy::AxisRefListAttr> lists;
    AxisList sharded;
    for (DimSharding &dim : sharding.dims) {
      AxisList kept = dim.axes;
      while (!kept.empty() && axes.covers(kept.back()))
        kept = AxisList(kept.refs().drop_back());
      AxisList last = dim.axes.dropPrefix(kept);
      sharded.append(last);
      dim.axes = kept;
      lists.push_back(mesh.write(last));
    }
    if (!sharded.empty()) {
      add(sharded);
      value = sdy::ShardedToUnreducedOp::create(
          builder, value.getLoc(), value.getType(), value,
          sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists),
          write());
    }
    AxisList unused = axes.subtract(sharded);
    if (unused.empty())
      return;
    takeOff(unused);
    add(unused);
    value = sdy::ReplicatedToUnreducedOp::create(builder, value.getLoc(),
                                                 value.getType(), value,
                                                 mesh.write(unused), write());
  }

  Value get() const { return value; }

private:
  /// `axes` that stand before others in their dims are gathered with these, and
  /// then unused.
  void takeOff(const AxisList &axes) {
    bool any = false;
    for (DimSharding &dim : sharding.dims)
      if (dim.axes.excludes(axes)) {
        dim.axes = dim.axes.prefixWithoutOverlap(axes);
        any = true;
      }
    sharding.replicated = sharding.replicated.subtract(axes);
    if (any)
      value = sdy::ReshardOp::create(builder, value.getLoc(), value, write());
    else if (!sdy::getSharding(value))
      sdy::setSharding(value, write());
  }
  void add(const AxisList &axes) {
    sharding.unreduced.append(axes);
    sharding.unreduced = sharding.unreduced.sorted();
  }
  sdy::TensorShardingAttr write() const { return mesh.write(sharding); }

  OpBuilder &builder;
  Value value;
  const sdy::NamedMesh &mesh;
  TensorSharding sharding;
};

bool hasParts(sdy::TensorShardingAttr sharding) {
  return sharding && !sharding.getUnreducedAxes().empty();
}

} // namespace

void PartialSumReducer::reduce(OpOperand &operand,
                               sdy::TensorShardingAttr target) {
  sdy::TensorShardingAttr present = sdy::getSharding(operand.get());
  if (!isa<RankedTensorType>(operand.get().getType()) ||
      (!hasParts(present) && !hasParts(target)))
    return;
  sdy::TensorShardingAttr known = hasParts(target) ? target : present;
  auto mesh = sdy::NamedMesh::of(operand.getOwner(), known);
  Parts wanted;
  if (hasParts(target)) {
    TensorSharding read = mesh.read(target);
    wanted = {read.unreduced, read.kind};
  }
  reduce(operand, mesh, wanted);
}

void PartialSumReducer::reduce(OpOperand &operand, const sdy::NamedMesh &mesh,
                               const Parts &wanted) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  sdy::TensorShardingAttr sharding = sdy::getSharding(operand.get());
  if (sharding && sdy::getMesh(operand.getOwner(), sharding) != mesh.mesh) {
    // From one mesh to another a value goes whole.
    reduce(operand, nullptr);
    if (wanted.axes.empty())
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(sdy::ReshardOp::create(builder, operand.get().getLoc(),
                                       operand.get(),
                                       mesh.replicated(type.getRank())));
  }
  Value value = operand.get();
  TensorSharding present = mesh.readClosed(value);
  bool sameKind = present.kind == wanted.kind || wanted.axes.empty();
  AxisList reduced =
      sameKind ? present.unreduced.subtract(wanted.axes) : present.unreduced;
  AxisList made =
      sameKind ? wanted.axes.subtract(present.unreduced) : wanted.axes;
  if (reduced.empty() && made.empty())
    return;
  TensorSharding after = TensorSharding::fullyClosed(0);
  after.unreduced = wanted.axes;
  after.kind = wanted.axes.empty() ? ReductionKind::Sum : wanted.kind;
  Value &whole = known[{value, mesh.write(after)}];
  if (!whole) {
    OpBuilder builder(operand.getOwner());
    Change change(builder, value, mesh);
    change.reduce(reduced);
    change.makeParts(made, wanted.kind);
    whole = change.get();
  }
  operand.set(whole);
}

void PartialSumReducer::makePartsBehind(OpResult result, const AxisList &axes) {
  sdy::TensorShardingAttr before = sdy::getSharding(result);
  auto mesh = sdy::NamedMesh::of(result.getOwner(), before);
  TensorSharding present = mesh.read(before);
  present.unreduced = present.unreduced.subtract(axes);
  if (present.unreduced.empty())
    present.kind = ReductionKind::Sum;
  sdy::setSharding(result, mesh.write(present));
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  auto parts = sdy::ReplicatedToUnreducedOp::create(builder, result.getLoc(),
                                                    result.getType(), result,
                                                    mesh.write(axes), before);
  result.replaceAllUsesExcept(parts, parts);
}

void PartialSumReducer::reduceOperands(Operation *op) {
  auto first = llvm::find_if(op->getResults(), [](OpResult result) {
    return hasParts(sdy::getSharding(result));
  });
  if (first == op->getResults().end()) {
    for (OpOperand &operand : op->getOpOperands())
      reduce(operand, nullptr);
    return;
  }
  sdy::TensorShardingAttr sharding = sdy::getSharding(*first);
  auto mesh = sdy::NamedMesh::of(op, sharding);
  TensorSharding read = mesh.read(sharding);
  Parts made = {read.unreduced, read.kind};
  SmallVector<Parts> present(op->getNumOperands()), wanted(present);
  for (auto [parts, operand] : llvm::zip_equal(present, op->getOperands()))
    if (sdy::TensorShardingAttr attr = sdy::getSharding(operand);
        hasParts(attr) && sdy::getMesh(op, attr) == mesh.mesh) {
      TensorSharding own = mesh.read(attr);
      parts = {own.unreduced, own.kind};
    }
  AxisList passed = passParts(op, made, present, wanted);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      reduce(operand, mesh, wanted[operand.getOperandNumber()]);
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  if (!rule || isOpaque(op))
    return;
  auto reduces = [&](int32_t factor) { return rule->reducesOver(factor); };
  AxisList own = llvm::any_of(llvm::seq<int32_t>(rule->factors.size()), reduces)
                     ? made.axes
                     : AxisList();
  AxisList missing = made.axes.subtract(passed).subtract(own);
  if (missing.empty())
    return;
  for (OpResult result : op->getResults())
    if (hasParts(sdy::getSharding(result)))
      makePartsBehind(result, missing);
}

} // namespace shardonnay
