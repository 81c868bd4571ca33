//===- Canonicalize.cpp - programs of the same meaning, with less in them -===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two groups can be asked for by label, `enable-patterns=sdy-reshard` and
// `=sdy-collective` of `-canonicalize`: reshards may only be merged while
// nothing between them says what they cost, collectives only once they are
// decided. Those of manual computations have no label: they speak of programs,
// and run at import.
//
// Where an operation gives way to its operand, later operations see the
// operand's sharding instead of the operation's. It must allow what they do:
// axes that it holds replicated were so before.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "shardonnay/algebra/Projection.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::TensorSharding;

namespace {

template <typename OpT>
struct CollectivePattern : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  void initialize() { this->addDebugLabels(kCollectivePatterns); }
};

/// `value`, which is sharded, may stand for a result of sharding `out`: every
/// device holds the same, and no axis is replicated that was not.
bool canReplace(Operation *op, Value value, TensorShardingAttr out) {
  TensorShardingAttr in = getSharding(value);
  MeshAttr mesh = getMesh(op, out);
  if (!in || getMesh(op, in) != mesh)
    return false;
  TensorSharding from = toSharding(in, mesh), to = toSharding(out, mesh);
  for (auto [a, b] : llvm::zip_equal(from.dims, to.dims))
    if (a.axes != b.axes)
      return false;
  return from.unreduced == to.unreduced && from.kind == to.kind &&
         llvm::all_of(from.replicated, [&](shardonnay::AxisRef axis) {
           return to.replicated.covers(axis);
         });
}

bool isEmpty(ListOfAxisRefListsAttr lists) {
  return llvm::all_of(lists.getValue(), [](AxisRefListAttr list) {
    return list.getValue().empty();
  });
}

/// Along these axes nothing happens.
bool isIdle(AllGatherOp op) { return isEmpty(op.getGatheringAxes()); }
bool isIdle(AllSliceOp op) { return isEmpty(op.getSlicingAxes()); }
bool isIdle(ReduceScatterOp op) { return isEmpty(op.getReduceScatterAxes()); }
bool isIdle(ShardedToUnreducedOp op) { return isEmpty(op.getAxes()); }
bool isIdle(AllReduceOp op) { return op.getReductionAxes().getValue().empty(); }
// Of one place in the mesh to the same: canReplace looks at all of it.
bool isIdle(CollectivePermuteOp) { return true; }

/// all_gather [{}] %x  ->  %x
template <typename OpT> struct DropIdle : public CollectivePattern<OpT> {
  using CollectivePattern<OpT>::CollectivePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isIdle(op) || !canReplace(op, op.getTensor(), op.getOutSharding()))
      return failure();
    rewriter.replaceOp(op, op.getTensor());
    return success();
  }
};

SmallVector<AxisList> toLists(ListOfAxisRefListsAttr lists, MeshAttr mesh) {
  return llvm::map_to_vector(lists.getValue(), [&](AxisRefListAttr list) {
    return toAxisList(list.getValue(), mesh);
  });
}

/// `op` undoes what `inner` did.
bool undoes(AllSliceOp op, AllGatherOp inner, MeshAttr mesh) {
  return toLists(inner.getGatheringAxes(), mesh) ==
         toLists(op.getSlicingAxes(), mesh);
}
bool undoes(AllReduceOp op, ReplicatedToUnreducedOp inner, MeshAttr mesh) {
  return toAxisList(inner.getAxes().getValue(), mesh)
      .sameSet(toAxisList(op.getReductionAxes().getValue(), mesh));
}

/// all_slice [L] (all_gather [L] %x)  ->  %x
/// all_reduce {A} (replicated_to_unreduced {A} %x)  ->  %x
template <typename OpT, typename InnerT>
struct Cancel : public CollectivePattern<OpT> {
  using CollectivePattern<OpT>::CollectivePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getTensor().template getDefiningOp<InnerT>();
    if (!inner || !undoes(op, inner, getMesh(op, op.getOutSharding())) ||
        !canReplace(op, inner.getTensor(), op.getOutSharding()))
      return failure();
    rewriter.replaceOp(op, inner.getTensor());
    return success();
  }
};
using SliceOfGather = Cancel<AllSliceOp, AllGatherOp>;
using ReduceOfReplicated = Cancel<AllReduceOp, ReplicatedToUnreducedOp>;

