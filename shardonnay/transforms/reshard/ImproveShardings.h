//===- ImproveShardings.h - values that move once for all uses --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops are decided one at a time, each as if it paid for all that it has moved.
// So it is not seen that several uses of a value pay for one reshard together,
// nor that the value might lie between what makes it and what uses it. Here the
// values around which something moves are looked at once, the last one first:
// of the shardings that the ops around it would have it in, and of none at all,
// which is cheapest for all of them, either
//   * for the value itself, or
//   * behind one reshard, which those that have it moved share.
// The ops decide anew for each; what they move is counted once where it is the
// same. No op may repeat work for it.
//
// What moves from one chain of ops to another may have to move as a whole. So
// the values are looked at twice more, the first one first and then the last
// one first, and of equal prices that is taken which brings what moves nearer
// to the users, and then to the producers; if this saved nothing it is taken
// back.
//
// A value may have a price for each byte that a device holds of it, because
// more is alive with it than there is memory for. Then it is looked at whether
// or not something moves around it, and is also tried with every axis that it
// does not use.
//
// Worked example, a weight w [32, 8] cut by 8, in four dots with activations
// that the batch cuts by 8: to each dot alone it is cheaper to turn its
// activation around (600 bytes) than to gather the weight (900); to all four of
// them, to gather it once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_IMPROVESHARDINGS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_IMPROVESHARDINGS_H

#include "shardonnay/transforms/reshard/BlockCases.h"

namespace shardonnay {

/// By the ops that make the values, in byte times a byte (kMemoryPriceAttr).
using MemoryPrices = llvm::DenseMap<mlir::Operation *, double>;

void improveShardings(mlir::Block &block, BlockCases &cases,
                      OpChoosers &choosers, const MemoryPrices &memory);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_IMPROVESHARDINGS_H
