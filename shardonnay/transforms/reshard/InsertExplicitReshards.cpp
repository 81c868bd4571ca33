//===- InsertExplicitReshards.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First the strategies of a block are chosen on its graph (`findStrategies`):
// results are asked for as their uses want them (strategy/WantedShardings.h),
// values that are resharded are tried otherwise (strategy/SecondStart.h), and
// with `search-mode=graph` the ops around a reshard choose
// together (NeighborSearch.h). Then, for every op of the function in order:
//   1. With a rule (`visitByRule`): reshard the operands that its strategy
//      needs otherwise, let the results be as it has them, and their users see
//      them as before.
//   2. That passes values on (`visitRegionEnd`): reshard each source to its
//      owner's sharding. `return` likewise (`visitReturn`), and calls
//      (`visitCall`).
//   3. Of another kind (`visitUnknown`): compute it replicated.
// Then `cleanUp`: reshards of reshards become one, and what is now dead goes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/Callee.h"
#include "shardonnay/dialect/sdy/access/ReshardList.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/strategy/MeetingSums.h"
#include "shardonnay/strategy/NeighborSearch.h"
#include "shardonnay/strategy/SecondStart.h"
#include "shardonnay/strategy/WantedShardings.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/reshard/KeptPartialSums.h"
#include "shardonnay/transforms/reshard/MinimalCases.h"
#include "shardonnay/transforms/reshard/OneMesh.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "shardonnay/transforms/reshard/PartialSumReducer.h"
#include "shardonnay/transforms/reshard/Passes.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"
#include "shardonnay/transforms/reshard/StrategyReader.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_INSERTEXPLICITRESHARDSPASS
#include "shardonnay/transforms/reshard/Passes.h.inc"

namespace {

struct ReshardMode {
  bool full = true;
  bool calls = true;
  bool noImplicitReplication = false;
  /// Strategies of neighbours are chosen together.
  bool searchesNeighbors = false;
  /// Values may be sharded otherwise than propagated.
  bool searches = true;
  const MemoryPrices *memoryPrices = nullptr;
};

/// What the block's graph says of an op.
struct KnownOp {
  /// Null where it says nothing.
  const OpStrategy *strategy = nullptr;
  /// Nothing has to be resharded at the op.
  bool agrees = false;
};

class BlockResharder {
public:
  BlockResharder(func::FuncOp func, ReshardMode mode, OpSolvers &solvers)
      : func(func), mode(mode), solvers(solvers) {}

  /// Reshards in `block` and in the regions of its data-flow ops. Fails if the
  /// program can't be resharded, with an error.
  LogicalResult run(Block &block);
  /// The sums over all blocks.
  const SearchCosts &total() const { return sum; }
  /// The reshards that there are now, those in regions too.
  ArrayRef<sdy::ReshardOp> getLeft() const { return left; }
  /// A gather was found that the options don't allow.
  bool foundForbiddenGather() const { return forbiddenGather; }

private:
  /// For a block in a region of `op`.
  BlockResharder(BlockResharder &outer, Operation *op)
      : func(outer.func), mode(outer.mode), lastScope(outer.lastScope),
        solvers(outer.solvers), reshards(outer.reshards, op) {}

  LogicalResult visit(Operation *op, const KnownOp &known);
  LogicalResult visitAll(Block &block);
  void findStrategies(const StrategyReader &reader, StrategyState &state,
                      SearchMemos &memos);
  /// The reshards in `op`, which goes, are not left.
  void forget(Operation &op);
  void cleanUp(Block &block);
  LogicalResult visitByRule(Operation *op, const FactorRule &rule,
                            const OpStrategy *known = nullptr);
  /// Without the full version.
  LogicalResult visitMinimally(Operation *op);
  void reduceParts(Operation *op);
  /// The blocks of an op that passes values on.
  LogicalResult visitRegions(Operation *op);
  LogicalResult visitReturn(func::ReturnOp op);
  LogicalResult visitRegionEnd(Operation *op);
  LogicalResult visitCall(func::CallOp call);
  LogicalResult visitUnknown(Operation *op);

