//===- Rematerialize.cpp - makes twice what waits long --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If more is alive than the limit, what is computed together with its only
// reader first moves there (analysis/FusedChains.h): it is in no memory, but
// what it reads is. Then, while more is alive than the limit:
//
// 1. findWaiting: what is alive at the peak, is not needed there, and can be
//    made where it is used next: computed from what is there anyway or is
//    smaller, or moved. First what is only computed, then what is sent once,
//    then what every run of a loop would send; of each what frees most.
// 2. rematerialize, for as many as bring the peak under the limit: copies of
//    the ops stand before that use, which the uses from there on read. They
//    read their operands behind barriers, or engines would merge the two again.
//    What then has no use goes.
//
// The peak of a loop is in its body, and what was moved before it to be moved
// once (transforms/collectives/HoistCollectives.cpp) waits in all of its runs.
// There the next use is the one behind the peak, then that before it, of the
// next run, and then that behind the loop: each gets a copy. Nothing is sent in
// a loop or a branch which devices may run more or less often than others.
//
// It ends: a copy stands right before its first use, so that it waits only
// between uses, of which each step parts two. Uses by copies of other ops do
// not count: of two values that are computed of one another each would be there
// for the other one's next copy forever. What has no use before the peak is
// moved instead, and moved again only if the peak is lower by then: two
// operands of one op would change places forever. And there are no more steps
// than ops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/FusedChains.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/partition/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// How many ops are computed again for one value.
constexpr size_t kMostOps = 16;

/// A value that nothing at the peak needs.
struct Waiting {
  Operation *producer = nullptr;
  /// What is computed again: the producer, and what made of its operands is not
  /// there otherwise.
  llvm::SmallSetVector<Operation *, 4> ops;
  /// Those that need it next, the last first: each gets a copy.
  SmallVector<Operation *, 3> users;
  int64_t freed = 0;
  /// Something before the peak needs it.
  bool isUsedBefore = false;
  /// Some copy stands in a loop.
  bool isInLoop = false;
};

/// It is moved, or each of its elements is a function of a few elements of
/// operands: that takes hardly longer than to read what was kept.
bool mayRematerialize(Operation *op) {
  if (isMove(op))
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

int64_t countUses(Operation *op) {
  return std::distance(op->use_begin(), op->use_end());
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

/// An argument that is another in each run of the loop that `block` is in; null
/// if there is none.
Value findChanging(Block *block) {
  Operation *loop = block->getParentOp();
  if (isLoop(loop))
    for (BlockArgument argument : block->getArguments())
      if (isa<RankedTensorType>(argument.getType()) &&
          !getInvariantSource(argument, loop))
        return argument;
  return nullptr;
}

/// The block in `peak`, the innermost one around `innermost`, in which all that
/// reads `value` in `peak` is.
Block *findReadingBlock(Value value, Operation *peak, Operation *innermost) {
  Block *block = innermost->getBlock();
  for (OpOperand &use : value.getUses())
    if (peak->isAncestor(use.getOwner()))
      while (block != peak->getBlock() && !findUser(use, block))
        block = block->getParentOp()->getBlock();
  return block;
}

/// All devices run `block` equally often in one run of `outer`, which is around
/// it: between them are loops whose trip counts are constants.
bool runEqually(Block *block, Block *outer) {
  for (; block != outer; block = block->getParentOp()->getBlock())
    if (!isLoop(block->getParentOp()) || !sdy::getTrips(&block->front()).known)
      return false;
  return true;
}

/// The result of the op before `user`, apart from `producer`, which is not to
/// be waited for, and from those that stand here to be rematerialized; at the
/// begin of a loop's body what changes there; null if there is none. As it was
/// alive there, it costs nothing to wait for it.
Value lastMadeBefore(Operation *user, Operation *producer) {
  Block *block = user->getBlock();
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
  return findChanging(block);
}

/// What is computed together with the only op that reads it stands before that
/// op, so that its operands are seen to be read there.
void standBeforeReaders(Block &block) {
  FusedChains chains(block);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.getNumResults() != 1 || op.getNumOperands() == 0 ||
        !op.getResult(0).hasOneUse() || chains.isInMemory(op.getResult(0)))
      continue;
    Operation *reader = *op.getResult(0).user_begin();
    if (reader->getBlock() == &block)
      op.moveBefore(reader);
  }
}

class Rematerializer {
public:
  Rematerializer(ModuleOp module, int64_t limit)
      : module(module), limit(limit) {}

