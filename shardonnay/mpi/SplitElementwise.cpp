//===- SplitElementwise.cpp - elementwise ops inside and at edges ---------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *tree* is elementwise ops that only each other use, up to its *root*; its
// operands are *moved*: they are pads, slices and windows of other tensors.
// Windows begin or end with positions of other devices, pads with a constant;
// what is in between is in the shard, and can be read where it is.
//
// 1. `findRoots`: the roots whose trees read moved tensors that nothing else
//    reads (else a tensor would be sent, or copied, twice).
// 2. `findSplits`: where a moved tensor changes from one source to another;
//    they split the root's positions into boxes.
// 3. `computeIn`: the tree in a box, on slices of the sources. Of a window only
//    what other devices have is fetched, where the window was.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/mpi/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SPLITELEMENTWISEPASS
#include "shardonnay/mpi/Passes.h.inc"

namespace {

using Sizes = SmallVector<int64_t>;

/// Three parts in each of three dims, and some.
constexpr int64_t kMostBoxes = 32;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Positions of a tensor.
struct Box {
  Sizes offsets, sizes;
};

/// The positions of a window that every device has in its own shard.
Interval ownPositions(spmd::FetchWindowOp op) {
  sdy::MeshAttr mesh;
  if (op.getMeshAttr())
    mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  WindowProblem problem = spmd::getWindowProblem(op, mesh);
  int64_t size = problem.localSize, shards = problem.axes.numShards();
  if (problem.windowAxes != problem.axes ||
      (shards > 1 && problem.step != size))
    return {};
  // What does not exist in the last shard is filled, or is the first shard's.
  if (op.getFill() || problem.periodic)
    size = std::min(size, problem.globalSize - (shards - 1) * size);
  return {std::max<int64_t>(0, -problem.start),
          std::min(problem.size, size - problem.start)};
}

/// It sends what it reads, which has to be there for that.
bool fetches(Operation *move) {
  auto window = dyn_cast<spmd::FetchWindowOp>(move);
  return window && !(ownPositions(window) ==
                     Interval{0, static_cast<int64_t>(window.getSize())});
}

bool isConstantPad(tensor::PadOp op) {
  Value fill = op.getConstantPaddingValue();
  auto isNegative = [](int64_t size) { return size < 0; };
  return fill && fill.getParentRegion() != &op.getRegion() &&
         op.getSourceType().hasStaticShape() &&
         op.getResultType().hasStaticShape() &&
         llvm::none_of(op.getStaticLow(), isNegative) &&
         llvm::none_of(op.getStaticHigh(), isNegative);
}

/// Neighbouring positions.
bool isPlainSlice(tensor::ExtractSliceOp op) {
  return op.getSourceType().hasStaticShape() && op.getType().hasStaticShape() &&
         op.getType().getRank() == op.getSourceType().getRank() &&
         llvm::none_of(op.getStaticOffsets(), ShapedType::isDynamic) &&
         llvm::all_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride == 1; });
}

bool isMove(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](tensor::PadOp pad) { return isConstantPad(pad); })
      .Case([](tensor::ExtractSliceOp slice) { return isPlainSlice(slice); })
      .Case([](spmd::FetchWindowOp op) { return !ownPositions(op).empty(); })
      .Default(false);
}

/// Each element from those at its position, which the op does not know.
bool isElementwise(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  if (!rule || !rule.isElementwise() || !isMemoryEffectFree(op) || !type ||
      !type.hasStaticShape() || type.getNumElements() == 0)
    return false;
  return !op->walk([](linalg::IndexOp) {
              return WalkResult::interrupt();
            }).wasInterrupted();
}

/// An operand that has the positions of the result, and not one element.
bool isWhole(Value operand, Operation *op) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  return type && type.getShape() == typeOf(op->getResult(0)).getShape();
}

class Splitter {
public:
  explicit Splitter(MLIRContext *context) : builder(context) {}

  void run(Block &block);

private:
  void findTrees(Block &block);
  /// The roots of trees that are to be split.
  void findRoots();
  /// Of an op of a tree; else the op.
  Operation *rootOf(Operation *op) const {
    auto found = rootOfOp.find(op);
    return found == rootOfOp.end() ? op : found->second;
  }
  /// Nothing but the trees reads it.
  bool isRead(Operation *move);
  /// The op that computes or moves the value, in place of which the tree reads
  /// what that reads; null if the tree reads the value.
  Operation *lookThrough(Value value, bool isRoot);
  /// Adds to `splits`, by dims of the root, those of `value`, of which position
  /// `offsets` is the root's first. Returns whether something is filled or
  /// fetched.
  bool findSplits(Value value, ArrayRef<int64_t> offsets,
                  SmallVectorImpl<std::set<int64_t>> &splits,
                  bool isRoot = false);
  /// The boxes; none if there are too many, or if there is no reason.
  SmallVector<Box> boxesOf(Operation *root);

