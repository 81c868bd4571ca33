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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"

namespace shardonnay {

bool foldAllReduces(mlir::func::FuncOp func, CollectivePlanner &planner);
bool cancelGathersAndSlices(mlir::func::FuncOp func,
                            CollectivePlanner &planner);
bool mergeCollectives(mlir::func::FuncOp func, CollectivePlanner &planner);
bool splitAllReduces(mlir::func::FuncOp func, CollectivePlanner &planner);
bool shareCollectives(mlir::func::FuncOp func, CollectivePlanner &planner);
bool reassociateReductions(mlir::func::FuncOp func, CollectivePlanner &planner);
bool moveGathers(mlir::func::FuncOp func, CollectivePlanner &planner);
bool moveSlicesUp(mlir::func::FuncOp func, CollectivePlanner &planner);
bool hoistCollectives(mlir::func::FuncOp func, CollectivePlanner &planner);
bool accumulateInLoops(mlir::func::FuncOp func, CollectivePlanner &planner);
bool broadcastOwnerSlices(mlir::func::FuncOp func, CollectivePlanner &planner);

/// The pass of one of these; `BaseT` is its generated base.
template <typename BaseT,
          bool (*optimize)(mlir::func::FuncOp, CollectivePlanner &)>
class OptimizationPass : public PricedPass<BaseT> {
public:
  using PricedPass<BaseT>::PricedPass;

  void runOnOperation() override {
    CollectivePlanner planner(*this->model);
    optimize(this->getOperation(), planner);
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_OPTIMIZATIONS_H
