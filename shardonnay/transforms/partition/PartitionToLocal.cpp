//===- PartitionToLocal.cpp - the program of one device -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each function, beside its old block (whose global types stay readable to
// the end):
//
// 1. placeSignature: the placements of arguments and results.
// 2. localizeBlock: op by op into a new block:
//      an sdy collective      -> spmd ops
//      sdy.constant           -> a smaller constant, or a piece of the whole
//      a data-flow op         -> a clone on local types
//      an op with a rule      -> what its LocalComputeOpInterface builds
//      return                 -> itself, its operands placed as the results
//      any other op           -> a clone, if nothing cuts its tensors
// 3. replaceBody: the new block, types and attributes take the old ones' place.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/partition/FactorAxes.h"
#include "shardonnay/transforms/partition/LocalCollectives.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "shardonnay/transforms/partition/Placement.h"

namespace shardonnay {

#define GEN_PASS_DEF_PARTITIONTOLOCALPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

using namespace mlir;

namespace {

class OpContext : public LocalContext {
public:
  OpContext(Operation *op, const FactorRule &rule,
            ArrayRef<AxisList> factorAxes, ArrayRef<Type> resultTypes,
            const Placer &placer)
      : op(op), opRule(rule), axes(factorAxes), types(resultTypes),
        placer(placer) {}

  const FactorRule &rule() const override { return opRule; }
  const AxisList &factorAxes(int32_t factor) const override {
    return axes[factor];
  }
  ArrayRef<Type> resultTypes() const override { return types; }
  Value deviceIndex(OpBuilder &builder, Location loc,
                    const AxisList &list) override {
    return spmd::DeviceIndexOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI32Type()),
        placer.meshName(),
        sdy::AxisRefListAttr::get(builder.getContext(),
                                  fromAxisList(list, placer.mesh())));
  }
  TypeRange globalOperandTypes() const override {
    return op->getOperandTypes();
  }
  TypeRange globalResultTypes() const override { return op->getResultTypes(); }
  Value fetchWindow(OpBuilder &builder, Location loc, Value tensor, int64_t dim,
                    int64_t globalSize, const AxisList &list, int64_t start,
                    int64_t step, int64_t size, Value fill) override {
    return buildWindow(builder, loc, tensor, fill, placer,
                       {dim, globalSize, start, step, size, list, list});
  }

private:
  Operation *op;
  const FactorRule &opRule;
  ArrayRef<AxisList> axes;
  ArrayRef<Type> types;
  const Placer &placer;
};

using Placements = SmallVector<Placement, 0>;

class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp func, Placer &placer)
      : func(func), placer(placer), builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult placeSignature();
  LogicalResult localizeBlock();
  void replaceBody();

  /// Each returns the local values of the op's results, or fails with an error
  /// at the op.
  using Locals = FailureOr<SmallVector<Value>>;
  Locals localize(Operation *op);
  Locals localizeCollective(Operation *op);
  Locals localizeConstant(sdy::ConstantOp op);
  Locals localizeDataFlow(ShardableDataFlowOpInterface op);
  Locals localizeByRule(Operation *op, const FactorRule &rule);
  Locals localizeReplicated(Operation *op);
  Locals localizeReturn(func::ReturnOp op);

  /// The placements of `values`.
  FailureOr<Placements> placeAll(ValueRange values);
  /// The local values of op's operands.
  SmallVector<Value> localOperands(Operation *op) const {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return locals.lookup(operand);
    });
  }
  /// The op as it is, on these types.
  SmallVector<Value> clone(Operation *op, ArrayRef<Type> resultTypes);
  void dropBrokenDonation(unsigned argument);

  func::FuncOp func;
  Placer &placer;
  OpBuilder builder;
  Block *oldBlock = nullptr;
  Block *newBlock = nullptr;
  Placements arguments, results;
  DenseMap<Value, Value> locals;
};

LogicalResult FunctionPartitioner::run() {
  if (func.isExternal())
    return success();
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError() << "has " << func.getBlocks().size()
                            << " blocks; only functions of one block can be "
                               "partitioned";
  oldBlock = &func.getBody().front();
  if (failed(placeSignature()))
    return failure();
  newBlock = &func.getBody().emplaceBlock();
  if (failed(localizeBlock()))
    return failure();
  replaceBody();
  return success();
}

