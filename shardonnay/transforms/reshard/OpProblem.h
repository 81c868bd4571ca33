//===- OpProblem.h - an op as a factor assignment problem -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
#define SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H

#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/plan/OpChoice.h"
#include "shardonnay/transforms/reshard/MeshScope.h"

namespace shardonnay {

/// What `op`'s tensors ask for by their present shardings. Requires that `rule`
/// fits the op (verifyRule).
ChoiceProblem readProblem(mlir::Operation *op, const FactorRule &rule,
                          const MeshScope &scope);

/// A chooser for each mesh that a function's ops are on.
class OpChoosers {
public:
  explicit OpChoosers(const DeviceModel &model) : model(model) {}
  OpChooser &get(const MeshScope &scope);

private:
  const DeviceModel &model;
  llvm::DenseMap<mlir::Attribute, std::unique_ptr<OpChooser>> choosers;
};

/// The rule, if there is one and it fits the op's types.
std::optional<FactorRule> getFittingRule(mlir::Operation *op);

/// Emits an error at `op` if `rule` does not fit its types.
mlir::LogicalResult verifyRule(mlir::Operation *op, const FactorRule &rule);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
