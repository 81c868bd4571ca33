//===- OpContext.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OpContext.h"

#include "shardonnay/dialect/sdy/Conversion.h"
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
  return buildWindow(builder, loc, tensor, fill, placer,
                     {dim, globalSize, start, step, size, list, list});
}

Value OpContext::allReduce(OpBuilder &builder, Location loc, Value tensor,
                           const AxisList &list) {
  return spmd::AllReduceOp::create(builder, loc, tensor.getType(), tensor,
                                   placer.meshName(),
                                   toAttr(builder, list, placer));
}

} // namespace shardonnay
