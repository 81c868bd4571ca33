//===- WantedShardings.h - results as their uses want them ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation may give a result a sharding that no use of it can keep: each
// reshards it, all to the same one. Then that is the sharding to ask of the op
// that makes it, or the op would choose its factors' axes for a layout that
// nothing sees.
//
// Worked example, FSDP with a batch smaller than the width: dh = dy wT of
// shardings [{d}, {}], [{}, {d}] (the weight's) -> [{}, {d}], used by
// element-wise ops on [{d}, {}]. Asked for [{d}, {}], the dot gathers the
// weight and not dy.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_WANTEDSHARDINGS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_WANTEDSHARDINGS_H

#include "shardonnay/transforms/reshard/BlockCases.h"

namespace shardonnay {

/// The uses whose ops need a dim whole that propagation had cut.
using UnshardedUses = llvm::SmallPtrSet<mlir::OpOperand *, 4>;

/// Gives every result of an op with a rule the one sharding that all its uses
/// need it in, if there is one; last op first. A gather then stands at the op
/// that makes the value: the uses that it is there for are returned.
UnshardedUses adoptWantedShardings(BlockCases &cases);

/// What the use reshards its value to; null if that is not known.
const TensorSharding *neededAt(mlir::OpOperand &use, const BlockCases &cases);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_WANTEDSHARDINGS_H
