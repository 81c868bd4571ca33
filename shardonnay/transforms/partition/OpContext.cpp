//===- OpContext.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OpContext.h"

#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/report/OpAlternative.h"

namespace shardonnay {

using namespace mlir;

static sdy::AxisRefListAttr toAttr(OpBuilder &builder, const AxisList &axes,
                                   const Placer &placer) {
  return sdy::AxisRefListAttr::get(builder.getContext(),
                                   fromAxisList(axes, placer.mesh()));
}

Value OpContext::deviceIndex(OpBuilder &builder, Location loc,
                             const AxisList &list) {
  return spmd::DeviceIndexOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI32Type()),
      placer.meshName(), toAttr(builder, list, placer));
}

Value OpContext::fillEnd(OpBuilder &builder, Location loc, Value tensor,
                         int64_t dim, int64_t globalSize, const AxisList &list,
                         Value fill) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  return buildWindow(builder, loc, tensor, fill, placer,
                     {dim, globalSize, /*start=*/0, /*step=*/size, size, list,
                      list, /*periodic=*/false});
}

static std::string causeOf(Operation *op, const FactorRule &rule,
                           const FactorWindow &window, int64_t dim) {
  std::string name = "'" + op->getName().getStringRef().str() + "'";
  if (window.kind == WindowKind::Retiled)
    return name + " makes of dim " + std::to_string(dim) + " of result " +
           std::to_string(window.tensor - rule.operands.size()) +
           " in whole rows, then in even shards";
  return name + " sees of dim " + std::to_string(dim) + " of operand " +
         std::to_string(window.tensor) + " beyond its shard";
}

void OpContext::setCause(Operation *made, const Twine &what,
                         llvm::StringRef other) {
  std::string text = (kFetchCause + what).str();
  if (others)
    text += ("; " + (other.empty() ? alternative() : other)).str();
  made->setAttr(sdy::kCauseAttr, StringAttr::get(made->getContext(), text));
}

Value OpContext::fetchWindow(OpBuilder &builder, Location loc, Value tensor,
                             const FactorWindow &window,
                             const ShardWindow &shard, Value fill) {
  int64_t dim = opRule.tensor(window.tensor).dimOf(window.factor);
  const AxisList &list = axes[window.factor];
  auto local = cast<RankedTensorType>(tensor.getType());
  Window fetch = {dim,        shard.globalSize, shard.start,
                  shard.step, shard.size,       list,
                  list,       window.periodic};
  if (list.numShards() > 1 && isTakenFromWhole(op, opRule, window.tensor))
    if (Value taken =
            buildWindowOfWhole(builder, loc, tensor, fill, placer, fetch))
      return taken;
  if (list.numShards() > 1)
    reportGather(local, dim,
                 {sdy::toMesh(placer.mesh()), list, list, local.getDimSize(dim),
                  shard.globalSize, shard.start, shard.step, shard.size,
                  window.periodic});
  Value fetched = buildWindow(builder, loc, tensor, fill, placer, fetch);
  if (fetched != tensor && list.numShards() > 1)
    setCause(fetched.getDefiningOp(), causeOf(op, opRule, window, dim));
  return fetched;
}

void OpContext::reportGather(RankedTensorType local, int64_t dim,
                             const WindowProblem &problem) {
  // Other windows are of what the devices made themselves.
  bool isOperand = llvm::any_of(op->getOperandTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == local.getRank() &&
           tensor.getDimSize(dim) == problem.globalSize;
  });
  auto windows = llvm::seq<int64_t>(problem.windowAxes.numShards());
  bool needsAll = llvm::any_of(windows, [&](int64_t window) {
    Interval inside = problem.inside(window);
    return inside.limit - inside.start >= problem.globalSize;
  });
  if (!isOperand || !needsAll || problem.globalSize < 2 ||
      local.getNumElements() == 0)
    return;
  int64_t received = 0;
  for (const WindowProblem &part : withoutUnevenPeriods(problem))
    received += costOfWindows(part).received;
  int64_t bytes = sdy::getElementBytes(local) * local.getNumElements() /
                  problem.localSize * received;
  // At the location: what an op emits, MLIR prints the op with, and numbers all
  // of the function for that.
  InFlightDiagnostic diagnostic =
      forbidsGathers ? emitError(op->getLoc()) : emitWarning(op->getLoc());
  diagnostic << "op '" << op->getName() << "' cannot be computed sharded along "
             << "dim " << dim << ": a window is all of its "
             << problem.globalSize << " positions, and gathers " << bytes
             << " bytes per device; shard another dim";
  forbiddenGather |= forbidsGathers;
}

Value OpContext::allReduce(OpBuilder &builder, Location loc, Value tensor,
                           const AxisList &list) {
  auto reduce = spmd::AllReduceOp::create(builder, loc, tensor.getType(),
                                          tensor, placer.meshName(),
                                          toAttr(builder, list, placer));
  bool isWhole = llvm::any_of(opRule.sums,
                              [](const FactorSum &sum) { return sum.isWhole; });
  setCause(reduce,
           "'" + op->getName().getStringRef() + "' adds up over devices",
           isWhole ? "no other plan: all have what one of them computes" : "");
  return reduce;
}

Value OpContext::allGather(OpBuilder &builder, Location loc, Value tensor,
                           const AxisList &list) {
  auto local = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(local.getShape());
  shape[0] *= list.numShards();
  auto gather = spmd::AllGatherOp::create(builder, loc, local.clone(shape),
                                          tensor, /*dim=*/0, placer.meshName(),
                                          toAttr(builder, list, placer));
  setCause(gather,
           "'" + op->getName().getStringRef() + "' finds on each device");
  return gather;
}

} // namespace shardonnay
