//===- UpdateNonDivisibleInputOutputShardings.cpp -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each argument and result of a function, keep of each open dim the
// major
//    axes whose product divides it, but no less than was given.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/BoundaryShardings.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_UPDATENONDIVISIBLEINPUTOUTPUTSHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// `shardings` of `types`, with as many of the axes as divide each dim.
static sdy::TensorShardingPerValueAttr
trim(sdy::ManualComputationOp op, sdy::TensorShardingPerValueAttr shardings,
     TypeRange types) {
  SmallVector<sdy::TensorShardingAttr> result;
  for (auto [attr, type] : llvm::zip_equal(shardings.getShardings(), types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    sdy::NamedMesh mesh = sdy::NamedMesh::of(op, attr);
    result.push_back(attr);
    if (!tensor || !mesh || mesh.mesh.isEmpty())
      continue;
    TensorSharding sharding = mesh.read(attr);
    for (auto [dim, size] : llvm::zip_equal(sharding.dims, tensor.getShape()))
      if (!ShapedType::isDynamic(size))
        dim.axes = dim.axes.prefixDividing(size);
    if (sharding != mesh.read(attr))
      result.back() = mesh.write(sharding);
  }
  return sdy::TensorShardingPerValueAttr::get(op.getContext(), result);
}

/// Inside, an axis shards the part of a dim that the manual axes leave: where
/// it does not divide that, its shards are not those that it makes outside.
static void trimManualBoundary(sdy::ManualComputationOp op) {
  op.setInShardingsAttr(trim(op, op.getInShardings(), op.getOperandTypes()));
  op.setOutShardingsAttr(trim(op, op.getOutShardings(), op.getResultTypes()));
}

namespace {
struct UpdateNonDivisibleInputOutputShardingsPass
    : impl::UpdateNonDivisibleInputOutputShardingsPassBase<
          UpdateNonDivisibleInputOutputShardingsPass> {
  using UpdateNonDivisibleInputOutputShardingsPassBase::
      UpdateNonDivisibleInputOutputShardingsPassBase;

  void runOnOperation() override {
    auto trimAxes = [](AxisList axes, int64_t size, const Mesh &) {
      return axes.prefixDividing(size);
    };
    trimBoundaryShardings(getOperation(),
                          {/*privateFunctions=*/false,
                           /*closedDims=*/keepGiven, /*given=*/keepGiven},
                          trimAxes);
    if (mayHave<func::CallOp>())
      trimCallShardings(getOperation(), trimAxes);
    if (mayHave<sdy::ManualComputationOp>())
      getOperation().walk(trimManualBoundary);
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }

private:
  /// The passes around this one ask about each function.
  template <typename KindT> bool mayHave() {
    return llvm::any_of(
        getOperation().getOps<func::FuncOp>(), [&](func::FuncOp func) {
          return getChildAnalysis<OpKinds>(func).template mayHave<KindT>();
        });
  }
};
} // namespace

} // namespace shardonnay
