//===- NamedMesh.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::TensorSharding;

NamedMesh NamedMesh::of(Operation *from, TensorShardingAttr sharding) {
  if (!sharding)
    return {};
  return {getMesh(from, sharding), sharding.getMeshOrRef()};
}

shardonnay::Mesh NamedMesh::toMesh() const { return sdy::toMesh(mesh); }

TensorSharding NamedMesh::read(TensorShardingAttr sharding) const {
  TensorSharding result;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    result.dims.push_back({toAxisList(dim.getAxes(), mesh), dim.getIsClosed(),
                           dim.getPriorityOrDefault()});
  result.replicated = toAxisList(sharding.getReplicatedAxes(), mesh).sorted();
  result.unreduced = toAxisList(sharding.getUnreducedAxes(), mesh).sorted();
  if (!result.unreduced.empty())
    result.kind = sharding.getReductionKind();
  return result;
}

TensorSharding NamedMesh::readClosed(TensorShardingAttr sharding,
                                     int64_t rank) const {
  TensorSharding closed = TensorSharding::fullyClosed(rank);
  if (!sharding || sharding.isReplicated())
    return closed;
  TensorSharding given = read(sharding);
  for (auto [to, from] : llvm::zip_equal(closed.dims, given.dims))
    to.axes = from.axes;
  closed.unreduced = given.unreduced;
  closed.kind = given.kind;
  return closed;
}

TensorSharding NamedMesh::readClosed(Value value) const {
  return readClosed(getSharding(value),
                    cast<RankedTensorType>(value.getType()).getRank());
}

TensorShardingAttr NamedMesh::write(const TensorSharding &sharding) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimensionShardingAttr> dims;
  for (const shardonnay::DimSharding &dim : sharding.dims) {
    // A priority says nothing on an empty closed dim, and is not allowed there.
    bool hasPriority = dim.priority != 0 && !(dim.axes.empty() && dim.closed);
    dims.push_back(DimensionShardingAttr::get(
        context, fromAxisList(dim.axes, mesh), dim.closed,
        hasPriority ? std::optional<int64_t>(dim.priority) : std::nullopt));
  }
  return TensorShardingAttr::get(
      context, name, dims, fromAxisList(sharding.replicated, mesh),
      fromAxisList(sharding.unreduced, mesh),
      sharding.unreduced.empty() ? shardonnay::ReductionKind::Sum
                                 : sharding.kind);
}

AxisRefListAttr NamedMesh::write(const AxisList &axes) const {
  return AxisRefListAttr::get(mesh.getContext(), fromAxisList(axes, mesh));
}
