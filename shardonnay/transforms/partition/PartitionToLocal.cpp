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
//      an sdy collective      -> spmd ops (a reshard of what is whole: a shard)
//      sdy.constant           -> a smaller constant, or a shard of the whole
//      a data-flow op         -> a clone on local types, its regions likewise
//      a computation's body   -> its ops, in its place
//      an op with a rule      -> what its LocalComputeOpInterface builds
//      return, call           -> itself, its operands placed as what they are
//      any other op           -> a clone, if nothing shards its tensors
// 3. replaceBody: the new block, types and attributes take the old ones' place.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/dialect/spmd/Divergence.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/interfaces/UnusedSymbols.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/support/NearbyInfo.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/partition/Donation.h"
#include "shardonnay/transforms/partition/FactorAxes.h"
#include "shardonnay/transforms/partition/KeptShardings.h"
#include "shardonnay/transforms/partition/LocalCollectives.h"
#include "shardonnay/transforms/partition/OpContext.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "shardonnay/transforms/partition/Placement.h"

namespace shardonnay {

#define GEN_PASS_DEF_PARTITIONTOLOCALPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

using namespace mlir;

namespace {

class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp func, Placer &placer,
                      const ArgumentPlacements &callees, bool forbidsGathers,
                      OtherStrategies *otherStrategies, bool keepsShardings)
      : func(func), placer(placer), otherStrategies(otherStrategies),
        callees(callees), forbidsGathers(forbidsGathers),
        keepsShardings(keepsShardings), builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult placeSignature();
  /// `ops` at the builder, which then stands behind them. The arguments of
  /// their block have local values already.
  LogicalResult localizeOps(llvm::iterator_range<Block::iterator> ops);
  void replaceBody();

  /// Each returns the local values of the op's results, or fails with an error
  /// at the op.
  using Locals = LocalResults;
  Locals localize(Operation *op);
  Locals localizeComputation(Operation *op);
  /// The copies of regions that use `captures` use the local values.
  void exchangeCaptures(ArrayRef<Value> captures);
  Locals localizeCollective(Operation *op);
  std::optional<Placer> otherPlacerOf(Operation *op);
  FlatSymbolRefAttr sourceMeshOf(Operation *op);
  Locals localizeConstant(sdy::ConstantOp op);
  Locals localizeDataFlow(ShardableDataFlowOpInterface op);
  LogicalResult localizeRegion(Region &from, Region &to);
  Locals inlineBody(ShardableDataFlowOpInterface op);
  Locals localizeByRule(Operation *op, const FactorRule &rule);
  Locals localizeReplicated(Operation *op);
  Locals localizeReturn(func::ReturnOp op);
  Locals localizeCall(func::CallOp op);
  Locals localizeRegionEnd(Operation *op);
  /// Each operand is sharded as the class of values that it flows into.
  LogicalResult verifySources(Operation *op);

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

  func::FuncOp func;
  Placer &placer;
  sdy::RuleTable rules{sdy::getComputationRule};
  FactorAxesTable factorAxes{placer};
  /// Null if causes need no alternatives.
  OtherStrategies *otherStrategies;
  const ArgumentPlacements &callees;
  bool forbidsGathers;
  bool keepsShardings;
  OpBuilder builder;
  Block *oldBlock = nullptr;
  Block *newBlock = nullptr;
  Placements arguments, results;
  DenseMap<Value, Value, NearbyInfo<Value>> locals;
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
  for (auto [argument, placement] :
       llvm::zip_equal(oldBlock->getArguments(), arguments))
    locals[argument] =
        newBlock->addArgument(placement->localType, argument.getLoc());
  builder.setInsertionPointToEnd(newBlock);
  if (failed(localizeOps({oldBlock->begin(), oldBlock->end()})))
    return failure();
  replaceBody();
  return success();
}

