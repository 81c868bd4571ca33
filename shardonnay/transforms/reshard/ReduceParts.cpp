//===- ReduceParts.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/ReduceParts.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// `value` with its unreduced axes changed, step by step.
class Change {
public:
  Change(OpBuilder &builder, Value value, Attribute meshOrRef,
         sdy::MeshAttr mesh, TensorSharding sharding)
      : builder(builder), value(value), meshOrRef(meshOrRef), mesh(mesh),
        sharding(std::move(sharding)) {}

  void reduce(const AxisList &axes) {
    if (axes.empty())
      return;
    ReductionKind kind = sharding.kind;
    sharding.unreduced = sharding.unreduced.subtract(axes);
    if (sharding.unreduced.empty())
      sharding.kind = ReductionKind::Sum;
    value = sdy::AllReduceOp::create(builder, value.getLoc(), value.getType(),
                                     value, write(axes), write(), kind);
  }

  /// Axes that are last in dims go off them; others are unused.
  void makeParts(const AxisList &axes, ReductionKind kind) {
    sharding.kind = axes.empty() ? sharding.kind : kind;
    SmallVector<sdy::AxisRefListAttr> lists;
    AxisList cut;
    for (DimSharding &dim : sharding.dims) {
      AxisList kept = dim.axes;
      while (!kept.empty() && axes.covers(kept.back()))
        kept = AxisList(kept.refs().drop_back());
      AxisList last = dim.axes.dropPrefix(kept);
      cut.append(last);
      dim.axes = kept;
      lists.push_back(write(last));
    }
    if (!cut.empty()) {
      add(cut);
      value = sdy::ShardedToUnreducedOp::create(
          builder, value.getLoc(), value.getType(), value,
          sdy::ListOfAxisRefListsAttr::get(builder.getContext(), lists),
          write());
    }
    AxisList unused = axes.subtract(cut);
    if (unused.empty())
      return;
    takeOff(unused);
    add(unused);
    value = sdy::ReplicatedToUnreducedOp::create(builder, value.getLoc(),
                                                 value.getType(), value,
                                                 write(unused), write());
  }

  Value get() const { return value; }

private:
  /// `axes` that stand before others in their dims are gathered with these, and
  /// then unused.
  void takeOff(const AxisList &axes) {
    bool any = false;
    for (DimSharding &dim : sharding.dims)
      if (dim.axes.overlaps(axes)) {
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
  sdy::TensorShardingAttr write() const {
    return sdy::fromSharding(sharding, meshOrRef, mesh);
  }
  sdy::AxisRefListAttr write(const AxisList &axes) const {
    return sdy::AxisRefListAttr::get(builder.getContext(),
                                     sdy::fromAxisList(axes, mesh));
  }

  OpBuilder &builder;
  Value value;
  Attribute meshOrRef;
  sdy::MeshAttr mesh;
  TensorSharding sharding;
};

bool hasParts(sdy::TensorShardingAttr sharding) {
  return sharding && !sharding.getUnreducedAxes().empty();
}

} // namespace

void PartSettler::settle(OpOperand &operand, sdy::TensorShardingAttr target) {
  sdy::TensorShardingAttr present = sdy::getSharding(operand.get());
  if (!isa<RankedTensorType>(operand.get().getType()) ||
      (!hasParts(present) && !hasParts(target)))
    return;
  sdy::TensorShardingAttr known = hasParts(target) ? target : present;
  sdy::MeshAttr mesh = sdy::getMesh(operand.getOwner(), known);
  Parts wanted;
  if (hasParts(target)) {
    TensorSharding read = sdy::toSharding(target, mesh);
    wanted = {read.unreduced, read.kind};
  }
  settle(operand, known.getMeshOrRef(), mesh, wanted);
}

void PartSettler::settle(OpOperand &operand, Attribute meshOrRef,
                         sdy::MeshAttr mesh, const Parts &wanted) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  sdy::TensorShardingAttr sharding = sdy::getSharding(operand.get());
  if (sharding && sdy::getMesh(operand.getOwner(), sharding) != mesh) {
    // From one mesh to another a value goes whole.
    settle(operand, nullptr);
    if (wanted.axes.empty())
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(sdy::ReshardOp::create(
        builder, operand.get().getLoc(), operand.get(),
        sdy::fromSharding(TensorSharding::fullyClosed(type.getRank()),
                          meshOrRef, mesh)));
  }
  Value value = operand.get();
  TensorSharding present =
      sdy::toClosedSharding(sdy::getSharding(value), mesh, type.getRank());
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
  Value &known = settled[{value, sdy::fromSharding(after, meshOrRef, mesh)}];
  if (!known) {
    OpBuilder builder(operand.getOwner());
    Change change(builder, value, meshOrRef, mesh, present);
    change.reduce(reduced);
    change.makeParts(made, wanted.kind);
    known = change.get();
  }
  operand.set(known);
}

void PartSettler::makePartsBehind(OpResult result, sdy::MeshAttr mesh,
                                  const AxisList &axes) {
  sdy::TensorShardingAttr before = sdy::getSharding(result);
  TensorSharding present = sdy::toSharding(before, mesh);
  present.unreduced = present.unreduced.subtract(axes);
  if (present.unreduced.empty())
    present.kind = ReductionKind::Sum;
  sdy::setSharding(result,
                   sdy::fromSharding(present, before.getMeshOrRef(), mesh));
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  auto parts = sdy::ReplicatedToUnreducedOp::create(
      builder, result.getLoc(), result.getType(), result,
      sdy::AxisRefListAttr::get(result.getContext(),
                                sdy::fromAxisList(axes, mesh)),
      before);
  result.replaceAllUsesExcept(parts, parts);
}

void PartSettler::settleOperands(Operation *op) {
  auto first = llvm::find_if(op->getResults(), [](OpResult result) {
    return hasParts(sdy::getSharding(result));
  });
  if (first == op->getResults().end()) {
    for (OpOperand &operand : op->getOpOperands())
      settle(operand, nullptr);
    return;
  }
  sdy::TensorShardingAttr sharding = sdy::getSharding(*first);
  sdy::MeshAttr mesh = sdy::getMesh(op, sharding);
  TensorSharding read = sdy::toSharding(sharding, mesh);
  Parts made = {read.unreduced, read.kind};
  SmallVector<Parts> present(op->getNumOperands()), wanted(present);
  for (auto [parts, operand] : llvm::zip_equal(present, op->getOperands()))
    if (sdy::TensorShardingAttr attr = sdy::getSharding(operand);
        hasParts(attr) && sdy::getMesh(op, attr) == mesh) {
      TensorSharding own = sdy::toSharding(attr, mesh);
      parts = {own.unreduced, own.kind};
    }
  AxisList passed = passParts(op, made, present, wanted);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      settle(operand, sharding.getMeshOrRef(), mesh,
             wanted[operand.getOperandNumber()]);
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
      makePartsBehind(result, mesh, missing);
}

} // namespace shardonnay