/// all_slice [L, M] (all_reduce {the axes of L} %x)  ->
/// all_slice [M] (reduce_scatter [L] %x), or without the slice if there is no M
struct SliceOfReduce : public CollectivePattern<AllSliceOp> {
  using CollectivePattern::CollectivePattern;
  LogicalResult matchAndRewrite(AllSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto reduce = op.getTensor().getDefiningOp<AllReduceOp>();
    if (!reduce || !reduce->hasOneUse())
      return failure();
    auto named = NamedMesh::of(op, op.getOutSharding());
    AxisList reduced =
        toAxisList(reduce.getReductionAxes().getValue(), named.mesh);
    AxisList scattered, beyond;
    TensorSharding between = named.read(reduce.getOutSharding());
    SmallVector<AxisRefListAttr> scatters, slices;
    for (auto [dim, list] : llvm::zip_equal(
             between.dims, toLists(op.getSlicingAxes(), named.mesh))) {
      AxisList first;
      for (shardonnay::AxisRef axis : list) {
        if (!reduced.covers(axis))
          break;
        first.append(axis);
      }
      AxisList rest = list.dropPrefix(first);
      dim.axes.append(first);
      scattered.append(first);
      beyond.append(rest);
      scatters.push_back(named.write(first));
      slices.push_back(named.write(rest));
    }
    if (beyond.excludes(reduced) || !scattered.sameSet(reduced))
      return failure();
    if (beyond.empty()) {
      rewriter.replaceOpWithNewOp<ReduceScatterOp>(
          op, op.getType(), reduce.getTensor(), op.getSlicingAxes(),
          op.getOutSharding(), reduce.getKindAttr());
      return success();
    }
    auto scatter = ReduceScatterOp::create(
        rewriter, op.getLoc(), op.getType(), reduce.getTensor(),
        ListOfAxisRefListsAttr::get(op.getContext(), scatters),
        named.write(between), reduce.getKindAttr());
    rewriter.replaceOpWithNewOp<AllSliceOp>(
        op, op.getType(), scatter,
        ListOfAxisRefListsAttr::get(op.getContext(), slices),
        op.getOutSharding());
    return success();
  }
};

/// all_to_all [M] (all_to_all [N] %x)  ->  all_to_all [M, N] %x, if no dim is
/// in both.
struct MergeMoves : public CollectivePattern<AllToAllOp> {
  using CollectivePattern::CollectivePattern;
  LogicalResult matchAndRewrite(AllToAllOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getTensor().getDefiningOp<AllToAllOp>();
    if (!first || !first->hasOneUse())
      return failure();
    SmallVector<AllToAllParamAttr> moves(first.getParams().getValue());
    llvm::append_range(moves, op.getParams().getValue());
    llvm::SmallBitVector used(op.getType().getRank());
    for (AllToAllParamAttr move : moves)
      for (int64_t dim : {move.getSrcDim(), move.getTgtDim()}) {
        if (used.test(dim))
          return failure();
        used.set(dim);
      }
    llvm::sort(moves, [](AllToAllParamAttr a, AllToAllParamAttr b) {
      return a.getSrcDim() < b.getSrcDim();
    });
    rewriter.replaceOpWithNewOp<AllToAllOp>(
        op, op.getType(), first.getTensor(),
        AllToAllParamListAttr::get(op.getContext(), moves),
        op.getOutSharding());
    return success();
  }
};

/// reshard B (reshard A %x)  ->  reshard B %x
struct MergeReshards : public OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;
  void initialize() { addDebugLabels(kReshardPatterns); }
  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInput().getDefiningOp<ReshardOp>();
    if (!first || !first->hasOneUse() ||
        changesKind(getSharding(first.getInput()), op.getSharding()))
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(first.getInput()); });
    return success();
  }
};

/// The first reshard of `value` to `sharding` in the block of `op`, before it.
ReshardOp findEarlier(Value value, TensorShardingAttr sharding, Operation *op) {
  ReshardOp found;
  for (Operation *user : value.getUsers()) {
    auto other = dyn_cast<ReshardOp>(user);
    if (other && other->getBlock() == op->getBlock() &&
        other.getSharding() == sharding && other->isBeforeInBlock(op) &&
        (!found || other->isBeforeInBlock(found)))
      found = other;
  }
  return found;
}

/// A second reshard of one value to the same sharding  ->  the first
struct ShareReshards : public OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;
  void initialize() { addDebugLabels(kReshardPatterns); }
  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    ReshardOp first = findEarlier(op.getInput(), op.getSharding(), op);
    if (!first)
      return failure();
    rewriter.replaceOp(op, first);
    return success();
  }
};

/// The sharding of what `op`, of one operand, makes of a value of `sharding`;
/// null if not all of that goes through.
TensorShardingAttr moveThrough(Operation *op, TensorShardingAttr sharding) {
  auto ruleOp = dyn_cast<shardonnay::ShardingRuleOpInterface>(op);
  std::optional<shardonnay::FactorRule> rule =
      ruleOp ? ruleOp.getFactorRule() : std::nullopt;
  auto mesh = NamedMesh::of(op, sharding);
  auto isPassThrough = [](const shardonnay::Factor &factor) {
    return factor.kind == shardonnay::FactorKind::PassThrough;
  };
  if (!rule || mesh.mesh.getAxes().empty() ||
      !sharding.getUnreducedAxes().empty() ||
      !llvm::all_of(rule->factors, isPassThrough))
    return nullptr;
  TensorSharding from = mesh.read(sharding);
  shardonnay::TensorProjection row =
      project(from, rule->operands[0], rule->factors);
  TensorSharding to = TensorSharding::fullyClosed(rule->results[0].dims.size());
  to = unproject(row, rule->results[0], rule->factors, to);
  shardonnay::TensorProjection back =
      project(to, rule->results[0], rule->factors);
  for (auto [before, after] : llvm::zip_equal(row.factors, back.factors))
    if (!before.overflow.empty() || before.axes != after.axes)
      return nullptr;
  return mesh.write(to);
}

