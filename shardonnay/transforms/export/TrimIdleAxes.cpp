//===- TrimIdleAxes.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each result of an op, keep of each open dim as few of its major axes
//    as give shards of the same size.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_TRIMIDLEAXESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// The shortest prefix of `axes` under which a device holds as much of a dim of
/// `size`.
static AxisList busyPrefix(const AxisList &axes, int64_t size) {
  int64_t shards = axes.numShards();
  int64_t local = llvm::divideCeil(size, shards);
  // With fewer than the first one a device would hold more.
  int64_t first = local == 0 ? 1 : llvm::divideCeil(size, local);
  for (int64_t fewer = first; fewer < shards; ++fewer) {
    AxisList prefix = axes.prefixDividing(fewer);
    if (prefix.numShards() == fewer)
      return prefix;
  }
  return axes;
}

/// The sharding of a tensor of `type` at `op` without idle axes.
static sdy::TensorShardingAttr
trimmed(RankedTensorType type, sdy::TensorShardingAttr attr, Operation *op) {
  sdy::NamedMesh mesh = sdy::NamedMesh::of(op, attr);
  TensorSharding sharding = mesh.read(attr);
  for (auto [dim, size] : llvm::zip(sharding.dims, type.getShape()))
    if (!dim.closed)
      dim.axes = busyPrefix(dim.axes, size);
  return sharding == mesh.read(attr) ? attr : mesh.write(sharding);
}

namespace {
struct TrimIdleAxesPass : impl::TrimIdleAxesPassBase<TrimIdleAxesPass> {
  void runOnOperation() override {
    // A program has few different ones.
    llvm::DenseMap<std::pair<Type, Attribute>, sdy::TensorShardingAttr> known;
    for (Operation *op : getAnalysis<ProgramOps>())
      for (Value result : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        sdy::TensorShardingAttr attr = sdy::getSharding(result);
        if (!type || !attr)
          continue;
        sdy::TensorShardingAttr &wanted = known[{type, attr}];
        if (!wanted)
          wanted = trimmed(type, attr, op);
        if (wanted != attr)
          sdy::setSharding(result, wanted);
      }
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
