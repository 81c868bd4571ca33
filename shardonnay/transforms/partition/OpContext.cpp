//===- OpContext.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OpContext.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Pieces.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/transforms/partition/LocalCollectives.h"

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

Value OpContext::fetchWindow(OpBuilder &builder, Location loc, Value tensor,
                             int64_t dim, int64_t globalSize,
                             const AxisList &list, int64_t start, int64_t step,
                             int64_t size, Value fill) {
  auto local = cast<RankedTensorType>(tensor.getType());
  if (list.numShards() > 1)
    reportGather(local, dim,
                 {sdy::toMesh(placer.mesh()), list, list, local.getDimSize(dim),
                  globalSize, start, step, size});
  return buildWindow(builder, loc, tensor, fill, placer,
                     {dim, globalSize, start, step, size, list, list});
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
    return problem.inside(window) == Interval{0, problem.globalSize};
  });
  if (!isOperand || !needsAll || problem.globalSize < 2 ||
      local.getNumElements() == 0)
    return;
  int64_t bytes = sdy::getElementBytes(local) * local.getNumElements() /
                  problem.localSize * planWindows(problem).received(problem);
  InFlightDiagnostic diagnostic =
      forbidsGathers ? op->emitError() : op->emitWarning();
  diagnostic << "op '" << op->getName() << "' cannot be computed sharded along "
             << "dim " << dim << ": a window is all of its "
             << problem.globalSize << " positions, and gathers " << bytes
             << " bytes per device; shard another dim";
  forbiddenGather |= forbidsGathers;
}

Value OpContext::allReduce(OpBuilder &builder, Location loc, Value tensor,
                           const AxisList &list) {
  return spmd::AllReduceOp::create(builder, loc, tensor.getType(), tensor,
                                   placer.meshName(),
                                   toAttr(builder, list, placer));
}

} // namespace shardonnay