LogicalResult FunctionPartitioner::placeSignature() {
  for (BlockArgument argument : oldBlock->getArguments()) {
    FailureOr<Placement> placement = placer.place(argument);
    if (failed(placement))
      return failure();
    arguments.push_back(*placement);
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    FailureOr<Placement> placement =
        placer.place(type, sdy::getFuncResultSharding(func, i), func,
                     oldBlock->getTerminator()->getOperand(i).getLoc());
    if (failed(placement))
      return failure();
    results.push_back(*placement);
  }
  return success();
}

LogicalResult FunctionPartitioner::localizeBlock() {
  for (auto [argument, placement] :
       llvm::zip_equal(oldBlock->getArguments(), arguments))
    locals[argument] =
        newBlock->addArgument(placement.localType, argument.getLoc());
  builder.setInsertionPointToEnd(newBlock);
  for (Operation &op : *oldBlock) {
    Locals values = localize(&op);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *values))
      locals[result] = value;
  }
  return success();
}

FunctionPartitioner::Locals FunctionPartitioner::localize(Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (!captured.empty())
    return op->emitError("has a region that reads values from outside, which "
                         "can't be partitioned yet");
  if (auto constant = dyn_cast<sdy::ConstantOp>(op))
    return localizeConstant(constant);
  if (isa_and_present<sdy::SdyDialect>(op->getDialect()))
    return localizeCollective(op);
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return localizeReturn(ret);
  if (auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op))
    return localizeDataFlow(dataFlow);
  if (std::optional<FactorRule> rule = sdy::getComputationRule(op))
    return localizeByRule(op, *rule);
  return localizeReplicated(op);
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeCollective(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return op->emitError("is not expected here; it must be gone before "
                         "partitioning");
  FailureOr<Placement> source = placer.place(op->getOperand(0));
  FailureOr<Placement> target = placer.place(op->getResult(0));
  if (failed(source) || failed(target))
    return failure();
  FailureOr<Value> value = buildLocalCollective(
      op, locals.lookup(op->getOperand(0)), placer, builder);
  if (failed(value))
    return failure();
  if (value->getType() != target->localType)
    return op->emitError() << "yields local type " << value->getType()
                           << ", but its out_sharding says "
                           << target->localType;
  return SmallVector<Value>{*value};
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeConstant(sdy::ConstantOp op) {
  FailureOr<Placement> placement = placer.place(op.getResult());
  if (failed(placement))
    return failure();
  if (!placement->layout.partial.empty())
    return op.emitError("a constant can't be unreduced; expected a reshard");
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (elements && elements.isSplat()) {
    auto type = cast<ShapedType>(placement->localType);
    Value local = sdy::ConstantOp::create(builder, op.getLoc(), type,
                                          elements.resizeSplat(type));
    return SmallVector<Value>{local};
  }
  Value whole = sdy::ConstantOp::create(builder, op.getLoc(), op.getType(),
                                        op.getValue());
  return SmallVector<Value>{
      buildPiece(whole, placement->layout, placer, builder, op.getLoc())};
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeDataFlow(ShardableDataFlowOpInterface op) {
  if (op->getNumRegions() != 0)
    return op->emitError("control flow with regions can't be partitioned yet");
  for (Value owner : op.getEdgeOwners()) {
    FailureOr<Placement> target = placer.place(owner);
    if (failed(target))
      return failure();
    for (OpOperand *source : op.getEdgeSources(owner)) {
      FailureOr<Placement> placement = placer.place(source->get());
      if (failed(placement))
        return failure();
      if (placement->layout != target->layout)
        return op->emitError()
               << "operand " << source->getOperandNumber()
               << " is not sharded as the result that it flows to; expected a "
                  "reshard before";
    }
  }
  FailureOr<Placements> placements = placeAll(op->getResults());
  if (failed(placements))
    return failure();
  return clone(op, llvm::map_to_vector(*placements, [](const Placement &p) {
                 return p.localType;
               }));
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeByRule(Operation *op, const FactorRule &rule) {
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  FailureOr<Placements> placements = placeAll(tensors);
  if (failed(placements))
    return failure();
  FailureOr<SmallVector<AxisList>> axes =
      getFactorAxes(op, rule, *placements, placer);
  if (failed(axes))
    return failure();

  SmallVector<Type> resultTypes;
  for (const Placement &placement :
       ArrayRef(*placements).drop_front(op->getNumOperands()))
    resultTypes.push_back(placement.localType);
  OpContext context(op, rule, *axes, resultTypes, placer);
  if (auto compute = dyn_cast<LocalComputeOpInterface>(op))
    return compute.computeLocally(builder, localOperands(op), context);
  return cloneLocally(op, builder, localOperands(op), context);
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeReplicated(Operation *op) {
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  FailureOr<Placements> placements = placeAll(tensors);
  if (failed(placements))
    return failure();
  for (auto [i, placement] : llvm::enumerate(*placements)) {
    AxisList used = placement.layout.usedAxes();
    if (used.empty())
      continue;
    bool isOperand = i < op->getNumOperands();
    return op->emitError() << "has no sharding rule, but "
                           << (isOperand ? "operand " : "result ")
                           << (isOperand ? i : i - op->getNumOperands())
                           << " is sharded by " << placer.str(used)
                           << "; expected all its tensors to be replicated";
  }
  return clone(op, llvm::to_vector(op->getResultTypes()));
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeReturn(func::ReturnOp op) {
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    FailureOr<Placement> placement = placer.place(operand);
    if (failed(placement))
      return failure();
    if (placement->layout != results[i].layout)
      return op.emitError()
             << "operand " << i << " is not sharded as result " << i
             << " of the function; expected a reshard before";
  }
  return clone(op, {});
}

FailureOr<Placements> FunctionPartitioner::placeAll(ValueRange values) {
  Placements placements;
  for (Value value : values) {
    FailureOr<Placement> placement = placer.place(value);
    if (failed(placement))
      return failure();
    placements.push_back(*placement);
  }
  return placements;
}

SmallVector<Value> FunctionPartitioner::clone(Operation *op,
                                              ArrayRef<Type> resultTypes) {
  FactorRule none;
  OpContext context(op, none, {}, resultTypes, placer);
  return cloneLocally(op, builder, localOperands(op), context);
}

void FunctionPartitioner::dropBrokenDonation(unsigned argument) {
  auto output =
      func.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
  if (!output)
    return;
  if (output.getInt() < 0 ||
      output.getInt() >= static_cast<int64_t>(results.size())) {
    func.removeArgAttr(argument, "tf.aliasing_output");
    emitRemark(newBlock->getArgument(argument).getLoc())
        << "argument " << argument << " is not donated: there is no result "
        << output.getInt();
    return;
  }
  Type argumentType = arguments[argument].localType;
  Type resultType = results[output.getInt()].localType;
  if (argumentType == resultType)
    return;
  func.removeArgAttr(argument, "tf.aliasing_output");
  emitRemark(newBlock->getArgument(argument).getLoc())
      << "argument " << argument << " is not donated to result "
      << output.getInt() << ": a device holds " << argumentType << " of it and "
      << resultType << " of the result";
}

void FunctionPartitioner::replaceBody() {
  oldBlock->dropAllDefinedValueUses();
  oldBlock->dropAllReferences();
  oldBlock->erase();
  auto localType = [](const Placement &p) { return p.localType; };
  func.setType(FunctionType::get(func.getContext(),
                                 llvm::map_to_vector(arguments, localType),
                                 llvm::map_to_vector(results, localType)));
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    func.removeArgAttr(i, sdy::kShardingAttr);
    dropBrokenDonation(i);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    func.removeResultAttr(i, builder.getStringAttr(sdy::kShardingAttr));
}

struct PartitionToLocal : impl::PartitionToLocalPassBase<PartitionToLocal> {
  void runOnOperation() override {
    sdy::MeshOp programMesh = sdy::getProgramMesh(getOperation());
    Placer placer;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(FunctionPartitioner(func, placer).run()))
        return signalPassFailure();
    auto meshes = getOperation().getOps<sdy::MeshOp>();
    for (sdy::MeshOp mesh : llvm::make_early_inc_range(meshes))
      if (mesh != programMesh)
        mesh.erase();
  }
};

} // namespace

} // namespace shardonnay
