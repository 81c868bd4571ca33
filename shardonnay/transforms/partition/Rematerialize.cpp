//===- Rematerialize.cpp - makes twice what waits long --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While more is alive than the limit:
//
// 1. findWaiting: what is alive at the peak, is not needed there, and can be
//    made where it is used next: computed from what is there anyway or is
//    smaller, or gathered. First what is only computed, then what frees most.
// 2. makeBefore, for as many as bring the peak under the limit: a copy of the
//    op stands before that use, which the uses from there on read. It reads its
//    operands behind barriers, or engines would merge the two again. What then
//    has no use goes.
//
// It ends: a copy stands right before its first use, so that it waits only
// between uses, of which each step parts two. What has no use before the peak
// is moved instead, and moved again only if the peak is lower by then: two
// operands of one op would change places forever. And there are no more steps
// than ops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// A value that nothing at the peak needs.
struct Waiting {
  Operation *producer = nullptr;
  /// In its block, the one that needs it next.
  Operation *user = nullptr;
  int64_t freed = 0;
  /// Something before the peak needs it.
  bool isUsedBefore = false;
};

/// It is gathered, or each of its elements is a function of a few elements of
/// operands: that takes hardly longer than to read what was kept.
bool mayRematerialize(Operation *op) {
  if (isa<spmd::AllGatherOp>(op))
    return true;
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruleOp || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      op->getNumOperands() == 0 || !isMemoryEffectFree(op) ||
      ruleOp.isContraction() || ruleOp.getTransformFlops() != 0)
    return false;
  std::optional<FactorRule> rule = ruleOp.getFactorRule();
  return rule && !rule->custom && llvm::all_of(rule->factors, [](auto &factor) {
           return factor.kind == FactorKind::PassThrough;
         });
}

/// The op of `block` that `use` is in; null if it is in none.
Operation *findUser(OpOperand &use, Block *block) {
  return block->findAncestorOpInBlock(*use.getOwner());
}

bool isUsedFrom(Value value, Operation *op) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = findUser(use, op->getBlock());
    // Around the block it may be used later.
    return !user || !user->isBeforeInBlock(op);
  });
}

/// The result of the op before `user`, apart from `producer`, which is not to
/// be waited for, and from those that stand here to be rematerialized; null if
/// there is none. As it was alive there, it costs nothing to wait for it.
Value lastMadeBefore(Operation *user, Operation *producer) {
  while ((user = user->getPrevNode()))
    if (user != producer && user->getNumResults() > 0 &&
        user->getNumOperands() > 0 &&
        !llvm::any_of(user->getOperands(),
                      [](Value operand) {
                        return operand.getDefiningOp<spmd::BarrierOp>() !=
                               nullptr;
                      }) &&
        !isa<spmd::BarrierOp>(user) &&
        isa<RankedTensorType>(user->getResult(0).getType()))
      return user->getResult(0);
  return nullptr;
}

class ValueRemaker {
public:
  ValueRemaker(ModuleOp module, int64_t limit) : module(module), limit(limit) {}

  void run(int64_t mostSteps);

private:
  SmallVector<Waiting> findWaiting(const PeakMemory &peak);
  std::optional<Waiting> readWaiting(Value value, Operation *innermost);
  /// What a copy before the user reads.
  llvm::SmallSetVector<Value, 4> findOperands(const Waiting &waiting) const;
  /// The last copy of `value` that is there at `op`, or itself.
  Value lastBefore(Value value, Operation *op) const;
  void makeBefore(const Waiting &waiting);

  ModuleOp module;
  int64_t limit;
  /// The peak of the program as it was last read, and as it was when an op was
  /// moved.
  int64_t peakBytes = 0;
  DenseMap<Operation *, int64_t> movedAt;
  /// The copies of a value, and for a copy the value.
  DenseMap<Value, SmallVector<Value, 1>> copies;
  DenseMap<Value, Value> originals;
};

Value ValueRemaker::lastBefore(Value value, Operation *op) const {
  if (auto barrier = value.getDefiningOp<spmd::BarrierOp>())
    value = barrier.getTensor();
  Value original = originals.lookup_or(value, value);
  auto known = copies.find(original);
  Operation *last = nullptr;
  if (known != copies.end())
    for (Value made : known->second) {
      Operation *copy = made.getDefiningOp();
      if (copy->getBlock() == op->getBlock() && copy->isBeforeInBlock(op) &&
          (!last || last->isBeforeInBlock(copy)))
        last = copy;
    }
  return last ? last->getResult(0) : value;
}

