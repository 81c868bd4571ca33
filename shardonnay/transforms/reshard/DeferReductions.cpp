//===- DeferReductions.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every op in order:
//   1. `findDeferrable`: the operands that are reshards, of this use only, of
//      partial values (of the same axes and kind) into reduced ones, where the
//      op is linear in these operands, or in these and others that are whole
//      (`findOwned`): of those one device keeps what it has, the others have
//      what does not count.
//   2. How the op can be computed on partial values: sharded as they are
//      (`readSources`), or first moved to where they would be reduced
//      (`moveSources`).
//   3. `computeResult`: the result's sharding then; nothing if the operands do
//      not fit together so.
//   4. `findWorth`: by the price of the plans of all reshards around the op; of
//      one alone that gets dearer, by what it costs a few ops later
//      (`getsCheaper`).
//      All this is found out once for equal ops (`findWays`).
//   5. `defer`: the op reads the partial values, its result is partial and is
//      resharded to what it was.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ReshardList.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/reshard/LinearOperands.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "shardonnay/transforms/reshard/Passes.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_DEFERREDUCTIONSPASS
#include "shardonnay/transforms/reshard/Passes.h.inc"

namespace {

/// On another mesh, at the boundary, nothing is computed.
bool reducesParts(sdy::ReshardOp reshard) {
  sdy::TensorShardingAttr from = sdy::getSharding(reshard.getInput()),
                          to = reshard.getSharding();
  return from && from.getMeshOrRef() == to.getMeshOrRef() &&
         !from.getUnreducedAxes().empty() && to.getUnreducedAxes().empty();
}

/// The reshard that reduces a partial value for this use alone; null if the
/// operand is none.
sdy::ReshardOp settlingReshard(OpOperand &operand) {
  auto reshard = operand.get().getDefiningOp<sdy::ReshardOp>();
  // One before a loop runs once; behind an op in the loop it would not.
  if (!reshard || !reshard->hasOneUse() ||
      reshard->getBlock() != operand.getOwner()->getBlock())
    return nullptr;
  return reducesParts(reshard) ? reshard : nullptr;
}

/// `op` moves the elements of one tensor, or changes each alone.
bool isUnaryPassThrough(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         rule.getPropagationClass() == PropagationClass::PassThrough;
}

/// How far to look for another partial value, in ops.
constexpr int kReach = 4;

/// Partial values of one kind, over the same axes.
struct Parts {
  const AxisList &axes;
  ReductionKind kind;
};

/// The op of `operand` could be computed on parts of it, and its result is no
/// larger.
bool passesOn(OpOperand &operand, ReductionKind kind) {
  Operation *op = operand.getOwner();
  if (op->getNumResults() != 1 || !isPure(op))
    return false;
  auto from = dyn_cast<RankedTensorType>(operand.get().getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  llvm::SmallBitVector partial(op->getNumOperands());
  partial.set(operand.getOperandNumber());
  return from && to && to.getNumElements() <= from.getNumElements() &&
         findOwned(op, kind, partial);
}

/// `operand` is reduced of such parts, or could be computed in such.
bool mayBePartial(OpOperand &operand, const Parts &parts,
                  const MeshScope &scope, int reach = kReach) {
  if (sdy::ReshardOp reshard = settlingReshard(operand)) {
    TensorSharding source = scope.read(reshard.getInput());
    return source.unreduced == parts.axes && source.kind == parts.kind;
  }
  Operation *op = operand.get().getDefiningOp();
  return op && reach > 0 && operand.get().hasOneUse() &&
         llvm::any_of(op->getOpOperands(), [&](OpOperand &next) {
           return passesOn(next, parts.kind) &&
                  mayBePartial(next, parts, scope, reach - 1);
         });
}

/// Behind ops that pass parts on, the only use of `value` is together with
/// another value that may be partial, by an op that takes both.
bool meetsAnother(Value value, const Parts &parts, const MeshScope &scope) {
  for (int reach = kReach; value.hasOneUse() && reach > 0; --reach) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    llvm::SmallBitVector both(user->getNumOperands());
    both.set(use.getOperandNumber());
    for (OpOperand &other : user->getOpOperands())
      if (&other != &use && mayBePartial(other, parts, scope))
        both.set(other.getOperandNumber());
    if (both.count() > 1)
      return findOwned(user, parts.kind, both).has_value();
    if (!passesOn(use, parts.kind))
      return false;
    value = user->getResult(0);
  }
  return false;
}

/// How an op is computed on partial values.
struct DeferredOp {
  enum class Worth { No, Yes, IfMeetsAnother, IfGetsCheaper };
  Worth worth = Worth::No;
  /// The price of the reshards around the op as it is.
  double price = 0;
  /// The shardings of the operands and the result.
  SmallVector<TensorSharding, 0> operands;
  TensorSharding result;
};
/// With the sources as they are, and moved.
using DeferredWays = std::array<DeferredOp, 2>;

/// What the ops of a function share; equal ops have the same ways.
struct DeferralTable {
  void add(sdy::ReshardOp reshard) {
    // It may stand where another one stood.
    erased.erase(reshard);
    made.push_back(reshard);
  }
  void erase(sdy::ReshardOp reshard) {
    erased.insert(reshard);
    reshard.erase();
  }
  void merge(sdy::ReshardOp outer) {
    while (sdy::ReshardOp inner = getNeedlessInner(outer)) {
      outer.getInputMutable().set(inner.getInput());
      erase(inner);
    }
  }
  /// Merges the new ones with those next to them; what there is then.
  std::vector<sdy::ReshardOp> mergeAll(ArrayRef<sdy::ReshardOp> before);

