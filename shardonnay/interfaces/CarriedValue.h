//===- CarriedValue.h - what loops carry ------------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_CARRIEDVALUE_H
#define SHARDONNAY_INTERFACES_CARRIEDVALUE_H

#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"

namespace shardonnay {

/// A value that a loop carries and that one op sees in the loop, nothing else.
struct CarriedValue {
  /// The loop's result.
  mlir::Value owner;
  /// What it starts from, and what each run leaves.
  mlir::OpOperand *init = nullptr;
  mlir::OpOperand *next = nullptr;
  /// In the body, and the one op that uses it there.
  mlir::Value carried;
  mlir::Operation *user = nullptr;

  /// By which operands ops read the value one after another, each with a rule
  /// and one result, the last of which each run leaves; nothing else sees what
  /// they make. Empty if it is not so, or there are more than kMostAdditions.
  llvm::SmallVector<mlir::OpOperand *, 1> followSum() const;
};

/// An op with a rule makes of parts of this operand alone parts of what it
/// makes of the whole one.
bool isLinearIn(mlir::OpOperand &operand, ReductionKind kind);
/// An op with a rule makes of parts of both operands, which are two of it,
/// parts of what it makes of the whole ones.
bool isLinearInBoth(mlir::OpOperand &carried, mlir::OpOperand &summand,
                    ReductionKind kind);

/// How many ops that are linear may stand between what is reduced in each run,
/// and its addition to a carried value, for it to be reduced behind the loop.
inline constexpr unsigned kMostLinearSteps = 6;

/// How many values a run may add to one that is carried, one after another.
inline constexpr unsigned kMostAdditions = 64;

/// The class of `owner`; nothing if it is none such.
std::optional<CarriedValue> readCarried(ShardableDataFlowOpInterface loop,
                                        mlir::Value owner);

/// Where an argument of a region of `loop`, or what it leaves of that as a
/// result, is the same in every run, what goes into the loop for it; null
/// elsewhere.
mlir::Value getInvariantSource(mlir::Value value, mlir::Operation *loop);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_CARRIEDVALUE_H