LogicalResult FunctionPartitioner::placeSignature() {
  for (BlockArgument argument : oldBlock->getArguments()) {
    const Placement *placement = placer.place(argument);
    if (!placement)
      return failure();
    arguments.push_back(placement);
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    const Placement *placement =
        placer.place(type, sdy::getFuncResultSharding(func, i), func,
                     oldBlock->getTerminator()->getOperand(i).getLoc());
    if (!placement)
      return failure();
    results.push_back(placement);
  }
  return success();
}

LogicalResult
FunctionPartitioner::localizeOps(llvm::iterator_range<Block::iterator> ops) {
  for (Operation &op : opsForward(ops)) {
    Locals values = localize(&op);
    if (failed(values))
      return failure();
    if (keepsShardings)
      keepShardings(&op, localOperands(&op), *values);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *values))
      locals[result] = value;
  }
  return success();
}

/// The values from outside that op's regions use. Of those, tensors can't be
/// exchanged unless the regions are rewritten too.
static FailureOr<SetVector<Value>> getCaptures(Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (llvm::none_of(captured, [](Value value) {
        return isa<ShapedType>(value.getType());
      }))
    return captured;
  Value tensor = *llvm::find_if(
      captured, [](Value value) { return isa<ShapedType>(value.getType()); });
  return pointAtOperand(
      op->emitError("has a region that reads tensors from outside, which "
                    "can't be partitioned yet: make them operands"),
      tensor, "this is one of them");
}

FunctionPartitioner::Locals FunctionPartitioner::localize(Operation *op) {
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return localizeReturn(ret);
  if (auto call = dyn_cast<func::CallOp>(op))
    return localizeCall(call);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return localizeRegionEnd(op);
  if (isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op))
    return inlineBody(cast<ShardableDataFlowOpInterface>(op));
  if (auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op))
    return localizeDataFlow(dataFlow);
  FailureOr<SetVector<Value>> captures = getCaptures(op);
  if (failed(captures))
    return failure();
  if (std::optional<int64_t> device = sdy::getSingleDevice(op))
    return op->emitError("is on device ")
           << *device << " alone; run sdy-resolve-single-device-sharding first";
  Locals values = localizeComputation(op);
  exchangeCaptures(captures->getArrayRef());
  return values;
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeComputation(Operation *op) {
  if (auto constant = dyn_cast<sdy::ConstantOp>(op))
    return localizeConstant(constant);
  if (isa_and_present<sdy::SdyDialect>(op->getDialect()))
    return localizeCollective(op);
  if (const FactorRule *rule = rules.get(op))
    return localizeByRule(op, *rule);
  return localizeReplicated(op);
}

void FunctionPartitioner::exchangeCaptures(ArrayRef<Value> captures) {
  for (Value value : captures)
    value.replaceUsesWithIf(locals.lookup(value), [&](OpOperand &use) {
      return newBlock->findAncestorOpInBlock(*use.getOwner()) != nullptr;
    });
}

/// Places what is on the mesh that the axes of a collective are on, if that is
/// another one than the program's: at the boundary.
std::optional<Placer> FunctionPartitioner::otherPlacerOf(Operation *op) {
  for (Value value : {Value(op->getResult(0)), op->getOperand(0)}) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    FlatSymbolRefAttr name = sharding ? sharding.getMeshSymbol() : nullptr;
    if (!name || sharding.isReplicated())
      continue;
    if (placer.mesh() && name.getValue() == placer.meshName())
      return std::nullopt;
    return Placer(sdy::getMeshOp(op, name));
  }
  return std::nullopt;
}