  /// The mesh that op's operands and results are on.
  FailureOr<MeshScope> scopeOf(Operation *op);
  /// Reshards the operand to `sharding`, whatever mesh that is on.
  LogicalResult reshardTo(OpOperand &operand, sdy::TensorShardingAttr sharding);
  void reshardOperand(OpOperand &operand, const TensorSharding &sharding,
                      const MeshScope &scope);
  void changeResult(OpResult result, const TensorSharding &sharding,
                    const MeshScope &scope);
  /// Says that the operand is gathered, if it is; `why` is the message up to
  /// the colon.
  void reportGather(OpOperand &operand, const TensorSharding &sharding,
                    const MeshScope &scope, const Twine &why, StringRef advice);
  void reportUnshardedDims(OpOperand &operand, const FactorRule &rule,
                           const TensorSharding &sharding,
                           const MeshScope &scope);

  func::FuncOp func;
  ReshardMode mode;
  bool forbiddenGather = false;
  /// The scope of the op before; most have the same.
  MeshScope lastScope;
  OpSolvers &solvers;
  ReshardBuilder reshards;
  /// Without the full version.
  PartialSumReducer parts;
  std::vector<sdy::ReshardOp> left;
  /// Ops with an operand that was a constant until it had to be resharded.
  llvm::SmallPtrSet<Operation *, 4> withoutConstants;
  /// Whose operands are gathered, if at all, where they are made.
  llvm::SmallPtrSet<OpOperand *, 4> unsharded;
  SearchCosts sum;
};

FailureOr<MeshScope> BlockResharder::scopeOf(Operation *op) {
  if (failed(lastScope.moveTo(op)))
    return failure();
  return lastScope;
}

LogicalResult BlockResharder::visit(Operation *op, const KnownOp &known) {
  if (known.agrees)
    return success();
  if (!mode.full)
    return visitMinimally(op);
  if (failed(verifyStatic(op)))
    return failure();
  if (auto returnOp = dyn_cast<func::ReturnOp>(op))
    return visitReturn(returnOp);
  if (auto call = dyn_cast<func::CallOp>(op))
    return mode.calls ? visitCall(call) : success();
  if (isa<ShardableDataFlowOpInterface>(op))
    return success(succeeded(visitRegionEnd(op)) &&
                   succeeded(visitRegions(op)));
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitRegionEnd(op);
  // Operations on shardings say themselves how their result is sharded.
  if (isa_and_present<sdy::SdyDialect>(op->getDialect()))
    return success();
  // On one device an op is computed whole.
  if (sdy::getSingleDevice(op))
    return visitUnknown(op);
  if (const FactorRule *rule = solvers.getRule(op))
    return visitByRule(op, *rule, known.strategy);
  if (std::optional<FactorRule> rule = sdy::getComputationRule(op))
    return verifyRule(op, *rule);
  return visitUnknown(op);
}

LogicalResult BlockResharder::visitByRule(Operation *op, const FactorRule &rule,
                                          const OpStrategy *known) {
  FailureOr<MeshScope> scope = scopeOf(op);
  if (failed(scope) || scope->empty())
    return success(succeeded(scope));
  auto isFree = [&](Value value) { return reshards.isFree(value); };
  const OpStrategy &strategy =
      known ? *known : solvers.solve(op, rule, *scope, isFree);
  const OpStrategies &table = solvers.on(*scope).table;
  if (std::optional<std::vector<TensorSharding>> needed =
          keepParts(op, strategy, table, *scope)) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        reshardOperand(operand, (*needed)[operand.getOperandNumber()], *scope);
    for (OpResult result : op->getResults())
      changeResult(result,
                   (*needed)[op->getNumOperands() + result.getResultNumber()],
                   *scope);
    return success();
  }
  for (unsigned i : strategy.differs.set_bits()) {
    const TensorSharding &needed = table.sharding(strategy.needed[i]);
    if (i >= op->getNumOperands()) {
      changeResult(op->getResult(i - op->getNumOperands()), needed, *scope);
      continue;
    }
    if (!strategy.repeatsWork)
      reportUnshardedDims(op->getOpOperand(i), rule, needed, *scope);
    reshardOperand(op->getOpOperand(i), needed, *scope);
  }
  return success();
}