/// reshard B' (transpose %x), where there is a reshard B %x  ->
/// transpose (reshard B %x), of whatever moves the elements of one tensor.
struct ShareMovedReshards : public OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;
  void initialize() { addDebugLabels(kReshardPatterns); }
  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    Operation *moving = op.getInput().getDefiningOp();
    if (!moving || moving->getNumOperands() != 1 || !moving->hasOneUse() ||
        moving->getNumResults() != 1 || moving->getNumRegions() != 0)
      return failure();
    Value source = moving->getOperand(0);
    for (Operation *user : source.getUsers()) {
      auto other = dyn_cast<ReshardOp>(user);
      if (!other || findEarlier(source, other.getSharding(), moving) != other ||
          moveThrough(moving, other.getSharding()) != op.getSharding())
        continue;
      rewriter.modifyOpInPlace(moving, [&] {
        moving->setOperand(0, other);
        setSharding(moving->getResult(0), op.getSharding());
      });
      rewriter.replaceOp(op, moving->getResult(0));
      return success();
    }
    return failure();
  }
};

/// A manual computation loses the inputs that its body does not use.
struct DropUnusedInputs : public OpRewritePattern<ManualComputationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ManualComputationOp op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    llvm::BitVector unused(body.getNumArguments());
    SmallVector<TensorShardingAttr> shardings;
    for (auto [argument, sharding] : llvm::zip_equal(
             body.getArguments(), op.getInShardings().getShardings()))
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
      else
        shardings.push_back(sharding);
    if (unused.none())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArguments(unused);
      op->eraseOperands(unused);
      op.setInShardingsAttr(
          TensorShardingPerValueAttr::get(op.getContext(), shardings));
    });
    return success();
  }
};

/// A manual computation along axes of one device in all is its body. What its
/// shardings say of free axes becomes constraints.
struct InlineOneDevice : public OpRewritePattern<ManualComputationOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isOneDevice(ManualComputationOp op) {
    ArrayRef<StringAttr> axes = op.getManualAxes().getValue();
    SmallVector<TensorShardingAttr> all(op.getInShardings().getShardings());
    llvm::append_range(all, op.getOutShardings().getShardings());
    for (TensorShardingAttr sharding : all)
      if (MeshAttr mesh = getMesh(op, sharding); !mesh.getAxes().empty())
        return llvm::all_of(axes, [&](StringAttr axis) {
          return mesh.getAxes()[mesh.getAxisIndex(axis)].getSize() == 1;
        });
    return axes.empty();
  }

  static Value constrain(Value value, TensorShardingAttr sharding,
                         PatternRewriter &rewriter) {
    auto isOpen = [](DimensionShardingAttr dim) {
      return dim.getAxes().empty() && !dim.getIsClosed();
    };
    bool saysNothing = llvm::all_of(sharding.getDimShardings(), isOpen) &&
                       sharding.getReplicatedAxes().empty() &&
                       sharding.getUnreducedAxes().empty();
    // A closed sharding that the value has already stays as it is.
    bool isKnown =
        getSharding(value) == sharding &&
        llvm::all_of(sharding.getDimShardings(), [](DimensionShardingAttr dim) {
          return dim.getIsClosed();
        });
    if (!isa<RankedTensorType>(value.getType()) || saysNothing || isKnown)
      return value;
    return ShardingConstraintOp::create(rewriter, value.getLoc(), value,
                                        sharding);
  }

  LogicalResult matchAndRewrite(ManualComputationOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOneDevice(op))
      return failure();
    SmallVector<Value> inputs, outputs;
    for (auto [value, sharding] :
         llvm::zip_equal(op.getTensors(), op.getInShardings().getShardings()))
      inputs.push_back(constrain(value, sharding, rewriter));
    Operation *end = op.getBody().front().getTerminator();
    rewriter.inlineBlockBefore(&op.getBody().front(), op, inputs);
    for (auto [value, sharding] : llvm::zip_equal(
             end->getOperands(), op.getOutShardings().getShardings()))
      outputs.push_back(constrain(value, sharding, rewriter));
    rewriter.eraseOp(end);
    rewriter.replaceOp(op, outputs);
    return success();
  }
};

} // namespace

void ReshardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeReshards, ShareReshards, ShareMovedReshards>(context);
}

void ManualComputationOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedInputs, InlineOneDevice>(context);
}

void AllGatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropIdle<AllGatherOp>>(context);
}

void AllSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<DropIdle<AllSliceOp>, SliceOfGather, SliceOfReduce>(context);
}

void AllToAllOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<MergeMoves>(context);
}

void CollectivePermuteOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropIdle<CollectivePermuteOp>>(context);
}

void AllReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropIdle<AllReduceOp>, ReduceOfReplicated>(context);
}

void ReduceScatterOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<DropIdle<ReduceScatterOp>>(context);
}

void ShardedToUnreducedOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropIdle<ShardedToUnreducedOp>>(context);
}
