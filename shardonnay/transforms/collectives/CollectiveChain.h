//===- CollectiveChain.h - collectives that feed one another -- -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVECHAIN_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVECHAIN_H

#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "shardonnay/transforms/collectives/CollectiveSites.h"

namespace shardonnay {

/// The collective that `value` comes from and that nothing else needs: planned,
/// in the block of `user`, its only user. Null if there is none.
mlir::Operation *getOwnCollective(mlir::Value value, mlir::Operation *user);

/// What a chain of own collectives before `user` starts from, and what it
/// costs.
struct ChainStart {
  mlir::Value source;
  double price = 0;
  /// The last collective of the chain; null if there is none.
  mlir::Operation *last = nullptr;
};
ChainStart followChain(mlir::Value value, mlir::Operation *user,
                       CollectivePlanner &planner);

/// Why `op` is there; null if nobody said.
mlir::Attribute getCause(mlir::Operation *op);

/// Erases `value`'s op, and what only it used, while that is a collective
/// without uses.
void eraseDeadChain(mlir::Value value);

/// Plans pairs of collectives anew, of which one feeds the other and of which
/// `isWanted(inner, outer)`; takes what is cheaper than both, or as cheap and
/// fewer. Where others use the inner one, only the outer one goes.
bool replanPairs(
    const CollectiveSites &sites, CollectivePlanner &planner,
    llvm::function_ref<bool(mlir::Operation *, mlir::Operation *)> isWanted);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVECHAIN_H