/// The unreduced axes of what `op` uses are those of what it goes into.
void BlockResharder::reduceParts(Operation *op) {
  if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      parts.reduce(operand, sdy::getFuncResultSharding(
                                func, operand.getOperandNumber()));
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    func::FuncOp callee = sdy::getCalleeWithBody(call);
    for (OpOperand &operand : op->getOpOperands())
      parts.reduce(operand, callee ? sdy::getSharding(callee.getArgument(
                                         operand.getOperandNumber()))
                                   : nullptr);
  } else if (isa<ShardableDataFlowOpInterface>(op) ||
             op->hasTrait<OpTrait::IsTerminator>()) {
    for (OpOperand &operand : op->getOpOperands())
      parts.reduce(operand, sdy::getClassSharding(operand));
  } else if (isa<sdy::ReshardOp, sdy::ShardingConstraintOp,
                 sdy::PropagationBarrierOp>(op)) {
    parts.reduce(op->getOpOperand(0), sdy::getSharding(op->getResult(0)));
  } else if (!isa_and_present<sdy::SdyDialect>(op->getDialect())) {
    parts.reduceOperands(op);
  }
}

LogicalResult BlockResharder::visitMinimally(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (call && !mode.calls)
    return success();
  reduceParts(op);
  if (call)
    return visitCall(call);
  if (isa<ShardableDataFlowOpInterface>(op))
    return visitRegions(op);
  if (isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return success();
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  // What is on several meshes another partitioner sees to.
  std::optional<MeshScope> scope = MeshScope::find(op);
  if (!rule || !scope || scope->empty())
    return success();
  if (joinsAlongDim(op, *rule))
    return visitByRule(op, *rule);
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruleOp || !ruleOp.isContraction() || failed(verifyRule(op, *rule)))
    return success();
  OpProblem problem = readProblem(op, *rule, *scope);
  FactorStrategy strategy = solvers.get(*scope).solve(problem);
  auto selected = [&](size_t tensor) {
    return shardingUnder(strategy, *rule, tensor);
  };
  for (OpOperand &operand : op->getOpOperands())
    if (scope->read(operand.get()) != selected(operand.getOperandNumber()))
      return success();
  TensorSharding made = selected(op->getNumOperands());
  if (isWantedWhereContracted(op, made, *scope)) {
    made.unreduced = AxisList();
    made.kind = ReductionKind::Sum;
  }
  if (made.unreduced.empty() && scope->read(op->getResult(0)).unreduced.empty())
    changeResult(op->getResult(0), made, *scope);
  return success();
}

LogicalResult BlockResharder::visitRegions(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      BlockResharder inner(*this, op);
      if (failed(inner.run(block)))
        return failure();
      forbiddenGather |= inner.forbiddenGather;
      llvm::append_range(left, inner.left);
      sum.add(inner.sum);
    }
  return success();
}

/// Each operand is sharded as the class that it flows into. One that flows into
/// none decides what runs: every device has to know it.
LogicalResult BlockResharder::visitRegionEnd(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (failed(reshardTo(operand, sdy::getClassSharding(operand))))
      return failure();
  return success();
}

LogicalResult BlockResharder::visitReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands())
    if (failed(reshardTo(operand, sdy::getFuncResultSharding(
                                      func, operand.getOperandNumber()))))
      return failure();
  return success();
}

/// The callee says how it takes its arguments, the call's results say how it
/// returns them.
LogicalResult BlockResharder::visitCall(func::CallOp call) {
  func::FuncOp callee = sdy::getCalleeWithBody(call);
  if (!callee)
    return visitUnknown(call);
  for (OpOperand &operand : call->getOpOperands())
    if (failed(reshardTo(operand, sdy::getSharding(callee.getArgument(
                                      operand.getOperandNumber())))))
      return failure();
  return success();
}

LogicalResult BlockResharder::visitUnknown(Operation *op) {
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    Operation *callee = call.resolveCallable();
    return pointAt(op->emitOpError()
                       << "calls a function without a body, expected one of "
                          "the module: give it a body, or inline it",
                   callee ? callee->getLoc() : op->getLoc(), "declared here");
  }
  FailureOr<MeshScope> scope = scopeOf(op);
  if (failed(scope))
    return failure();
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (isa<RankedTensorType>(value.getType()))
      return pointAtOperand(
          op->emitOpError()
              << "uses a tensor of the function in its region, expected to "
                 "take it as an operand; only operands can be resharded",
          value, "the tensor is made here");
  if (scope->empty())
    return success();
  // The user asks for one device, so that it is gathered is no surprise.
  bool asked = sdy::getSingleDevice(op) || isa<spmd::OnDeviceOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    TensorSharding whole = TensorSharding::fullyClosed(type.getRank());
    if (!asked)
      reportGather(operand, whole, *scope, ", it has no sharding rule",
                   "give it one (sdy.sharding_rule), or replicate its "
                   "operands");
    reshardOperand(operand, whole, *scope);
  }
  for (OpResult value : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      changeResult(value, TensorSharding::fullyClosed(type.getRank()), *scope);
  return success();
}