/// The operand's mesh if it is another one than the result's.
FlatSymbolRefAttr FunctionPartitioner::sourceMeshOf(Operation *op) {
  sdy::TensorShardingAttr source = sdy::getSharding(op->getOperand(0));
  sdy::TensorShardingAttr target = sdy::getSharding(op->getResult(0));
  if (!source || !target || source.isReplicated() || target.isReplicated() ||
      source.getMeshSymbol() == target.getMeshSymbol())
    return nullptr;
  return source.getMeshSymbol();
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeCollective(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return op->emitError("is not expected here; it must be gone before "
                         "partitioning");
  const Placement *source = placer.place(op->getOperand(0));
  const Placement *target = placer.place(op->getResult(0));
  if (!source || !target)
    return failure();
  Value operand = locals.lookup(op->getOperand(0));
  std::optional<Placer> other = otherPlacerOf(op);
  const Placer &there = other ? *other : placer;
  FailureOr<Value> value;
  if (isa<sdy::ReshardOp>(op) && !source->mesh)
    value =
        buildLocalShard(operand, target->layout, there, builder, op->getLoc());
  else
    value = buildLocalCollective(op, operand, source->layout, there,
                                 sourceMeshOf(op), builder);
  if (failed(value))
    return failure();
  if (Attribute cause = op->getAttr(sdy::kCauseAttr))
    for (Value made = *value; made != operand;
         made = made.getDefiningOp()->getOperand(0))
      made.getDefiningOp()->setAttr(sdy::kCauseAttr, cause);
  if (value->getType() != target->localType)
    return pointAtOperand(
        op->emitError() << "yields local type " << value->getType()
                        << ", but its out_sharding says " << target->localType,
        op->getOperand(0));
  return SmallVector<Value>{*value};
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeConstant(sdy::ConstantOp op) {
  const Placement *placement = placer.placeInside(op.getResult());
  if (!placement)
    return failure();
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  // Zeros are a sum of zeros; no other constant is a sum of itself.
  if (!placement->layout.partial.empty() &&
      !(placement->layout.kind == ReductionKind::Sum &&
        sdy::isZeroSplat(op.getValue())))
    return op.emitError("a constant other than zeros can't be unreduced; "
                        "expected a reshard");
  if (elements && elements.isSplat()) {
    auto type = cast<ShapedType>(placement->localType);
    Value local = sdy::ConstantOp::create(builder, op.getLoc(), type,
                                          elements.resizeSplat(type));
    return SmallVector<Value>{local};
  }
  Value whole = sdy::ConstantOp::create(builder, op.getLoc(), op.getType(),
                                        op.getValue());
  return SmallVector<Value>{
      buildShard(whole, placement->layout, placer, builder, op.getLoc())};
}

LogicalResult FunctionPartitioner::verifySources(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    const Placement *found = placer.place(operand.get());
    const Placement *wanted =
        placer.place(operand.get().getType(), sdy::getClassSharding(operand),
                     op, operand.get().getLoc());
    if (!found || !wanted)
      return failure();
    if (!found->sameAs(*wanted))
      return pointAtOperand(
          op->emitError() << "operand " << operand.getOperandNumber()
                          << " is not sharded as the values that it flows to; "
                             "expected a reshard before",
          operand.get());
  }
  return success();
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeDataFlow(ShardableDataFlowOpInterface op) {
  FailureOr<Placements> placements = placeAll(op->getResults());
  if (failed(placements) || failed(verifySources(op)))
    return failure();
  Operation *local = builder.insert(op->cloneWithoutRegions());
  local->setOperands(localOperands(op));
  local->removeAttr(sdy::kShardingAttr);
  local->removeAttr(sdy::kBlockArgumentShardingsAttr);
  spmd::markDivergence(op, local);
  for (auto [result, placement] :
       llvm::zip_equal(local->getResults(), *placements))
    result.setType(placement->localType);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), local->getRegions()))
    if (failed(localizeRegion(from, to)))
      return failure();
  return SmallVector<Value>(local->getResults());
}

LogicalResult FunctionPartitioner::localizeRegion(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  for (Block &block : from) {
    Block *local = builder.createBlock(&to, to.end());
    for (BlockArgument argument : block.getArguments()) {
      const Placement *placement = placer.placeInside(argument);
      if (!placement)
        return failure();
      locals[argument] =
          local->addArgument(placement->localType, argument.getLoc());
    }
    if (failed(localizeOps({block.begin(), block.end()})))
      return failure();
  }
  return success();
}

