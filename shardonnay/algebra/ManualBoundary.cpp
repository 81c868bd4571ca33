//===- ManualBoundary.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/ManualBoundary.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

/// The parts of `axes` that `manual` covers, in the order of `axes`.
static AxisList manualPart(const AxisList &axes, const AxisList &manual) {
  return axes.subtract(axes.subtract(manual));
}

static AxisList joined(const AxisList &a, const AxisList &b) {
  AxisList result = a;
  result.append(b);
  return result;
}

ManualBoundary ManualBoundary::get(const TensorSharding &outer,
                                   const AxisList &manual) {
  ManualBoundary boundary;
  AxisList left = manual;
  for (const DimSharding &dim : outer.dims) {
    boundary.dims.push_back(manualPart(dim.axes, manual));
    left = left.subtract(boundary.dims.back());
  }
  boundary.unreduced = manualPart(outer.unreduced, manual);
  boundary.kind = outer.kind;
  boundary.replicated = left.subtract(boundary.unreduced).sorted();
  return boundary;
}

bool ManualBoundary::isOutside(const TensorSharding &outer) const {
  return outer.dims.size() == dims.size() &&
         llvm::all_of(llvm::zip(dims, outer.dims), [](auto pair) {
           auto &[manual, dim] = pair;
           return manual.isPrefixOf(dim.axes);
         });
}

TensorSharding ManualBoundary::toOuter(const TensorSharding &inner) const {
  TensorSharding outer = inner;
  for (auto [manual, dim] : llvm::zip_equal(dims, outer.dims))
    dim.axes = joined(manual, dim.axes);
  outer.replicated = joined(replicated, inner.replicated).sorted();
  outer.unreduced = joined(unreduced, inner.unreduced).sorted();
  if (!unreduced.empty())
    outer.kind = kind;
  return outer;
}

TensorSharding ManualBoundary::toInner(const TensorSharding &outer) const {
  TensorSharding inner = outer;
  for (auto [manual, dim] : llvm::zip_equal(dims, inner.dims))
    dim.axes = dim.axes.dropPrefix(manual);
  inner.replicated = outer.replicated.subtract(replicated);
  inner.unreduced = outer.unreduced.subtract(unreduced);
  if (inner.unreduced.empty())
    inner.kind = ReductionKind::Sum;
  return inner;
}

} // namespace shardonnay