  OpSolvers &solvers;
  ReshardBuilder constants;
  /// The reshards that were made, and those that are gone.
  std::vector<sdy::ReshardOp> made;
  llvm::DenseSet<Operation *> erased;
  CompositeMap<std::unique_ptr<DeferredWays>> known;
};

std::vector<sdy::ReshardOp>
DeferralTable::mergeAll(ArrayRef<sdy::ReshardOp> before) {
  for (sdy::ReshardOp reshard : made) {
    if (erased.contains(reshard))
      continue;
    merge(reshard);
    if (reshard->hasOneUse())
      if (auto outer = dyn_cast<sdy::ReshardOp>(*reshard->user_begin()))
        merge(outer);
  }
  llvm::SetVector<sdy::ReshardOp, std::vector<sdy::ReshardOp>> present;
  for (sdy::ReshardOp reshard : llvm::concat<const sdy::ReshardOp>(
           before, ArrayRef<sdy::ReshardOp>(made)))
    if (!erased.contains(reshard))
      present.insert(reshard);
  return present.takeVector();
}

class OpDeferral {
public:
  OpDeferral(Operation *op, const FactorRule &rule, const MeshScope &scope,
             DeferralTable &table)
      : op(op), rule(rule), scope(scope), table(table),
        solver(table.solvers.get(scope)), deferred(op->getNumOperands()),
        owned(op->getNumOperands()), operands(op->getNumOperands()) {}

  void run();

private:
  using Worth = DeferredOp::Worth;

  bool findDeferrable();
  /// Nothing if the op's form does not tell it from others.
  std::optional<CompositeKey> getKey();
  DeferredWays findWays();
  bool readSources();
  bool moveSources();
  bool computeResult();
  bool makesMore();
  Worth findWorth();
  bool isWorth(const DeferredOp &way);
  bool getsCheaper(double price);
  void defer();

  sdy::ReshardOp reshardOf(unsigned operand) {
    return settlingReshard(op->getOpOperand(operand));
  }
  TensorSharding sourceOf(unsigned operand) {
    return scope.read(reshardOf(operand).getInput());
  }
  /// Adds the price of a reshard; fails if it has no plan.
  LogicalResult addPrice(Type type, const TensorSharding &from,
                         const TensorSharding &to, double &sum);
  /// What it costs that one device alone keeps what it has.
  double ownerPrice();
  /// Operand `i`, of which one device alone keeps what it has.
  Value keepOnOwner(unsigned i);

