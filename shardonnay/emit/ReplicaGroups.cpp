//===- ReplicaGroups.cpp - which devices communicate ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/ReplicaGroups.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace shardonnay {

DenseIntElementsAttr buildReplicaGroups(Builder &builder, const Mesh &mesh,
                                        const AxisList &axes) {
  SmallVector<int64_t> devices;
  for (llvm::ArrayRef<int64_t> group : mesh.groups(axes))
    for (int64_t position : group)
      devices.push_back(mesh.deviceAt(position));
  int64_t size = axes.numShards();
  auto numGroups = static_cast<int64_t>(devices.size()) / size;
  auto type =
      RankedTensorType::get({numGroups, size}, builder.getIntegerType(64));
  return DenseIntElementsAttr::get(type, devices);
}

/// The number of the piece that `position` holds, dims major to minor.
static int64_t pieceAt(const Mesh &mesh, ArrayRef<AxisList> axesPerDim,
                       int64_t position) {
  int64_t piece = 0;
  for (const AxisList &axes : axesPerDim)
    piece = piece * axes.numShards() + mesh.index(axes, position);
  return piece;
}

DenseIntElementsAttr buildSourceTargetPairs(Builder &builder, const Mesh &mesh,
                                            ArrayRef<AxisList> source,
                                            ArrayRef<AxisList> target) {
  int64_t numDevices = mesh.numDevices(), numPieces = 1;
  for (const AxisList &axes : source)
    numPieces *= axes.numShards();
  // Of each piece: who has it, and who wants it, without those who do both.
  std::vector<SmallVector<int64_t>> senders(numPieces), receivers(numPieces);
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t position = 0; position < numDevices; ++position) {
    int64_t has = pieceAt(mesh, source, position);
    int64_t wants = pieceAt(mesh, target, position);
    if (has == wants) {
      pairs.emplace_back(position, position);
      continue;
    }
    senders[has].push_back(position);
    receivers[wants].push_back(position);
  }
  for (auto [from, to] : llvm::zip_equal(senders, receivers))
    for (auto [sender, receiver] : llvm::zip_equal(from, to))
      pairs.emplace_back(sender, receiver);
  llvm::sort(pairs);
  SmallVector<int64_t> devices;
  for (auto [sender, receiver] : pairs) {
    devices.push_back(mesh.deviceAt(sender));
    devices.push_back(mesh.deviceAt(receiver));
  }
  auto type =
      RankedTensorType::get({numDevices, 2}, builder.getIntegerType(64));
  return DenseIntElementsAttr::get(type, devices);
}

} // namespace shardonnay
