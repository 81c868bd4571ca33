//===- TrimNonDivisibleShardings.cpp --------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each result of an op, keep of each open dim the major axes whose
//    product divides it.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_TRIMNONDIVISIBLESHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

static void trim(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  sdy::TensorShardingAttr attr = sdy::getSharding(value);
  if (!type || !attr)
    return;
  sdy::MeshAttr mesh = sdy::getMesh(value.getDefiningOp(), attr);
  TensorSharding sharding = sdy::toSharding(attr, mesh);
  for (auto [dim, size] : llvm::zip(sharding.dims, type.getShape()))
    if (!dim.closed)
      dim.axes = dim.axes.prefixDividing(size);
  if (sharding != sdy::toSharding(attr, mesh))
    sdy::setSharding(value,
                     sdy::fromSharding(sharding, attr.getMeshOrRef(), mesh));
}

namespace {
struct TrimNonDivisibleShardingsPass
    : impl::TrimNonDivisibleShardingsPassBase<TrimNonDivisibleShardingsPass> {
protected:
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      for (Value result : op->getResults())
        trim(result);
    });
  }
};
} // namespace

} // namespace shardonnay