  Operation *op;
  const FactorRule &rule;
  const MeshScope &scope;
  DeferralTable &table;
  OpSolver &solver;
  llvm::SmallBitVector deferred;
  /// Operands that are whole, and that one device alone is to add.
  llvm::SmallBitVector owned;
  /// The axes and the kind of the deferred operands.
  AxisList axes;
  ReductionKind kind = ReductionKind::Sum;
  /// The price of the reshards around the op as it is.
  double priceBefore = 0;
  /// The shardings of the operands and the result where reductions are
  /// deferred.
  SmallVector<TensorSharding, 0> operands;
  TensorSharding result;
};

void OpDeferral::run() {
  if (!findDeferrable())
    return;
  std::optional<CompositeKey> form = getKey();
  std::unique_ptr<DeferredWays> own;
  std::unique_ptr<DeferredWays> &ways =
      form ? table.known.find(*form).first : own;
  if (!ways)
    ways = std::make_unique<DeferredWays>(findWays());
  for (const DeferredOp &way : *ways) {
    if (!isWorth(way))
      continue;
    operands = way.operands;
    result = way.result;
    return defer();
  }
}

bool OpDeferral::isWorth(const DeferredOp &way) {
  switch (way.worth) {
  case Worth::No:
    return false;
  case Worth::Yes:
    return true;
  case Worth::IfMeetsAnother:
    return meetsAnother(op->getResult(0), {axes, kind}, scope);
  case Worth::IfGetsCheaper:
    return getsCheaper(way.price);
  }
  llvm_unreachable("unknown worth");
}

/// Behind ops that pass the result's parts on, sharded as they are, these are
/// reduced for less than `price`. So what makes a tensor a little larger (a
/// pad) does not keep a sum from what makes it much smaller.
bool OpDeferral::getsCheaper(double price) {
  auto isFree = [&](Value value) {
    return !isa<RankedTensorType>(value.getType()) ||
           llvm::none_of(scope.read(value).dims, [&](const DimSharding &dim) {
             return dim.axes.excludes(axes);
           });
  };
  Value value = op->getResult(0);
  for (int reach = kReach; value.hasOneUse() && reach > 0; --reach) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    llvm::SmallBitVector partial(user->getNumOperands());
    partial.set(use.getOperandNumber());
    auto rule = dyn_cast<ShardingRuleOpInterface>(user);
    if (!rule || user->getBlock() != op->getBlock() || !isPure(user) ||
        user->getNumResults() != 1 || !rule.isLinear(kind, partial) ||
        !llvm::all_of(user->getOperands(), isFree))
      return false;
    value = user->getResult(0);
    TensorSharding present = scope.read(value), parts = present;
    if (!isFree(value) || !present.unreduced.empty())
      return false;
    parts.unreduced = axes;
    parts.kind = kind;
    double after = 0;
    if (failed(addPrice(value.getType(), parts, present, after)))
      return false;
    if (after < price)
      return true;
  }
  return false;
}

std::optional<CompositeKey> OpDeferral::getKey() {
  CompositeKey key;
  if (!table.solvers.appendSignature(op, key))
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    key.add(operand.getType(), sdy::getSharding(operand),
            deferred[i] ? sdy::getSharding(reshardOf(i).getInput()) : nullptr,
            owned[i] + 2 * table.constants.isFree(operand));
    table.solvers.getSignatures().appendConstant(operand, key);
  }
  Value made = op->getResult(0);
  auto next = made.hasOneUse() ? dyn_cast<sdy::ReshardOp>(*made.user_begin())
                               : sdy::ReshardOp();
  key.add(next ? next.getSharding() : nullptr);
  return key;
}

DeferredWays OpDeferral::findWays() {
  DeferredWays ways;
  if (readSources() && computeResult())
    ways[0] = {findWorth(), priceBefore, operands, result};
  if (ways[0].worth != Worth::Yes && moveSources() && computeResult())
    ways[1] = {findWorth(), priceBefore, operands, result};
  return ways;
}

