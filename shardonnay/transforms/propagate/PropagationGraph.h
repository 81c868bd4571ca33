//===- PropagationGraph.h - a module as flat arrays -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What propagation needs of a module, as plain values: tensors with their
// shardings, ops with their factor rules, and who must be visited when a tensor
// changes. ModuleGraph reads it from the IR and writes it back;
// PropagationEngine works on it.
//
// One tensor may stand for several values: a data-flow edge, the owner of its
// class and the other copies. Constraints, barriers, edges and function results
// are ops with an identity rule.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H

#include "shardonnay/algebra/ManualBoundary.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/propagate/FactorPropagation.h"
#include "llvm/ADT/SmallBitVector.h"
#include <vector>

namespace shardonnay {

/// No tensor, no mesh (or one without axes), no group.
inline constexpr int32_t kNone = -1;

struct GraphTensor {
  TensorSharding sharding;
  /// Which of the module's meshes `sharding` speaks of. Tensors of different
  /// meshes exchange nothing.
  int32_t mesh = kNone;
  /// The tensors of a group have one sharding.
  int32_t group = kNone;
  /// The ops to visit when this changes, the most urgent last: the op that
  /// defines it, then its users from the last in the program to the first.
  llvm::SmallVector<int32_t, 2> neighbours;
};

struct GraphOp {
  FactorRule rule;
  /// Operands, then results; kNone for what is no tensor.
  llvm::SmallVector<int32_t, 4> tensors;
  PropagationClass propagationClass = PropagationClass::Compute;
  /// Of a propagation barrier.
  Direction allowed = Direction::Both;
  bool elementwise = false;
  /// No operand of rank > 0 has another use.
  bool onlyUser = false;
  /// Of an edge into or out of a manual computation: how the tensors in
  /// `inside` look from the outside, where the rule holds.
  ManualBoundary boundary;
  llvm::SmallBitVector inside;

  bool isInside(size_t tensor) const {
    return !inside.empty() && inside[tensor];
  }
};

struct PropagationGraph {
  std::vector<GraphTensor> tensors;
  /// In program order.
  std::vector<GraphOp> ops;
  /// Operand of the terminator to result of the function.
  std::vector<GraphOp> returns;
  /// Members of each group.
  std::vector<llvm::SmallVector<int32_t>> groups;
};

/// `numOperands` operands and one result, all of `shape`, dim by dim.
FactorRule identityRule(llvm::ArrayRef<int64_t> shape, int64_t numOperands = 1);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H
