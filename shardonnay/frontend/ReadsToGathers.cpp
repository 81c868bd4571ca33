//===- ReadsToGathers.cpp - generics that read tensors by index -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each linalg.generic, and each tensor.generate as one:
//
//  1. a tensor.extract of a tensor from outside, in the order of the body: a
//     dim of it that is as long as a loop and read at that loop's index
//     (CountedIndex.h) passes; in the others the position is computed;
//  2. what computes a position becomes a generic of its own over the loops that
//     it depends on, whose results are the positions;
//  3. a tensor.gather reads there, and what it reads is one more input. Where
//     all dims pass the tensor itself is. A dim that would pass, but whose loop
//     positions depend on too, is one of its batch (sdy.batching_dims).
//
// A read that some condition guards (in a region of the body) stays, and so do
// positions that depend on what the generic writes to.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/frontend/CountedIndex.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/BatchingDims.h"
#include "shardonnay/interfaces/OpKinds.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_READSTOGATHERSPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

/// One read of `generic`.
class Read {
public:
  Read(linalg::GenericOp generic, tensor::ExtractOp extract)
      : generic(generic), extract(extract), builder(generic),
        sizes(generic.getStaticLoopRanges()) {}

  /// True if it became an input.
  bool makeInput();

private:
  void findPassingDims();
  bool findPositionOps();
  void addLoopsOf(Value element);
  AffineMap onLoops(AffineMap map);
  SmallVector<Value> makePositions();
  Value gather();
  void addInput(Value input, AffineMap map);

  linalg::GenericOp generic;
  tensor::ExtractOp extract;
  OpBuilder builder;
  SmallVector<int64_t> sizes;
  /// For each dim that is read the loop that passes it; -1 if none does.
  SmallVector<int64_t> passing;
  /// Pairs of a dim and the loop at whose index it is read, where positions
  /// depend on that loop too.
  SmallVector<std::pair<int64_t, unsigned>> batching;
  /// What the other dims' positions are computed by, and depend on.
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> elements;
  llvm::SmallBitVector used;
  SmallVector<unsigned> loops;
};

} // namespace

void Read::findPassingDims() {
  ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    int64_t loop = findCountedLoop(generic, index).value_or(-1);
    bool passes = loop >= 0 && sizes[loop] == shape[dim] &&
                  !llvm::is_contained(passing, loop);
    passing.push_back(passes ? loop : -1);
  }
}

/// The loops that index the operand whose element this is.
void Read::addLoopsOf(Value element) {
  OpOperand *operand =
      generic.getMatchingOpOperand(cast<BlockArgument>(element));
  AffineMap map = generic.getMatchingIndexingMap(operand);
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    if (map.isFunctionOfDim(loop))
      used.set(loop);
}

/// What computes the positions, and the loops that they depend on.
bool Read::findPositionOps() {
  Block *body = generic.getBody();
  used.resize(sizes.size());
  SmallVector<Value> waiting;
  for (auto [index, loop] : llvm::zip_equal(extract.getIndices(), passing))
    if (loop < 0)
      waiting.push_back(index);
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (value.getParentBlock() != body)
      continue; // a number from outside
    Operation *op = value.getDefiningOp();
    if (!op) {
      if (generic.getMatchingOpOperand(cast<BlockArgument>(value))
              ->getOperandNumber() >= generic.getNumDpsInputs())
        return false;
      elements.insert(value);
      addLoopsOf(value);
      continue;
    }
    if (op->getNumRegions() != 0 || !isPure(op))
      return false;
    if (auto own = dyn_cast<linalg::IndexOp>(op))
      used.set(own.getDim());
    if (ops.insert(op))
      llvm::append_range(waiting, op->getOperands());
  }
  return true;
}

/// The map of an operand, all of whose loops are among `loops`.
AffineMap Read::onLoops(AffineMap map) {
  SmallVector<AffineExpr> dims(sizes.size(), builder.getAffineConstantExpr(0));
  for (auto [number, loop] : llvm::enumerate(loops))
    dims[loop] = builder.getAffineDimExpr(number);
  return map.replaceDimsAndSymbols(dims, {}, loops.size(), 0);
}

/// A tensor of positions over `loops` for each dim that does not pass.
SmallVector<Value> Read::makePositions() {
  Location loc = extract.getLoc();
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(sizes[loop]);
  SmallVector<Value> inputs, computed;
  SmallVector<AffineMap> maps;
  for (Value element : elements) {
    OpOperand *operand =
        generic.getMatchingOpOperand(cast<BlockArgument>(element));
    inputs.push_back(operand->get());
    maps.push_back(onLoops(generic.getMatchingIndexingMap(operand)));
  }
  for (auto [index, loop] : llvm::zip_equal(extract.getIndices(), passing))
    if (loop < 0)
      computed.push_back(index);
  auto type = RankedTensorType::get(shape, builder.getIndexType());
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, builder.getIndexType());
  maps.append(computed.size(), builder.getMultiDimIdentityMap(loops.size()));
  SmallVector<utils::IteratorType> kinds(loops.size(),
                                         utils::IteratorType::parallel);
  SmallVector<Operation *> ordered(ops.getArrayRef());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  auto body = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
    IRMapping mapping;
    for (auto [element, argument] : llvm::zip(elements, arguments))
      mapping.map(element, argument);
    for (Operation *op : ordered) {
      Operation *copy = inside.clone(*op, mapping);
      if (auto own = dyn_cast<linalg::IndexOp>(copy))
        own.setDim(llvm::find(loops, own.getDim()) - loops.begin());
    }
    SmallVector<Value> yielded;
    for (Value index : computed)
      yielded.push_back(mapping.lookupOrDefault(index));
    linalg::YieldOp::create(inside, loc, yielded);
  };
  auto positions = linalg::GenericOp::create(
      builder, loc, SmallVector<Type>(computed.size(), type), inputs,
      SmallVector<Value>(computed.size(), empty), maps, kinds, body);
  return llvm::to_vector_of<Value>(positions.getResults());
}