bool OpDeferral::findDeferrable() {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!settlingReshard(operand))
      continue;
    TensorSharding source = sourceOf(operand.getOperandNumber());
    if (deferred.none()) {
      axes = source.unreduced;
      kind = source.kind;
    }
    if (source.unreduced == axes && source.kind == kind)
      deferred.set(operand.getOperandNumber());
  }
  std::optional<llvm::SmallBitVector> found = findOwned(op, kind, deferred);
  if (found)
    owned = *found;
  return found.has_value();
}

bool OpDeferral::readSources() {
  for (unsigned i : deferred.set_bits())
    operands[i] = sourceOf(i);
  return true;
}

bool OpDeferral::moveSources() {
  if (deferred.count() == 1)
    return false;
  for (unsigned i : deferred.set_bits()) {
    operands[i] = scope.read(op->getOperand(i));
    for (const DimSharding &dim : operands[i].dims)
      if (dim.axes.excludes(axes))
        return false;
    operands[i].unreduced = axes;
    operands[i].kind = kind;
  }
  return true;
}

bool OpDeferral::computeResult() {
  OpProblem problem = readProblem(op, rule, scope);
  problem.tensors.back().free = true;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    problem.tensors[i].free = table.constants.isFree(operand);
    if (deferred[i])
      problem.tensors[i].sharding = operands[i];
  }
  FactorStrategy strategy = voteStrategy(problem);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    TensorSharding needed = shardingUnder(strategy, rule, i);
    if (!deferred[i] && !problem.tensors[i].free)
      operands[i] = scope.read(operand);
    else if (!deferred[i])
      operands[i] = needed;
    if (operands[i].dims != needed.dims)
      return false;
    // One that is passed on in parts has the result in these parts already.
    if (!deferred[i] && !operands[i].unreduced.empty())
      return false;
  }
  for (const AxisList &list : strategy)
    if (list.excludes(axes))
      return false;
  result = shardingUnder(strategy, rule, op->getNumOperands());
  if (!result.unreduced.empty() && result.kind != kind)
    return false;
  result.unreduced.append(axes);
  result.unreduced = result.unreduced.sorted();
  result.kind = kind;
  return true;
}

LogicalResult OpDeferral::addPrice(Type type, const TensorSharding &from,
                                   const TensorSharding &to, double &sum) {
  auto tensor = cast<RankedTensorType>(type);
  std::optional<double> price = priceOfReshard(solver, tensor, from, to);
  sum += price.value_or(0);
  return success(price.has_value());
}

double OpDeferral::ownerPrice() {
  double bytes = 0;
  for (unsigned i : owned.set_bits())
    bytes += sdy::getShardBytes(
        cast<RankedTensorType>(op->getOperand(i).getType()), operands[i]);
  // Read and written.
  return solver.prices().computePrice(/*flops=*/0, 2 * bytes);
}

/// On parts a device makes more than it would otherwise, and than it reads: the
/// op repeats whole what it would repeat on its shards alone.
bool OpDeferral::makesMore() {
  auto bytes = [](Value value, const TensorSharding &sharding) {
    return sdy::getShardBytes(cast<RankedTensorType>(value.getType()),
                              sharding);
  };
  Value value = op->getResult(0);
  int64_t most = bytes(value, scope.read(value));
  for (unsigned i : deferred.set_bits())
    most = std::max(most, bytes(op->getOperand(i), operands[i]));
  return bytes(value, result) > most;
}