std::optional<Waiting> ValueRemaker::readWaiting(Value value,
                                                 Operation *innermost) {
  Operation *producer = value.getDefiningOp();
  Operation *peak =
      producer ? producer->getBlock()->findAncestorOpInBlock(*innermost)
               : nullptr;
  if (!peak || producer == peak)
    return std::nullopt;
  Waiting waiting{producer, nullptr, byteSize(value.getType())};
  for (OpOperand &use : value.getUses()) {
    Operation *user = findUser(use, peak->getBlock());
    if (user == peak)
      return std::nullopt;
    if (!peak->isBeforeInBlock(user))
      waiting.isUsedBefore = true;
    else if (!waiting.user || user->isBeforeInBlock(waiting.user))
      waiting.user = user;
  }
  auto moved = movedAt.find(producer);
  if (!waiting.user || (!waiting.isUsedBefore && moved != movedAt.end() &&
                        moved->second <= peakBytes))
    return std::nullopt;
  for (Value operand : findOperands(waiting))
    if (operand.getParentBlock() == producer->getBlock() &&
        !isa<BlockArgument>(operand) && !isUsedFrom(operand, waiting.user) &&
        !peak->isBeforeInBlock(operand.getDefiningOp()))
      waiting.freed -= byteSize(operand.getType());
  if (waiting.freed <= 0 || !mayRematerialize(producer))
    return std::nullopt;
  return waiting;
}

llvm::SmallSetVector<Value, 4>
ValueRemaker::findOperands(const Waiting &waiting) const {
  llvm::SmallSetVector<Value, 4> operands;
  for (Value operand : waiting.producer->getOperands())
    operands.insert(lastBefore(operand, waiting.user));
  return operands;
}

SmallVector<Waiting> ValueRemaker::findWaiting(const PeakMemory &peak) {
  SmallVector<Waiting> found;
  if (peak.op)
    for (Value value : peak.live)
      if (std::optional<Waiting> waiting = readWaiting(value, peak.op))
        found.push_back(*waiting);
  auto order = llvm::to_vector(llvm::seq<size_t>(found.size()));
  auto rank = [&](size_t i) {
    return std::tuple(isa<spmd::AllGatherOp>(found[i].producer),
                      -found[i].freed, i);
  };
  llvm::sort(order, [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return llvm::map_to_vector(order, [&](size_t i) { return found[i]; });
}

void ValueRemaker::makeBefore(const Waiting &waiting) {
  if (!waiting.isUsedBefore) {
    movedAt[waiting.producer] = peakBytes;
    return waiting.producer->moveBefore(waiting.user);
  }
  Value value = waiting.producer->getResult(0);
  OpBuilder builder(waiting.user);
  Value after = lastMadeBefore(waiting.user, waiting.producer);
  IRMapping behind;
  for (Value operand : waiting.producer->getOperands()) {
    Value last = lastBefore(operand, waiting.user);
    if (!behind.contains(operand))
      behind.map(operand, spmd::BarrierOp::create(builder, last.getLoc(),
                                                  last.getType(), last, after));
  }
  Operation *again = builder.clone(*waiting.producer, behind);
  auto cause = again->getAttrOfType<StringAttr>(sdy::kCauseAttr);
  if (StringRef more = "; again, for the limit of memory";
      cause && !cause.getValue().ends_with(more))
    again->setAttr(sdy::kCauseAttr,
                   builder.getStringAttr(cause.getValue() + more));
  value.replaceUsesWithIf(again->getResult(0), [&](OpOperand &use) {
    return !findUser(use, waiting.user->getBlock())
                ->isBeforeInBlock(waiting.user);
  });
  Value original = originals.lookup_or(value, value);
  copies[original].push_back(again->getResult(0));
  originals[again->getResult(0)] = original;
}

void ValueRemaker::run(int64_t mostSteps) {
  for (int64_t steps = 0; steps < mostSteps;) {
    PeakMemory peak = findPeakMemory(module);
    peakBytes = peak.bytes;
    // What can't be met is no reason to send more.
    if (peak.held > limit)
      return;
    int64_t before = steps;
    bool computed = false;
    for (const Waiting &found : findWaiting(peak)) {
      bool sends = isa<spmd::AllGatherOp>(found.producer);
      // What it takes to compute again is an upper bound.
      if (peak.bytes <= limit || (sends && computed))
        break;
      // Those before it may have changed that.
      std::optional<Waiting> waiting =
          readWaiting(found.producer->getResult(0), peak.op);
      if (!waiting)
        continue;
      makeBefore(*waiting);
      peak.bytes -= waiting->freed;
      computed = !sends;
      ++steps;
    }
    if (steps == before)
      return;
  }
}

struct RematerializePass : impl::RematerializePassBase<RematerializePass> {
  using RematerializePassBase::RematerializePassBase;

  void runOnOperation() override {
    if (memoryLimit > 0)
      ValueRemaker(getOperation(), memoryLimit)
          .run(getAnalysis<ProgramOps>().size());
  }
};

} // namespace

} // namespace shardonnay
