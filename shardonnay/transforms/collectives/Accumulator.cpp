//===- Accumulator.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/Accumulator.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Invariants.h"

using namespace mlir;

namespace shardonnay {

/// What is reduced for `operand`'s owner, or for others of its block too.
static bool readReduced(OpOperand &operand, CollectivePlanner &planner,
                        ReducedSummand &found) {
  Operation *last = getPlannedCollective(operand.get());
  if (!last || last->getBlock() != operand.getOwner()->getBlock())
    return false;
  ChainStart start = followChain(last->getOperand(0), last, planner);
  sdy::NamedMesh mesh = getNamedMesh(last);
  TensorSharding sharding = mesh.readClosed(start.source);
  if (sharding.unreduced.empty())
    return false;
  found.partial = start.source;
  found.price = start.price + planner.price(last);
  found.cause = getCause(last);
  found.mesh = mesh;
  found.sharding = sharding;
  return true;
}

/// `op` may stand between what is reduced and the addition of what comes of it:
/// if it is linear in one of its operands.
static bool mayBeStep(Operation *op) {
  if (isa<sdy::AllSliceOp>(op))
    return true;
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule && !rule.isContraction() && op->getNumResults() == 1;
}

/// Finds what is reduced for `operand`, and the path from there to it. If
/// `found.partial` is given, that is what it looks for. What these ops touch is
/// not weighed: they rearrange or change elements one by one, which is fused
/// into the addition. So contractions, of which every device would compute
/// more, are no steps.
static bool findReduced(OpOperand &operand, ReductionKind kind,
                        CollectivePlanner &planner, ReducedSummand &found,
                        unsigned depth = 0) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return false;
  if (found.partial ? operand.get() == found.partial
                    : readReduced(operand, planner, found)) {
    found.path.push_back(&operand);
    return found.sharding.kind == kind;
  }
  Operation *op = operand.get().getDefiningOp();
  if (!op || depth == kMostLinearSteps || !mayBeStep(op) ||
      op->getBlock() != operand.getOwner()->getBlock())
    return false;
  for (OpOperand &next : op->getOpOperands())
    if ((isa<sdy::AllSliceOp>(op) || isLinearIn(next, kind)) &&
        findReduced(next, kind, planner, found, depth + 1)) {
      found.path.push_back(&operand);
      return true;
    }
  return false;
}

/// No run changes what `op` reads besides `operand`, so that what moves it is
/// hoisted.
static bool readsInvariants(Operation *op, const OpOperand &operand,
                            Invariants &invariants) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
    return &other == &operand || invariants.contain(other.get());
  });
}

/// How the ops between are computed on parts; false if one can't be.
static bool reshardSteps(ReducedSummand &summand, Operation *loop,
                         CollectivePlanner &planner) {
  Value source = summand.partial;
  Invariants invariants(loop);
  for (OpOperand *operand : ArrayRef(summand.path).drop_back()) {
    Operation *op = operand->getOwner();
    if (isa<sdy::AllSliceOp>(op)) {
      summand.steps.emplace_back();
      continue;
    }
    std::optional<ReshardedOp> resharded = ReshardedOp::get(op, summand.mesh);
    if (!resharded ||
        !resharded->replaceOperand(operand->getOperandNumber(), source,
                                   summand.sharding) ||
        !resharded->plan(planner))
      return false;
    summand.sharding = resharded->getResult();
    (readsInvariants(op, *operand, invariants) ? summand.hoistedPrice
                                               : summand.stepPrice) +=
        resharded->operandPrice();
    summand.steps.push_back(std::move(resharded));
    source = op->getResult(0);
  }
  return true;
}

/// The owner of `carried`, which adds `summand` to it or updates a slice of it
/// with that, leaves parts of it where it has parts of both: as all additions
/// before do.
static bool readSummand(OpOperand &carried, OpOperand &summand,
                        ReductionKind kind, Accumulator &found,
                        ReducedSummand read, CollectivePlanner &planner) {
  if (!isLinearInBoth(carried, summand, kind) ||
      !findReduced(summand, kind, planner, read) ||
      !reshardSteps(read, found.init->getOwner(), planner))
    return false;
  Operation *op = carried.getOwner();
  std::optional<ReshardedOp> sum = ReshardedOp::get(op, read.mesh);
  if (!sum || !sum->passParts(carried.getOperandNumber(),
                              summand.getOperandNumber(), read.sharding))
    return false;
  if (found.summands.empty()) {
    found.mesh = read.mesh;
    found.sharding = sum->getResult();
  } else if (read.mesh.mesh != found.mesh.mesh ||
             sum->getResult() != found.sharding) {
    return false;
  }
  found.summands.push_back(std::move(read));
  found.additions.push_back(op);
  return true;
}

/// Each run makes what it leaves of the carried value, by additions one after
/// another.
static bool readAdditions(ReductionKind kind, Accumulator &found,
                          const ReducedSummand *given,
                          CollectivePlanner &planner) {
  for (OpOperand *carried : found.followSum()) {
    ReducedSummand read = given ? *given : ReducedSummand();
    if ((given && !found.summands.empty()) ||
        llvm::none_of(
            carried->getOwner()->getOpOperands(), [&](OpOperand &summand) {
              return readSummand(*carried, summand, kind, found, read, planner);
            }))
      return false;
  }
  return !found.summands.empty();
}

/// `user` makes parts of the carried value, and `summand` is what each run then
/// makes of these, op by op, in parts: an inner loop adds to them, or several
/// ops do.
static bool isGivenInParts(const Accumulator &found,
                           const ReducedSummand &summand) {
  if (!isa<sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>(found.user))
    return false;
  const sdy::NamedMesh &mesh = summand.mesh;
  Value parts = found.user->getResult(0);
  while (parts != summand.partial) {
    if (!parts.hasOneUse() || mesh.readClosed(parts) != summand.sharding)
      return false;
    OpOperand &use = *parts.use_begin();
    Operation *op = use.getOwner();
    Value owner = getEdgeOwner(use);
    if (op->getBlock() != found.user->getBlock() ||
        (!owner && op->getNumResults() != 1))
      return false;
    parts = owner ? owner : op->getResult(0);
  }
  return mesh.readClosed(parts) == summand.sharding;
}

/// What each run reduces is the carried value and what it has added to that in
/// parts.
static bool readSumInParts(Accumulator &found, CollectivePlanner &planner) {
  ReducedSummand summand;
  if (!readReduced(*found.next, planner, summand) ||
      !isGivenInParts(found, summand))
    return false;
  summand.path = {found.next};
  found.mesh = summand.mesh;
  found.sharding = summand.sharding;
  found.summands.push_back(std::move(summand));
  return true;
}

std::optional<Accumulator> readAccumulator(ShardableDataFlowOpInterface loop,
                                           Value owner,
                                           CollectivePlanner &planner,
                                           const ReducedSummand *given) {
  if (!isa<RankedTensorType>(owner.getType()) || loop.getManualBoundary(owner))
    return std::nullopt;
  std::optional<CarriedValue> value = readCarried(loop, owner);
  if (!value)
    return std::nullopt;
  Accumulator found;
  static_cast<CarriedValue &>(found) = *value;
  for (ReductionKind kind :
       {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min})
    if (Accumulator read = found; readAdditions(kind, read, given, planner))
      return read;
  if (!given && readSumInParts(found, planner))
    return found;
  return std::nullopt;
}

} // namespace shardonnay
