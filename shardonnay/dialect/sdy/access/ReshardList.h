//===- ReshardList.h - the reshards of a function ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshards are few, and a walk over a program that is larger than the cache is
// slow. So a pass that makes or erases reshards says which there are, and keeps
// this analysis for the next one, which needs no walk.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_RESHARDLIST_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_RESHARDLIST_H

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/support/VerifiedAnalysis.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sdy {

class ReshardList : public shardonnay::VerifiedAnalysis<ReshardList> {
public:
  explicit ReshardList(Operation *root) : root(root) {}

  llvm::ArrayRef<ReshardOp> get() {
    if (!reshards) {
      reshards.emplace();
      root->walk([&](ReshardOp op) { reshards->push_back(op); });
    }
    return *reshards;
  }
  void set(std::vector<ReshardOp> present) { reshards = std::move(present); }

  std::optional<std::string> findDifference() const {
    if (!reshards)
      return std::nullopt;
    llvm::DenseSet<Operation *> known(reshards->begin(), reshards->end());
    size_t present = 0;
    bool isNew = root->walk([&](ReshardOp op) {
                       ++present;
                       return known.contains(op) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
                     })
                     .wasInterrupted();
    if (isNew || present != reshards->size())
      return "it lists other reshards than there are";
    return std::nullopt;
  }

private:
  Operation *root;
  std::optional<std::vector<ReshardOp>> reshards;
};

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_RESHARDLIST_H
