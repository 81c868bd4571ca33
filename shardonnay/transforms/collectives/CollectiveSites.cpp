//===- CollectiveSites.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectiveSites.h"

#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace shardonnay {

CollectiveSites::CollectiveSites(func::FuncOp func, const ProgramOps &all)
    : func(func) {
  llvm::DenseSet<Operation *> users;
  for (Operation *op : all) {
    if (op->getNumRegions() > 0 && isLoop(op))
      loops.push_back(op);
    if (op->getNumResults() != 1)
      continue;
    ops.push_back(op);
    if (!getPlannedCollective(op->getResult(0)))
      continue;
    collectives.push_back(op);
    users.insert_range(op->getUsers());
  }
  if (!users.empty())
    llvm::copy_if(ops, std::back_inserter(fed),
                  [&](Operation *op) { return users.contains(op); });
}

} // namespace shardonnay