  void split(Operation *root);
  Value computeIn(const Box &box, Value value, bool isRoot = false);
  Value computeIn(const Box &box, Operation *op);
  Value take(const Box &box, tensor::PadOp pad);
  Value take(const Box &box, spmd::FetchWindowOp window);
  Value slice(Value value, const Box &box);
  SmallVector<OpFoldResult> numbers(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }
  /// Before, or behind, what the window has of the own shard.
  Value fetch(spmd::FetchWindowOp window, int64_t start, int64_t limit);

  OpBuilder builder;
  llvm::SetVector<Operation *> roots;
  DenseMap<Operation *, Operation *> rootOfOp;
  /// The parts of a window that are fetched, by their first position.
  DenseMap<std::pair<Operation *, int64_t>, Value> fetched;
};

void Splitter::findTrees(Block &block) {
  roots.clear();
  rootOfOp.clear();
  fetched.clear();
  for (Operation &op : llvm::reverse(block)) {
    if (!isElementwise(&op))
      continue;
    Operation *user = op.hasOneUse() ? *op.user_begin() : nullptr;
    if (user && user->getBlock() == &block && rootOfOp.contains(user) &&
        isWhole(op.getResult(0), user)) {
      rootOfOp[&op] = rootOf(user);
    } else {
      rootOfOp[&op] = &op;
      roots.insert(&op);
    }
  }
}

bool Splitter::isRead(Operation *move) {
  return llvm::all_of(move->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != move->getBlock())
      return false;
    if (isMove(user))
      return use.getOperandNumber() == 0 && !fetches(user) && isRead(user);
    return rootOfOp.contains(user) && isWhole(use.get(), user) &&
           roots.contains(rootOf(user));
  });
}

Operation *Splitter::lookThrough(Value value, bool isRoot) {
  Operation *op = value.getDefiningOp();
  if (!op || isRoot)
    return op;
  // A slice is no copy, whoever else reads it.
  if (isMove(op))
    return isa<tensor::ExtractSliceOp>(op) || isRead(op) ? op : nullptr;
  return rootOf(op) != op ? op : nullptr;
}

bool Splitter::findSplits(Value value, ArrayRef<int64_t> offsets,
                          SmallVectorImpl<std::set<int64_t>> &splits,
                          bool isRoot) {
  Operation *op = lookThrough(value, isRoot);
  Sizes inner(offsets);
  if (!op)
    return false;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    bool pads = pad.getType() != pad.getSourceType();
    for (auto [dim, low] : llvm::enumerate(pad.getStaticLow())) {
      int64_t start = low - offsets[dim];
      inner[dim] -= low;
      splits[dim].insert({start, start + pad.getSourceType().getDimSize(dim)});
    }
    return findSplits(pad.getSource(), inner, splits) || pads;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets()))
      inner[dim] += offset;
    return findSplits(slice.getSource(), inner, splits);
  }
  if (auto window = dyn_cast<spmd::FetchWindowOp>(op)) {
    int64_t dim = window.getDim();
    auto [start, limit] = ownPositions(window);
    splits[dim].insert({start - offsets[dim], limit - offsets[dim]});
    inner[dim] += static_cast<int64_t>(window.getStart());
    findSplits(window.getTensor(), inner, splits);
    return true;
  }
  bool isMoved = false;
  for (Value operand : op->getOperands())
    if (isWhole(operand, op))
      isMoved |= findSplits(operand, offsets, splits);
  return isMoved;
}

SmallVector<Box> Splitter::boxesOf(Operation *root) {
  ArrayRef<int64_t> shape = typeOf(root->getResult(0)).getShape();
  SmallVector<std::set<int64_t>> splits(shape.size());
  if (!findSplits(root->getResult(0), Sizes(shape.size(), 0), splits,
                  /*isRoot=*/true))
    return {};
  SmallVector<Box> boxes(1);
  for (auto [size, places] : llvm::zip_equal(shape, splits)) {
    SmallVector<Box> longer;
    places.insert({0, size});
    for (const Box &box : boxes)
      for (auto at = places.find(0); *at < size; ++at) {
        longer.push_back(box);
        longer.back().offsets.push_back(*at);
        longer.back().sizes.push_back(*std::next(at) - *at);
      }
    boxes = std::move(longer);
    if (boxes.size() > kMostBoxes)
      return {};
  }
  return boxes;
}