DeferredOp::Worth OpDeferral::findWorth() {
  if (makesMore())
    return Worth::No;
  double before = 0, after = 0, owning = ownerPrice();
  bool sameDims = true;
  for (unsigned i : deferred.set_bits()) {
    Type type = op->getOperand(i).getType();
    TensorSharding source = sourceOf(i),
                   reduced = scope.read(op->getOperand(i));
    sameDims &= source.dims == reduced.dims;
    if (failed(addPrice(type, source, reduced, before)) ||
        failed(addPrice(type, source, operands[i], after)))
      return Worth::No;
  }
  double settling = before;
  OpResult value = op->getResult(0);
  TensorSharding present = scope.read(value), wanted = present;
  if (value.hasOneUse())
    if (auto next = dyn_cast<sdy::ReshardOp>(*value.user_begin()))
      wanted = scope.read(next.getResult());
  if (failed(addPrice(value.getType(), present, wanted, before)) ||
      failed(addPrice(value.getType(), result, wanted, after)))
    return Worth::No;
  priceBefore = before;
  auto worth = [](bool isWorth, Worth how) {
    return isWorth ? how : Worth::No;
  };
  if (deferred.count() > 1)
    return worth(after + owning < before, Worth::Yes);
  // One reduction alone is deferred, in the hope to meet others, where the op
  // runs on as much data as before; on more, or with an owner, only to meet
  // another, which saves one of the two.
  if (owned.any())
    return worth(sameDims && after + owning < before + settling,
                 Worth::IfMeetsAnother);
  if (sameDims && after > before)
    return Worth::IfGetsCheaper;
  return worth(after <= before && (sameDims || isUnaryPassThrough(op)),
               sameDims ? Worth::Yes : Worth::IfMeetsAnother);
}

Value OpDeferral::keepOnOwner(unsigned i) {
  Value value = op->getOperand(i);
  if (!sdy::getSharding(value))
    sdy::setSharding(value, scope.write(operands[i]));
  TensorSharding after = operands[i];
  after.unreduced = axes;
  after.kind = kind;
  OpBuilder builder(op);
  return sdy::ReplicatedToUnreducedOp::create(
      builder, op->getLoc(), value.getType(), value,
      sdy::AxisRefListAttr::get(op->getContext(),
                                sdy::fromAxisList(axes, scope.getMesh())),
      scope.write(after));
}

void OpDeferral::defer() {
  ReshardBuilder reshards;
  OpResult value = op->getResult(0);
  TensorSharding before = scope.read(value);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    sdy::ReshardOp reduced = deferred[i] ? reshardOf(i) : nullptr;
    Value source = reduced ? reduced.getInput() : operand;
    op->setOperand(i, reshards.get(source, operands[i], scope, op));
    if (owned[i])
      op->setOperand(i, keepOnOwner(i));
    if (reduced)
      table.erase(reduced);
  }
  sdy::setSharding(value, scope.write(result));
  reshards.replaceUses(value, before, scope);
  for (sdy::ReshardOp made : reshards.getMade())
    table.add(made);
}

struct DeferReductionsPass
    : PricedPass<impl::DeferReductionsPassBase<DeferReductionsPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    OpSolvers &solvers = getAnalysis<SharedSolvers>().get(deviceModel, model);
    DeferralTable table{solvers, {}, {}, {}, {}};
    auto &reshards = getAnalysis<sdy::ReshardList>();
    std::vector<sdy::ReshardOp> before(reshards.get());
    if (llvm::any_of(before, reducesParts))
      for (Block &block : getOperation().getBody())
        run(block, table);
    reshards.set(table.mergeAll(before));
    markAnalysesPreserved<sdy::ReshardList>();
  }

  void run(Block &block, DeferralTable &table) {
    // Boundary values may be on the same devices in another order, so the
    // block's first mesh need not be the op's.
    MeshScope scope;
    for (Operation &op : llvm::make_early_inc_range(opsForward(block))) {
      // Regions of an op with a rule are part of what it computes.
      if (op.getNumRegions() != 0 && !isa<ShardingRuleOpInterface>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            run(inner, table);
      if (mayDefer(&op) && succeeded(scope.moveTo(&op)) && !scope.empty())
        if (const FactorRule *rule = table.solvers.getRule(&op))
          OpDeferral(&op, *rule, scope, table).run();
    }
  }

  static bool mayDefer(Operation *op) {
    return llvm::any_of(op->getOpOperands(), settlingReshard) &&
           op->getNumResults() == 1 && isPure(op) &&
           isa<RankedTensorType>(op->getResult(0).getType()) &&
           !isa_and_present<sdy::SdyDialect>(op->getDialect());
  }
};

} // namespace

} // namespace shardonnay