/// What is read, over `loops` and then the dims that pass.
Value Read::gather() {
  Location loc = extract.getLoc();
  SmallVector<ReassociationIndices> groups;
  for (int64_t number = 0, e = loops.size(); number < e; ++number)
    groups.push_back({number});
  if (!groups.empty())
    groups.back().push_back(loops.size());
  SmallVector<Value> columns;
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(sizes[loop]);
  shape.push_back(1);
  auto column = RankedTensorType::get(shape, builder.getIndexType());
  for (Value positions : makePositions())
    columns.push_back(
        tensor::ExpandShapeOp::create(builder, loc, column, positions, groups));
  Value indices = columns.front();
  if (columns.size() > 1)
    indices = tensor::ConcatOp::create(builder, loc, loops.size(), columns);
  SmallVector<int64_t> gathered;
  shape.pop_back();
  RankedTensorType source = extract.getTensor().getType();
  for (auto [dim, loop] : llvm::enumerate(passing))
    if (loop < 0)
      gathered.push_back(dim);
    else
      shape.push_back(source.getDimSize(dim));
  auto op = tensor::GatherOp::create(builder, loc, source.clone(shape),
                                     extract.getTensor(), indices, gathered);
  SmallVector<int64_t> pairs;
  for (auto [dim, loop] : batching)
    pairs.append({dim, llvm::find(loops, loop) - loops.begin()});
  if (!pairs.empty())
    op->setAttr(kBatchingDimsAttr, builder.getDenseI64ArrayAttr(pairs));
  return op;
}

void Read::addInput(Value input, AffineMap map) {
  int64_t numInputs = generic.getNumDpsInputs();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps.insert(maps.begin() + numInputs, map);
  BlockArgument element = generic.getBody()->insertArgument(
      numInputs, extract.getType(), extract.getLoc());
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  generic.getInputsMutable().append(input);
  extract.replaceAllUsesWith(Value(element));
  extract.erase();
}

bool Read::makeInput() {
  findPassingDims();
  if (!findPositionOps())
    return false;
  // A loop is in the result once.
  for (auto [dim, loop] : llvm::enumerate(passing))
    if (loop >= 0 && used[loop]) {
      batching.emplace_back(dim, loop);
      loop = -1;
    }
  ops.clear();
  elements.clear();
  if (!findPositionOps())
    return false;
  for (unsigned loop : used.set_bits())
    loops.push_back(loop);
  bool isGathered = llvm::is_contained(passing, -1);
  Value input = isGathered ? gather() : extract.getTensor();
  SmallVector<AffineExpr> dims;
  for (unsigned loop : loops)
    dims.push_back(builder.getAffineDimExpr(loop));
  for (int64_t loop : passing)
    if (loop >= 0)
      dims.push_back(builder.getAffineDimExpr(loop));
  addInput(input, AffineMap::get(sizes.size(), 0, dims, builder.getContext()));
  return true;
}

static bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

static void takeReads(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return;
  for (auto extract :
       llvm::to_vector(op.getBody()->getOps<tensor::ExtractOp>()))
    if (isStatic(extract.getTensor()) &&
        extract.getTensor().getParentBlock() != op.getBody())
      Read(op, extract).makeInput();
}

/// The same as a generic without inputs, if it reads a tensor.
static void makeGeneric(tensor::GenerateOp op) {
  bool reads = !op.getBody().getOps<tensor::ExtractOp>().empty();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!reads || !type || !type.hasStaticShape())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, ValueRange(), empty, maps, kinds,
      [&](OpBuilder &inside, Location loc, ValueRange) {
        IRMapping mapping;
        Block &body = op.getBody().front();
        for (BlockArgument position : body.getArguments())
          mapping.map(position, linalg::IndexOp::create(
                                    inside, loc, position.getArgNumber()));
        for (Operation &each : body.without_terminator())
          inside.clone(each, mapping);
        linalg::YieldOp::create(
            inside, loc,
            mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
      });
  if (Attribute sharding = op->getAttr(sdy::kShardingAttr))
    generic->setAttr(sdy::kShardingAttr, sharding);
  op->replaceAllUsesWith(generic);
  op->erase();
}

namespace {
struct ReadsToGathersPass : impl::ReadsToGathersPassBase<ReadsToGathersPass> {
  void runOnOperation() override {
    auto &kinds = getAnalysis<OpKinds>();
    bool asserts = kinds.mayHave<cf::AssertOp>();
    bool reads = kinds.mayHave<tensor::ExtractOp>() &&
                 (kinds.mayHave<linalg::GenericOp>() ||
                  kinds.mayHave<tensor::GenerateOp>());
    if (!asserts && !reads)
      return markAllAnalysesPreserved();
    getOperation().walk([](cf::AssertOp op) {
      if (isa<linalg::LinalgOp, tensor::GenerateOp>(op->getParentOp()))
        op.erase();
    });
    getOperation().walk(makeGeneric);
    getOperation().walk(takeReads);
  }
};
} // namespace

} // namespace shardonnay
