//===- CloseShardings.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Close each dim of each sharding; drop priorities and replicated axes.
// 2. Drop the records of what was given at the boundary.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CLOSESHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

static sdy::TensorShardingAttr close(sdy::TensorShardingAttr sharding) {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(sdy::DimensionShardingAttr::get(
        dim.getContext(), dim.getAxes(), /*is_closed=*/true,
        /*priority=*/std::nullopt));
  return sdy::TensorShardingAttr::get(
      sharding.getContext(), sharding.getMeshOrRef(), dims,
      /*replicated_axes=*/{}, sharding.getUnreducedAxes(),
      sharding.getReductionKind());
}

namespace {
struct CloseShardingsPass : impl::CloseShardingsPassBase<CloseShardingsPass> {
  void runOnOperation() override {
    // What was given has been looked at for the last time.
    for (auto func : getOperation().getOps<func::FuncOp>())
      sdy::SignatureAttributes(func).eraseAll(sdy::kGivenShardingAttr);
    AttrTypeReplacer replacer;
    replacer.addReplacement([](sdy::TensorShardingAttr sharding)
                                -> std::pair<Attribute, WalkResult> {
      return {close(sharding), WalkResult::skip()};
    });
    sdy::replaceShardings(getOperation(), replacer);
    for (Operation &op : *getOperation().getBody())
      // The passes around this one have lists of each function.
      for (Operation *inside : getChildAnalysis<ProgramOps>(&op))
        sdy::replaceShardings(inside, replacer);
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
