//===- SliceGuard.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. find: the ops that slice a tensor, and the calls.
// 2. follow: what each takes its shard from, backwards through all that XLA may
//    move aside, to other slices.
// 3. A barrier behind each of those.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/SliceGuard.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/support/Prefetch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Becomes a slice at an index of the device, which is in range.
bool takesShard(Operation *op) {
  return isa<spmd::AllSliceOp, spmd::FetchWindowOp>(op);
}

/// The vectors along `vectorDim` of `indices` are one.
bool isOnePlace(Value indices, int64_t vectorDim) {
  int64_t places = 1;
  auto shape = cast<RankedTensorType>(indices.getType()).getShape();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(dim) != vectorDim)
      places *= size;
  return places == 1;
}

/// `op` is, or takes from its operand, a slice at a place that is data.
bool takesSlice(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](stablehlo::DynamicSliceOp) { return true; })
      .Case([](stablehlo::GatherOp gather) {
        return isOnePlace(gather.getStartIndices(),
                          gather.getDimensionNumbers().getIndexVectorDim());
      })
      .Case([](stablehlo::ScatterOp scatter) {
        return isOnePlace(
            scatter.getScatterIndices(),
            scatter.getScatterDimensionNumbers().getIndexVectorDim());
      })
      .Default(false);
}

/// Its starts are constants that need no clamp.
bool isInRange(Operation *op) {
  auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op);
  if (!slice)
    return false;
  auto isFine = [](Value start, int64_t most) {
    auto constant = start.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      return false;
    APInt value =
        cast<DenseElementsAttr>(constant.getValue()).getSplatValue<APInt>();
    return value.sge(0) && value.sle(most);
  };
  return llvm::all_of(llvm::zip_equal(slice.getStartIndices(),
                                      slice.getOperand().getType().getShape(),
                                      slice.getSliceSizes()),
                      [&](auto dim) {
                        auto [start, size, taken] = dim;
                        return isFine(start, size - taken);
                      });
}

/// XLA may move it aside: it moves elements, or changes each alone, maybe not
/// at all.
bool mayMoveAside(Operation *op) {
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::SliceOp, stablehlo::PadOp,
          stablehlo::ConcatenateOp, stablehlo::ReverseOp>(op))
    return true;
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule && (rule.getPropagationClass() == PropagationClass::PassThrough ||
                  rule.isElementwise());
}

class SliceGuard {
public:
  explicit SliceGuard(ModuleOp module) : symbols(module) {
    for (auto func : module.getOps<func::FuncOp>())
      find(func);
  }

  void run() {
    follow(slices, /*arePieces=*/false);
    seen.clear();
    follow(shards, /*arePieces=*/true);
    for (Operation *op : met)
      setApart(op->getResult(0));
  }

private:
  void find(func::FuncOp func);
  /// Finds the slices that any of `ops` takes something out of.
  void follow(ArrayRef<Operation *> ops, bool areShards);
  /// Adds what `value` is made of, if XLA may see it behind `value`.
  void addSources(Value value, SmallVectorImpl<Value> &worklist);
  static void setApart(Value value);

  SymbolTable symbols;
  SmallVector<Operation *> slices, shards;
  llvm::DenseMap<Attribute, SmallVector<func::CallOp>> calls;
  llvm::DenseSet<Value> seen;
  /// The slices that others meet.
  llvm::SetVector<Operation *> met;
};

void SliceGuard::find(func::FuncOp func) {
  walkOps(func, [&](Operation *op) {
    if (takesShard(op))
      shards.push_back(op);
    else if (takesSlice(op) && !isInRange(op))
      slices.push_back(op);
    else if (auto call = dyn_cast<func::CallOp>(op))
      calls[call.getCalleeAttr().getAttr()].push_back(call);
  });
}

void SliceGuard::addSources(Value value, SmallVectorImpl<Value> &worklist) {
  Operation *op = value.getDefiningOp();
  if (op && mayMoveAside(op)) {
    llvm::append_range(worklist, op->getOperands());
    return;
  }
  if (auto call = dyn_cast_if_present<func::CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && !callee.isExternal())
      worklist.push_back(callee.getBody().back().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber()));
    return;
  }
  Operation *parent = op ? op : value.getParentBlock()->getParentOp();
  if (auto func = dyn_cast<func::FuncOp>(parent)) {
    for (func::CallOp call : calls[func.getSymNameAttr()])
      worklist.push_back(
          call.getOperand(cast<BlockArgument>(value).getArgNumber()));
    return;
  }
  // A barrier is a stop.
  auto flow = dyn_cast<ShardableDataFlowOpInterface>(parent);
  if (flow && flow->getNumRegions() != 0)
    if (Value owner = getEdgeOwner(value))
      for (OpOperand *source : flow.getEdgeSources(owner))
        worklist.push_back(source->get());
}

void SliceGuard::follow(ArrayRef<Operation *> ops, bool areShards) {
  SmallVector<Value> worklist;
  for (Operation *op : ops) {
    // A scatter may have several inputs.
    auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
    size_t numInputs = scatter ? scatter.getInputs().size() : 1;
    llvm::append_range(worklist, op->getOperands().take_front(numInputs));
  }
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    bool isShard = op && takesShard(op);
    if (!isShard && !(op && takesSlice(op) && !isa<stablehlo::ScatterOp>(op)))
      addSources(value, worklist);
    else if (!areShards || !(isShard || isInRange(op)))
      met.insert(op);
  }
}

void SliceGuard::setApart(Value value) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, value.getLoc(), TypeRange(value.getType()), value);
  value.replaceAllUsesExcept(barrier->getResult(0), barrier);
}

} // namespace

void guardSlices(ModuleOp module) { SliceGuard(module).run(); }

} // namespace shardonnay
