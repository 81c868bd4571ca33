//===- PriceCollectives.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PRICECOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {
struct PriceCollectivesPass
    : PricedPass<impl::PriceCollectivesPassBase<PriceCollectivesPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    CollectivePlanner planner(
        getAnalysis<SharedPlans>().get(deviceModel, model));
    double bytes = 0, price = 0;
    int64_t count = 0;
    const MeshCosts *costs = nullptr;
    getOperation().walk([&](Operation *op) {
      Cost cost = planner.cost(op);
      if (cost == Cost())
        return;
      double runs = countRuns(op);
      ++count;
      bytes += runs * cost.bytes;
      price += runs * planner.price(op);
      costs = &planner.costs(getNamedMesh(op).mesh);
    });
    getOperation().emitRemark()
        << count << " collectives, " << static_cast<int64_t>(bytes)
        << " bytes, " << (costs ? costs->str(price) : "no time");
  }
};
} // namespace

} // namespace shardonnay
