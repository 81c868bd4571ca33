//===- Layout.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Layout.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/support/Hash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace shardonnay {

Layout Layout::get(const TensorSharding &sharding,
                   llvm::ArrayRef<int64_t> shape) {
  Layout layout;
  for (auto [dim, size] : llvm::zip_equal(sharding.dims, shape)) {
    layout.dims.push_back(dim.axes);
    layout.padded.push_back(
        llvm::alignTo(size, static_cast<uint64_t>(dim.axes.numShards())));
  }
  layout.partial = sharding.unreduced.sorted();
  layout.kind = sharding.kind;
  return layout;
}

Layout Layout::replicated(llvm::ArrayRef<int64_t> shape) {
  Layout layout;
  layout.dims.resize(shape.size());
  layout.padded.assign(shape.begin(), shape.end());
  return layout;
}

llvm::SmallVector<int64_t, 4> Layout::localShape() const {
  llvm::SmallVector<int64_t, 4> shape;
  for (auto [axes, size] : llvm::zip_equal(dims, padded))
    shape.push_back(size / axes.numShards());
  return shape;
}

int64_t Layout::localElements() const {
  int64_t elements = 1;
  for (int64_t size : localShape())
    elements = countProduct(elements, size);
  return elements;
}

llvm::SmallVector<Interval, 4> Layout::slice(const Mesh &mesh,
                                             int64_t position) const {
  llvm::SmallVector<Interval, 4> slice;
  for (auto [axes, size] : llvm::zip_equal(dims, localShape())) {
    int64_t start = mesh.index(axes, position) * size;
    slice.push_back({start, start + size});
  }
  return slice;
}

llvm::SmallVector<Interval, 4>
Layout::sliceOf(const Mesh &mesh, int64_t position,
                llvm::ArrayRef<int64_t> shape) const {
  llvm::SmallVector<Interval, 4> slice = this->slice(mesh, position);
  for (auto [interval, size] : llvm::zip_equal(slice, shape))
    interval = {std::min(interval.start, size), std::min(interval.limit, size)};
  return slice;
}

AxisList Layout::usedAxes() const {
  llvm::SmallVector<AxisRef> used(partial.begin(), partial.end());
  for (const AxisList &axes : dims)
    llvm::append_range(used, axes);
  return AxisList(used).sorted();
}

TensorSharding Layout::toSharding() const {
  TensorSharding sharding = TensorSharding::fullyClosed(rank());
  for (auto [dim, axes] : llvm::zip_equal(sharding.dims, dims))
    dim.axes = axes;
  sharding.unreduced = partial;
  if (!partial.empty())
    sharding.kind = kind;
  return sharding;
}

llvm::hash_code hash_value(const Layout &layout) {
  size_t hash = mixedAll(hash_value(layout.partial), layout.padded);
  for (const AxisList &axes : layout.dims)
    hash = mixed(hash, hash_value(axes));
  return hash;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout) {
  os << "<";
  llvm::interleave(
      llvm::zip_equal(layout.padded, layout.dims), os,
      [&](auto dim) { os << std::get<0>(dim) << std::get<1>(dim); }, " x ");
  if (!layout.partial.empty())
    os << " partial=" << toString(layout.kind) << layout.partial;
  return os << ">";
}

} // namespace shardonnay