LogicalResult BlockResharder::reshardTo(OpOperand &operand,
                                        sdy::TensorShardingAttr sharding) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return success();
  sdy::TensorShardingAttr present = sdy::getSharding(operand.get());
  if (present == sharding)
    return success();
  auto meshOf = [&](sdy::TensorShardingAttr attr) {
    return attr ? sdy::getMesh(operand.getOwner(), attr) : nullptr;
  };
  sdy::MeshAttr from = meshOf(present), to = meshOf(sharding);
  // Another partitioner brings values to one device, and away.
  if (!mode.full && ((from && from.isMaximal()) || (to && to.isMaximal())))
    return success();
  if (from && to && from != to && !from.getAxes().empty() &&
      !to.getAxes().empty()) {
    OpBuilder builder(operand.getOwner());
    operand.set(sdy::ReshardOp::create(builder, operand.get().getLoc(),
                                       operand.get(), sharding));
    return success();
  }
  if (failed(lastScope.moveTo(operand.getOwner(), {present, sharding})))
    return failure();
  if (!lastScope.empty())
    reshardOperand(operand, lastScope.read(sharding, type.getRank()),
                   lastScope);
  return success();
}

void BlockResharder::reshardOperand(OpOperand &operand,
                                    const TensorSharding &sharding,
                                    const MeshScope &scope) {
  operand.set(reshards.get(operand.get(), sharding, scope, operand.getOwner()));
}

void BlockResharder::changeResult(OpResult result,
                                  const TensorSharding &sharding,
                                  const MeshScope &scope) {
  const TensorSharding &wanted = scope.read(result);
  if (wanted == sharding)
    return;
  sdy::setSharding(result, scope.write(sharding));
  if (result.use_empty())
    return;
  if (!unsharded.empty())
    for (OpOperand &use : result.getUses())
      if (unsharded.contains(&use))
        reportUnshardedDims(use, *solvers.getRule(use.getOwner()), wanted,
                            scope);
  if (reshards.isFree(result))
    withoutConstants.insert_range(result.getUsers());
  reshards.replaceUses(result, wanted, scope);
}

void BlockResharder::reportGather(OpOperand &operand,
                                  const TensorSharding &sharding,
                                  const MeshScope &scope, const Twine &why,
                                  StringRef advice) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t bytes = sdy::getShardBytes(type, sharding) -
                  sdy::getShardBytes(type, scope.read(operand.get()));
  if (bytes <= 0 || reshards.isFree(operand.get()))
    return;
  Operation *op = operand.getOwner();
  // At the location: what an op emits, MLIR prints the op with, and numbers all
  // of the function for that.
  InFlightDiagnostic diagnostic = mode.noImplicitReplication
                                      ? emitError(op->getLoc())
                                      : emitWarning(op->getLoc());
  diagnostic << "op '" << op->getName() << "' cannot be computed sharded" << why
             << ": gathers " << bytes << " bytes per device; " << advice;
  diagnostic.attachNote(operand.get().getLoc())
      << "operand " << operand.getOperandNumber() << " is sharded "
      << sdy::getSharding(operand.get()) << " here";
  forbiddenGather |= mode.noImplicitReplication;
}

void BlockResharder::reportUnshardedDims(OpOperand &operand,
                                         const FactorRule &rule,
                                         const TensorSharding &sharding,
                                         const MeshScope &scope) {
  int64_t number = operand.getOperandNumber();
  if (std::optional<int64_t> dim =
          findUnshardedDim(rule, number, scope.read(operand.get())))
    reportGather(operand, sharding, scope,
                 " along dim " + Twine(*dim) + " of operand " + Twine(number),
                 "shard a dim that the op passes through, or replicate the "
                 "operand where it is made");
}

LogicalResult BlockResharder::visitAll(Block &block) {
  std::optional<MeshScope> scope =
      mode.full ? MeshScope::ofBlock(block) : std::nullopt;
  if (!scope) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op, {})))
        return failure();
    return success();
  }
  // To share what it knows.
  if (*scope == lastScope)
    scope = lastScope;
  else
    lastScope = *scope;
  MeshStrategies &mesh = solvers.on(*scope);
  StrategyReader reader(block, *scope, solvers, *mode.memoryPrices);
  StrategyState state(reader.getGraph(), mesh.table);
  if (!reader.hasOtherMeshes()) {
    findStrategies(reader, state, mesh.memos);
    reader.write(state);
  }
  for (auto [number, op] : llvm::enumerate(reader.getOps())) {
    KnownOp known;
    if (!withoutConstants.contains(op))
      known = {state.strategyOf(number), reader.agrees(number, state)};
    if (failed(visit(op, known)))
      return failure();
  }
  return success();
}