/// What a device holds of an operand is what the body sees of it: its axes
/// shard the operand first by hand, then as the body has it.
FunctionPartitioner::Locals
FunctionPartitioner::inlineBody(ShardableDataFlowOpInterface op) {
  if (failed(verifySources(op)))
    return failure();
  Block &body = op->getRegion(0).front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), op->getOperands())) {
    const Placement *placement = placer.place(argument);
    if (!placement)
      return failure();
    Value local = locals.lookup(operand);
    if (placement->localType != local.getType())
      return pointAtOperand(op->emitError()
                                << "operand " << argument.getArgNumber()
                                << " is " << local.getType()
                                << " on a device, but the body has "
                                << placement->localType
                                << " there; expected axes that divide the dim",
                            operand);
    locals[argument] = local;
  }
  Operation *end = body.getTerminator();
  if (failed(localizeOps(body.without_terminator())))
    return failure();
  FailureOr<Placements> results = placeAll(op->getResults());
  if (failed(results) || failed(verifySources(end)))
    return failure();
  SmallVector<Value> values = localOperands(end);
  for (auto [i, value] : llvm::enumerate(values))
    if (value.getType() != (*results)[i]->localType)
      return pointAt(op->emitError()
                         << "result " << i << " is " << (*results)[i]->localType
                         << " on a device, but the body returns "
                         << value.getType()
                         << "; expected axes that divide the dim",
                     end->getLoc(), "it is returned here");
  return values;
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeRegionEnd(Operation *op) {
  if (failed(verifySources(op)))
    return failure();
  return clone(op, {});
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeByRule(Operation *op, const FactorRule &rule) {
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  FailureOr<Placements> placements = placeAll(tensors);
  if (failed(placements))
    return failure();
  FailureOr<ArrayRef<AxisList>> axes = factorAxes.find(op, rule, *placements);
  if (failed(axes))
    return failure();

  SmallVector<Type> resultTypes;
  for (const Placement *placement :
       ArrayRef(*placements).drop_front(op->getNumOperands()))
    resultTypes.push_back(placement->localType);
  OpContext context(op, rule, *axes, *placements, resultTypes, placer,
                    otherStrategies, forbidsGathers);
  SmallVector<Value> operands = localOperands(op);
  if (failed(neutralizePadding(builder, op, rule, *axes, operands, placer)))
    return failure();
  auto compute = dyn_cast<LocalComputeOpInterface>(op);
  if (!compute)
    return cloneLocally(op, builder, operands, context);
  Locals results = compute.computeLocally(builder, operands, context);
  return context.foundForbiddenGather() ? Locals(failure()) : results;
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeReplicated(Operation *op) {
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  FailureOr<Placements> placements = placeAll(tensors);
  if (failed(placements))
    return failure();
  for (auto [i, placement] : llvm::enumerate(*placements)) {
    AxisList used = placement->layout.usedAxes();
    if (used.empty())
      continue;
    bool isOperand = i < op->getNumOperands();
    InFlightDiagnostic diag = op->emitError()
                              << "has no sharding rule, but "
                              << (isOperand ? "operand " : "result ")
                              << (isOperand ? i : i - op->getNumOperands())
                              << " is sharded by " << placer.str(used)
                              << "; expected all its tensors to be replicated";
    return isOperand ? pointAtOperand(std::move(diag), op->getOperand(i))
                     : std::move(diag);
  }
  return clone(op, llvm::to_vector(op->getResultTypes()));
}

FunctionPartitioner::Locals
FunctionPartitioner::localizeReturn(func::ReturnOp op) {
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    const Placement *placement = placer.place(operand);
    if (!placement)
      return failure();
    if (!placement->sameAs(*results[i]))
      return pointAtOperand(
          op.emitError() << "operand " << i << " is not sharded as result " << i
                         << " of the function; expected a reshard before",
          operand);
  }
  return clone(op, {});
}

FunctionPartitioner::Locals FunctionPartitioner::localizeCall(func::CallOp op) {
  auto callee = callees.find(op.getCallee());
  if (callee == callees.end())
    return localizeReplicated(op);
  FailureOr<Placements> operands = placeAll(op.getOperands());
  FailureOr<Placements> results = placeAll(op.getResults());
  if (failed(operands) || failed(results))
    return failure();
  for (auto [i, operand, argument] : llvm::enumerate(*operands, callee->second))
    if (operand->layout != argument->layout)
      return pointAtOperand(op.emitError() << "operand " << i
                                           << " is not sharded as argument "
                                           << i << " of @" << op.getCallee()
                                           << "; expected a reshard before",
                            op.getOperand(i));
  auto types = llvm::map_to_vector(
      *results, [](const Placement *p) { return p->localType; });
  return clone(op, types);
}

FailureOr<Placements> FunctionPartitioner::placeAll(ValueRange values) {
  Placements placements;
  for (Value value : values)
    if (!placements.emplace_back(placer.placeInside(value)))
      return failure();
  return placements;
}

SmallVector<Value> FunctionPartitioner::clone(Operation *op,
                                              ArrayRef<Type> resultTypes) {
  FactorRule none;
  OpContext context(op, none, {}, {}, resultTypes, placer);
  return cloneLocally(op, builder, localOperands(op), context);
}

void FunctionPartitioner::replaceBody() {
  // What is used goes after its users.
  for (Operation &op : opsBackward(*oldBlock)) {
    op.dropAllUses();
    op.erase();
  }
  oldBlock->dropAllDefinedValueUses();
  oldBlock->erase();
  auto localType = [](const Placement *p) { return p->localType; };
  func.setType(FunctionType::get(func.getContext(),
                                 llvm::map_to_vector(arguments, localType),
                                 llvm::map_to_vector(results, localType)));
  sdy::SignatureAttributes signature(func);
  if (!keepsShardings)
    signature.eraseAll(sdy::kShardingAttr);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    dropBrokenDonation(func, i, signature);
}

struct PartitionToLocal
    : PricedPass<impl::PartitionToLocalPassBase<PartitionToLocal>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(sdy::verifyMeshSizes(module)))
      return signalPassFailure();
    sdy::MeshOp programMesh = sdy::getProgramMesh(module);
    Placer placer(programMesh);
    FailureOr<ArgumentPlacements> callees = placeArguments(module, placer);
    if (failed(callees))
      return signalPassFailure();
    auto meshes = module.getOps<sdy::MeshOp>();
    bool hasOneMesh = llvm::hasNItemsOrLess(meshes, 1);
    for (auto func : module.getOps<func::FuncOp>()) {
      sdy::MeshOp own = hasOneMesh ? nullptr : findOwnMesh(func, programMesh);
      Placer ownPlacer(own);
      Placer &here = own ? ownPlacer : placer;
      OtherStrategies otherStrategies(*model, here);
      FunctionPartitioner partitioner(
          func, here, *callees, noImplicitReplication,
          recordsCauses ? &otherStrategies : nullptr, keepShardings);
      if (failed(partitioner.run()))
        return signalPassFailure();
    }
    eraseUncalled();
    for (sdy::MeshOp mesh : llvm::make_early_inc_range(meshes))
      if (mesh != programMesh && SymbolTable::symbolKnownUseEmpty(mesh, module))
        mesh.erase();
  }

private:
  /// Functions of which local functions have taken the place.
  void eraseUncalled() {
    eraseUnusedSymbols(getOperation(), [](SymbolOpInterface symbol) {
      auto func = dyn_cast<func::FuncOp>(*symbol);
      return func && !func.isExternal();
    });
  }
};

} // namespace

} // namespace shardonnay