void Splitter::findRoots() {
  // What is not split reads what it reads, so others don't look through that.
  while (true) {
    SmallVector<Operation *> left;
    for (Operation *root : roots)
      if (boxesOf(root).empty())
        left.push_back(root);
    if (left.empty())
      return;
    for (Operation *root : left)
      roots.remove(root);
  }
}

Value Splitter::slice(Value value, const Box &box) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == ArrayRef(box.sizes))
    return value;
  return tensor::ExtractSliceOp::create(
      builder, value.getLoc(), type.clone(box.sizes), value,
      numbers(box.offsets), numbers(box.sizes),
      numbers(Sizes(type.getRank(), 1)));
}

Value Splitter::take(const Box &box, tensor::PadOp pad) {
  Box inner = box;
  for (auto [dim, low] : llvm::enumerate(pad.getStaticLow())) {
    int64_t start = inner.offsets[dim] -= low;
    if (start >= 0 && start < pad.getSourceType().getDimSize(dim))
      continue;
    Value fill = pad.getConstantPaddingValue();
    return tensor::SplatOp::create(builder, pad.getLoc(), fill,
                                   pad.getType().clone(box.sizes));
  }
  return computeIn(inner, pad.getSource());
}

Value Splitter::fetch(spmd::FetchWindowOp window, int64_t start,
                      int64_t limit) {
  Value &part = fetched[{window, start}];
  if (part)
    return part;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(window);
  auto made = cast<spmd::FetchWindowOp>(builder.clone(*window));
  Sizes shape(window.getType().getShape());
  shape[window.getDim()] = limit - start;
  made.setStart(window.getStart() + start);
  made.setSize(limit - start);
  made.getResult().setType(window.getType().clone(shape));
  return part = made;
}

Value Splitter::take(const Box &box, spmd::FetchWindowOp window) {
  int64_t dim = window.getDim(), offset = box.offsets[dim];
  auto [start, limit] = ownPositions(window);
  Box inner = box;
  if (offset >= start && offset < limit) {
    inner.offsets[dim] += static_cast<int64_t>(window.getStart());
    return computeIn(inner, window.getTensor());
  }
  if (offset < start)
    return slice(fetch(window, 0, start), box);
  inner.offsets[dim] -= limit;
  return slice(fetch(window, limit, window.getSize()), inner);
}

Value Splitter::computeIn(const Box &box, Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isWhole(operand, op))
      mapping.map(operand, computeIn(box, operand));
  Operation *made = builder.clone(*op, mapping);
  Value result = made->getResult(0);
  result.setType(typeOf(result).clone(box.sizes));
  return result;
}

Value Splitter::computeIn(const Box &box, Value value, bool isRoot) {
  Operation *op = lookThrough(value, isRoot);
  if (!op)
    return slice(value, box);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tensor::PadOp, spmd::FetchWindowOp>(
          [&](auto moved) { return take(box, moved); })
      .Case([&](tensor::ExtractSliceOp slice) {
        Box inner = box;
        for (auto [at, offset] :
             llvm::zip_equal(inner.offsets, slice.getStaticOffsets()))
          at += offset;
        return computeIn(inner, slice.getSource());
      })
      .Default([&](Operation *op) { return computeIn(box, op); });
}

void Splitter::split(Operation *root) {
  SmallVector<Box> boxes = boxesOf(root);
  builder.setInsertionPoint(root);
  RankedTensorType type = typeOf(root->getResult(0));
  Value whole = tensor::EmptyOp::create(builder, root->getLoc(),
                                        type.getShape(), type.getElementType());
  for (const Box &box : boxes) {
    Value part = computeIn(box, root->getResult(0), /*isRoot=*/true);
    whole = boxes.size() == 1 ? part
                              : tensor::InsertSliceOp::create(
                                    builder, root->getLoc(), part, whole,
                                    numbers(box.offsets), numbers(box.sizes),
                                    numbers(Sizes(type.getRank(), 1)))
                                    .getResult();
  }
  root->getResult(0).replaceAllUsesWith(whole);
}

void Splitter::run(Block &block) {
  findTrees(block);
  findRoots();
  for (Operation *root : roots)
    split(root);
  if (roots.empty())
    return;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

struct SplitElementwisePass
    : impl::SplitElementwisePassBase<SplitElementwisePass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<spmd::FetchWindowOp, tensor::PadOp>())
      return markAllAnalysesPreserved();
    Splitter splitter(&getContext());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      splitter.run(*block);
  }
};

} // namespace
} // namespace shardonnay
