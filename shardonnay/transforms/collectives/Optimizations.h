//===- Optimizations.h - collectives that get cheaper --------- -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is a pass of its name (Passes.td says what it does). It returns
// whether it changed anything, and changes nothing for a higher price.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_OPTIMIZATIONS_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_OPTIMIZATIONS_H

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "shardonnay/transforms/collectives/CollectiveSites.h"

namespace shardonnay {

bool collectOnDevices(const CollectiveSites &sites, CollectivePlanner &planner);
bool foldAllReduces(const CollectiveSites &sites, CollectivePlanner &planner);
bool cancelGathersAndSlices(const CollectiveSites &sites,
                            CollectivePlanner &planner);
bool mergeCollectives(const CollectiveSites &sites, CollectivePlanner &planner);
bool mergeReturnedReductions(const CollectiveSites &sites,
                             CollectivePlanner &planner);
bool splitAllReduces(const CollectiveSites &sites, CollectivePlanner &planner);
bool shareCollectives(const CollectiveSites &sites, CollectivePlanner &planner);
bool reassociateReductions(const CollectiveSites &sites,
                           CollectivePlanner &planner);
bool moveGathers(const CollectiveSites &sites, CollectivePlanner &planner);
bool moveSlicesUp(const CollectiveSites &sites, CollectivePlanner &planner);
bool hoistCollectives(const CollectiveSites &sites, CollectivePlanner &planner);
bool accumulateInLoops(const CollectiveSites &sites,
                       CollectivePlanner &planner);
bool broadcastOwnerSlices(const CollectiveSites &sites,
                          CollectivePlanner &planner);

/// The pass of one of these; `BaseT` is its generated base.
template <typename BaseT,
          bool (*optimize)(const CollectiveSites &, CollectivePlanner &)>
class OptimizationPass : public PricedPass<BaseT> {
public:
  using PricedPass<BaseT>::PricedPass;

  void runOnOperation() override {
    auto &plans = this->template getAnalysis<SharedPlans>();
    CollectivePlanner planner(plans.get(this->deviceModel, this->model));
    optimize({this->getOperation(), this->template getAnalysis<ProgramOps>()},
             planner);
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_OPTIMIZATIONS_H