  void run(int64_t mostSteps);

private:
  SmallVector<Waiting> findWaiting(const PeakMemory &peak);
  std::optional<Waiting> readWaiting(Value value, Operation *innermost);
  /// Finds the ops of `waiting`, if they are computed from `user` on, and
  /// returns the bytes that are alive longer for them.
  int64_t findOps(Waiting &waiting, Operation *peak, Operation *user) const;
  /// The last copy of `value` that is there at `op`, or itself.
  Value lastBefore(Value value, Operation *op) const;
  void rematerialize(const Waiting &waiting);
  /// By copies, or the producer itself moves there.
  void rematerializeBefore(Operation *user, const Waiting &waiting, bool moves);

  ModuleOp module;
  int64_t limit;
  /// The peak of the program as it was last read, and as it was when an op was
  /// moved.
  int64_t peakBytes = 0;
  DenseMap<Operation *, int64_t> movedAt;
  /// How many times more what an op makes may get copies.
  DenseMap<Operation *, int64_t> usesLeft;
  /// The copies of a value, and for a copy the value.
  DenseMap<Value, SmallVector<Value, 1>> copies;
  DenseMap<Value, Value> originals;
};

Value Rematerializer::lastBefore(Value value, Operation *op) const {
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

/// The users of `value` behind `op`, in its block, and before it: of each the
/// first.
std::pair<Operation *, Operation *> findUsersAround(Value value,
                                                    Operation *op) {
  Operation *behind = nullptr, *before = nullptr;
  for (OpOperand &use : value.getUses())
    if (Operation *user = findUser(use, op->getBlock()); user && user != op) {
      Operation *&first = op->isBeforeInBlock(user) ? behind : before;
      if (!first || user->isBeforeInBlock(first))
        first = user;
    }
  return {behind, before};
}

bool isReadBy(Value value, Operation *op) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return findUser(use, op->getBlock()) == op;
  });
}

std::optional<Waiting> Rematerializer::readWaiting(Value value,
                                                   Operation *innermost) {
  Operation *producer = value.getDefiningOp();
  Operation *peak =
      producer ? producer->getBlock()->findAncestorOpInBlock(*innermost)
               : nullptr;
  if (!peak || producer == peak || !mayRematerialize(producer))
    return std::nullopt;
  Waiting waiting;
  waiting.producer = producer;
  auto [behind, before] = findUsersAround(value, peak);
  waiting.isUsedBefore = before != nullptr;
  if (behind)
    waiting.users.push_back(behind);
  if (isReadBy(value, peak)) {
    Block *block = findReadingBlock(value, peak, innermost);
    Operation *inside = block->findAncestorOpInBlock(*innermost);
    if (isReadBy(value, inside) ||
        (isMove(producer) && !runEqually(block, peak->getBlock())))
      return std::nullopt;
    auto [next, first] = findUsersAround(value, inside);
    for (Operation *user : {next, first})
      if (user)
        waiting.users.push_back(user);
    waiting.isInLoop = true;
  }
  auto moved = movedAt.find(producer);
  auto left = usesLeft.find(producer);
  if (waiting.users.empty() || (left != usesLeft.end() && left->second <= 0) ||
      (!waiting.isUsedBefore && !waiting.isInLoop && moved != movedAt.end() &&
       moved->second <= peakBytes))
    return std::nullopt;
  waiting.freed = byteSize(value.getType()) -
                  findOps(waiting, peak, waiting.isInLoop ? peak : behind);
  if (waiting.freed <= 0)
    return std::nullopt;
  return waiting;
}

int64_t Rematerializer::findOps(Waiting &waiting, Operation *peak,
                                Operation *user) const {
  Block *block = waiting.producer->getBlock();
  auto isThere = [&](Value value) {
    return value.getParentBlock() != block || isa<BlockArgument>(value) ||
           isUsedFrom(value, user) ||
           peak->isBeforeInBlock(value.getDefiningOp());
  };
  // What only moves takes nothing with it.
  size_t most = waiting.isUsedBefore || waiting.isInLoop ? kMostOps : 1;
  llvm::SmallSetVector<Value, 4> kept;
  waiting.ops.insert(waiting.producer);
  for (size_t i = 0; i < waiting.ops.size(); ++i)
    for (Value operand : waiting.ops[i]->getOperands()) {
      Value last = lastBefore(operand, user);
      Operation *producer = operand.getDefiningOp();
      if (isThere(last) || waiting.ops.contains(producer))
        continue;
      if (waiting.ops.size() < most && !isMove(producer) &&
          mayRematerialize(producer))
        waiting.ops.insert(producer);
      else
        kept.insert(last);
    }
  int64_t bytes = 0;
  for (Value value : kept)
    bytes += byteSize(value.getType());
  return bytes;
}

