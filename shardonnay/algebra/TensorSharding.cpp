//===- TensorSharding.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/TensorSharding.h"
#include "shardonnay/support/Hash.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

TensorSharding TensorSharding::fullyOpen(int64_t rank) {
  TensorSharding sharding;
  sharding.dims.resize(rank);
  return sharding;
}

TensorSharding TensorSharding::fullyClosed(int64_t rank) {
  TensorSharding sharding = fullyOpen(rank);
  for (DimSharding &dim : sharding.dims)
    dim.closed = true;
  return sharding;
}

bool TensorSharding::isReplicated() const {
  return unreduced.empty() && llvm::all_of(dims, [](const DimSharding &d) {
           return d.axes.empty();
         });
}

bool TensorSharding::uses(AxisRef axis) const {
  return replicated.excludes(axis) || unreduced.excludes(axis) ||
         llvm::any_of(
             dims, [&](const DimSharding &d) { return d.axes.excludes(axis); });
}

bool axesDiffer(const TensorSharding &a, const TensorSharding &b) {
  for (auto [dimA, dimB] : llvm::zip(a.dims, b.dims))
    if (dimA.axes != dimB.axes)
      return true;
  return false;
}

llvm::hash_code hash_value(const TensorSharding &sharding) {
  size_t hash =
      mixed(hash_value(sharding.replicated), hash_value(sharding.unreduced));
  hash = mixed(hash, static_cast<uint64_t>(sharding.kind));
  for (const DimSharding &dim : sharding.dims)
    hash = mixed(mixed(mixed(hash, hash_value(dim.axes)), dim.closed),
                 dim.priority);
  return hash;
}

static void print(llvm::raw_ostream &os, const DimSharding &dim) {
  os << "{";
  llvm::interleaveComma(dim.axes, os);
  if (!dim.closed)
    os << (dim.axes.empty() ? "?" : ", ?");
  os << "}";
  if (dim.priority > 0)
    os << "p" << dim.priority;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const TensorSharding &s) {
  os << "[";
  llvm::interleaveComma(s.dims, os,
                        [&](const DimSharding &dim) { print(os, dim); });
  os << "]";
  if (!s.replicated.empty())
    os << " replicated=" << s.replicated;
  if (!s.unreduced.empty())
    os << " unreduced=" << toString(s.kind) << s.unreduced;
  return os;
}

} // namespace shardonnay
