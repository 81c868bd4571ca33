//===- OtherStrategies.h - how else an op could be sharded ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op fetches for itself is there because of how it is sharded: next to
// it stands what its best other strategy would cost, from the placements of its
// tensors. Sums are taken to be reduced behind the op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_OTHERSTRATEGIES_H
#define SHARDONNAY_TRANSFORMS_PARTITION_OTHERSTRATEGIES_H

#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/strategy/OpSolver.h"
#include "shardonnay/support/CompositeKey.h"
#include "shardonnay/transforms/partition/Placement.h"

namespace shardonnay {

class OtherStrategies {
public:
  /// Both have to outlive this.
  OtherStrategies(const DeviceModel &model, const Placer &placer)
      : model(model), placer(placer) {}

  /// A sentence on `op`, whose tensors are at `placements` (operands first,
  /// then results), and whose factors `axes` shard. Found once for ops of a
  /// name, a rule and placements, which are told by their addresses.
  llvm::StringRef describe(mlir::Operation *op, const FactorRule &rule,
                           llvm::ArrayRef<const Placement *> placements,
                           llvm::ArrayRef<AxisList> axes);

private:
  const DeviceModel &model;
  const Placer &placer;
  /// The solver for the placer's mesh; it is made when it is first needed.
  std::unique_ptr<OpSolver> solver;
  CompositeMap<std::string> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_OTHERSTRATEGIES_H
