//===- Projection.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Projection.h"
#include <numeric>

namespace shardonnay {

/// Takes from the front of `axes`, into `cell`, what shards a factor of `size`
/// evenly. Returns false if the rest overflows: the factor is not full, and
/// has no common part with the next axis.
static bool takeDividing(llvm::SmallVectorImpl<AxisRef> &axes, int64_t size,
                         AxisList &taken) {
  while (!axes.empty() && size > 1) {
    AxisRef &next = axes.front();
    int64_t common = std::gcd(next.size, size);
    if (common == 1)
      return false;
    taken.append(AxisRef{next.axis, next.pre, common});
    size /= common;
    if (common == next.size)
      axes.erase(axes.begin());
    else
      next = {next.axis, next.pre * common, next.size / common};
  }
  return true;
}

static void projectDim(const DimSharding &dim, const DimFactors &dimFactors,
                       llvm::ArrayRef<Factor> factors, TensorProjection &row) {
  llvm::SmallVector<AxisRef, 4> left(dim.axes.begin(), dim.axes.end());
  bool overflowed = false;
  bool closeNext = false;
  for (int32_t factor : dimFactors) {
    FactorSharding &cell = row.factors[factor];
    cell.present = true;
    cell.minorMost = factor == dimFactors.back();
    cell.closed = dim.closed || closeNext;
    closeNext = false;
    if (overflowed)
      continue;
    if (cell.minorMost) {
      cell.axes = AxisList(left);
    } else if (!takeDividing(left, factors[factor].size, cell.axes)) {
      if (factors[factor].retiled && factor == dimFactors.front()) {
        cell.axes = dim.axes;
        left.clear();
        continue;
      }
      cell.overflow = AxisList(left);
      overflowed = closeNext = true;
    }
  }
}

TensorProjection project(const TensorSharding &sharding,
                         const TensorMapping &mapping,
                         llvm::ArrayRef<Factor> factors) {
  TensorProjection row;
  row.factors.resize(factors.size());
  for (size_t d = 0; d < mapping.dims.size(); ++d)
    projectDim(sharding.dims[d], mapping.dims[d], factors, row);
  row.replicated = sharding.replicated;
  row.unreduced = sharding.unreduced;
  return row;
}

/// The axes of a dim and whether one of its factors is closed. Factors after an
/// overflow do not count: the projection closed them, not the dim.
static void unprojectDim(const TensorProjection &row,
                         const DimFactors &dimFactors,
                         llvm::ArrayRef<Factor> factors, DimSharding &dim) {
  dim.axes = AxisList();
  dim.closed = false;
  bool stopped = false;
  for (int32_t factor : dimFactors) {
    const FactorSharding &cell = row.factors[factor];
    dim.closed |= cell.closed;
    if (stopped)
      continue;
    dim.axes.append(cell.axes);
    dim.axes.append(cell.overflow);
    if (!cell.overflow.empty())
      return;
    stopped = cell.axes.numShards() != factors[factor].size;
  }
}

TensorSharding unproject(const TensorProjection &row,
                         const TensorMapping &mapping,
                         llvm::ArrayRef<Factor> factors,
                         const TensorSharding &previous) {
  TensorSharding sharding = previous;
  for (size_t d = 0; d < mapping.dims.size(); ++d)
    unprojectDim(row, mapping.dims[d], factors, sharding.dims[d]);
  sharding.replicated = row.replicated;
  sharding.unreduced = row.unreduced;
  return sharding;
}

} // namespace shardonnay
