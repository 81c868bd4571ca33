//===- FactorAxes.h - the axes that shard an op's factors -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_FACTORAXES_H
#define SHARDONNAY_TRANSFORMS_PARTITION_FACTORAXES_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/support/CompositeKey.h"
#include "shardonnay/transforms/partition/Placement.h"
#include <optional>

namespace shardonnay {

class FactorAxesTable {
public:
  /// On the placer's mesh.
  explicit FactorAxesTable(const Placer &placer) : placer(placer) {}

  /// The axes of each factor of `op`, whose tensors are at `placements`
  /// (operands first, then results). Found once for a rule and placements,
  /// which are told by their addresses. Valid until the next call. Fails with
  /// an error at `op` if
  ///  * two tensors disagree on a factor,
  ///  * a factor that must be whole is sharded, or an axis shards two factors,
  ///  * a result is not partial over exactly the axes of the factors that it is
  ///    reduced over and those of operands that the op is linear in, or another
  ///    operand is partial.
  mlir::FailureOr<llvm::ArrayRef<AxisList>>
  find(mlir::Operation *op, const FactorRule &rule,
       llvm::ArrayRef<const Placement *> placements);

private:
  const Placer &placer;
  using Axes = llvm::SmallVector<AxisList, 0>;
  CompositeMap<std::optional<Axes>> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_FACTORAXES_H