SmallVector<Waiting> Rematerializer::findWaiting(const PeakMemory &peak) {
  SmallVector<Waiting> found;
  if (peak.op)
    for (Value value : peak.live)
      if (std::optional<Waiting> waiting = readWaiting(value, peak.op))
        found.push_back(*waiting);
  auto order = llvm::to_vector(llvm::seq<size_t>(found.size()));
  auto rank = [&](size_t i) {
    return std::tuple(isMove(found[i].producer), found[i].isInLoop,
                      -found[i].freed, i);
  };
  llvm::sort(order, [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return llvm::map_to_vector(order, [&](size_t i) { return found[i]; });
}

void Rematerializer::rematerialize(const Waiting &waiting) {
  Operation *producer = waiting.producer;
  if (!waiting.isUsedBefore && !waiting.isInLoop) {
    movedAt[producer] = peakBytes;
    return producer->moveBefore(waiting.users.front());
  }
  --usesLeft.try_emplace(producer, countUses(producer)).first->second;
  for (Operation *user : waiting.users)
    rematerializeBefore(user, waiting,
                        /*moves=*/!waiting.isUsedBefore &&
                            user == waiting.users.back());
}

void Rematerializer::rematerializeBefore(Operation *user,
                                         const Waiting &waiting, bool moves) {
  Operation *producer = waiting.producer;
  OpBuilder builder(user);
  Value after = lastMadeBefore(user, producer);
  IRMapping made;
  for (Operation *op : waiting.ops)
    for (Value operand : op->getOperands())
      if (!made.contains(operand) &&
          !waiting.ops.contains(operand.getDefiningOp())) {
        Value last = lastBefore(operand, user);
        made.map(operand, spmd::BarrierOp::create(builder, last.getLoc(),
                                                  last.getType(), last, after));
      }
  SmallVector<Operation *> ops = llvm::to_vector(waiting.ops);
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ArrayRef(ops).drop_back())
    usesLeft[builder.clone(*op, made)] = 0;
  Operation *again = moves ? producer : builder.clone(*producer);
  again->moveBefore(user);
  for (OpOperand &operand : again->getOpOperands())
    operand.set(made.lookup(operand.get()));
  auto cause = again->getAttrOfType<StringAttr>(sdy::kCauseAttr);
  if (StringRef more = "; again, for the limit of memory";
      cause && !cause.getValue().ends_with(more))
    again->setAttr(sdy::kCauseAttr,
                   builder.getStringAttr(cause.getValue() + more));
  if (moves)
    return;
  Value value = producer->getResult(0);
  value.replaceUsesWithIf(again->getResult(0), [&](OpOperand &use) {
    Operation *reader = findUser(use, user->getBlock());
    return reader && !reader->isBeforeInBlock(user);
  });
  Value original = originals.lookup_or(value, value);
  usesLeft[again] = countUses(again);
  copies[original].push_back(again->getResult(0));
  originals[again->getResult(0)] = original;
}

void Rematerializer::run(int64_t mostSteps) {
  PeakMemory whole = findPeakMemory(module);
  // What can't be met is no reason to move or to send more.
  if (whole.bytes <= limit || whole.held > limit)
    return;
  module.walk([](Block *block) { standBeforeReaders(*block); });
  for (int64_t steps = 0; steps < mostSteps;) {
    PeakMemory peak = findPeakMemory(module);
    peakBytes = peak.bytes;
    if (peak.held > limit)
      return;
    int64_t before = steps;
    bool computed = false;
    for (const Waiting &found : findWaiting(peak)) {
      bool sends = isMove(found.producer);
      // What it takes to compute again is an upper bound.
      if (peak.bytes <= limit || (sends && computed))
        break;
      // Those before it may have changed that.
      std::optional<Waiting> waiting =
          readWaiting(found.producer->getResult(0), peak.op);
      if (!waiting)
        continue;
      rematerialize(*waiting);
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
      Rematerializer(getOperation(), memoryLimit)
          .run(getAnalysis<ProgramOps>().size());
  }
};

} // namespace

} // namespace shardonnay
