//===- ConservativeRule.h - rules that move less ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conservative propagation avoids shardings under which ops must communicate to
// be computed: no axis goes along a factor that needs neighbours' data (pad,
// slice, windows; a reversed dim passes), nor along a concatenated dim; and no
// tensor takes a part of an axis.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_CONSERVATIVERULE_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_CONSERVATIVERULE_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Factor.h"
#include <optional>

namespace shardonnay {

/// Blocks those factors of `rule`, which is op's.
void makeConservative(mlir::Operation *op, FactorRule &rule);

/// The rule that conservative propagation follows.
std::optional<FactorRule> getConservativeRule(mlir::Operation *op);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_CONSERVATIVERULE_H