void BlockResharder::findStrategies(const StrategyReader &reader,
                                    StrategyState &state, SearchMemos &memos) {
  for (auto [op, operand] : adoptWantedShardings(state))
    unsharded.insert(&reader.getOperand(op, operand));
  if (mode.searches)
    searchStrategies(state, reader.getArguments(), memos);
  if (mode.searchesNeighbors)
    sum.add(searchNeighbors(state));
  joinSums(state);
}

LogicalResult BlockResharder::run(Block &block) {
  if (failed(visitAll(block)))
    return failure();
  cleanUp(block);
  return success();
}

void BlockResharder::forget(Operation &op) {
  if (op.getNumRegions() == 0)
    return;
  llvm::DenseSet<Operation *> inside;
  op.walk([&](sdy::ReshardOp reshard) { inside.insert(reshard); });
  if (!inside.empty())
    llvm::erase_if(
        left, [&](sdy::ReshardOp reshard) { return inside.contains(reshard); });
}

void BlockResharder::cleanUp(Block &block) {
  for (Operation &op : opsBackward(block)) {
    if (isOpTriviallyDead(&op)) {
      forget(op);
      op.erase();
    } else if (auto reshard = dyn_cast<sdy::ReshardOp>(op)) {
      while (sdy::ReshardOp inner = getNeedlessInner(reshard))
        reshard.getInputMutable().set(inner.getInput());
      left.push_back(reshard);
    } else if (op.getNumRegions() != 0 &&
               !isa<ShardableDataFlowOpInterface>(op)) {
      op.walk([&](sdy::ReshardOp inside) { left.push_back(inside); });
    }
  }
}

struct InsertExplicitReshardsPass
    : impl::InsertExplicitReshardsPassBase<InsertExplicitReshardsPass> {
  using InsertExplicitReshardsPassBase::InsertExplicitReshardsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (searchMode != "greedy" && searchMode != "graph")
      return emitError(UnknownLoc::get(context))
             << "search-mode '" << searchMode << "': expected greedy or graph";
    return loadDeviceModel(deviceModel, context, model);
  }

  void runOnOperation() override {
    if (enableFullVersion) {
      // They have no meaning behind propagation, and no sharding of their own.
      if (getAnalysis<OpKinds>().mayHave<sdy::PropagationBarrierOp>())
        getOperation().walk([](sdy::PropagationBarrierOp op) {
          op.replaceAllUsesWith(op.getInput());
          op.erase();
        });
      putOpsOnOneMesh(getOperation());
      carryParts(getOperation());
    }
    OpSolvers &solvers = getAnalysis<SharedSolvers>().get(
        deviceModel, model,
        /*gathersByPrice=*/!noGatherByPrice && !noImplicitReplication);
    std::vector<sdy::ReshardOp> left;
    MemoryPrices prices =
        pricesMemory ? takeMemoryPrices(getOperation()) : MemoryPrices();
    for (Block &block : getOperation().getBody()) {
      BlockResharder resharder(
          getOperation(),
          {enableFullVersion, !avoidReshardsOnCalls, noImplicitReplication,
           searchMode == "graph" && !keepPropagated, !keepPropagated, &prices},
          solvers);
      if (failed(resharder.run(block)) || resharder.foundForbiddenGather())
        return signalPassFailure();
      if (recordCost)
        record(resharder.total());
      llvm::append_range(left, resharder.getLeft());
    }
    if (!enableFullVersion)
      return;
    getAnalysis<sdy::ReshardList>().set(std::move(left));
    markAnalysesPreserved<sdy::ReshardList>();
  }

  void record(const SearchCosts &costs) {
    Builder builder(&getContext());
    auto number = [&](StringRef name, double value) {
      return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
    };
    getOperation()->setAttr(
        sdy::kPlanCostAttr,
        builder.getDictionaryAttr(
            {number("greedy", costs.greedyCost), number("cost", costs.cost),
             number("bound", costs.bound), number("moved", costs.moved)}));
  }

  std::shared_ptr<const DeviceModel> model;
};

} // namespace
} // namespace shardonnay
