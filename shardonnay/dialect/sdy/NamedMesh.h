//===- NamedMesh.h - a mesh and how shardings name it -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_NAMEDMESH_H
#define SHARDONNAY_DIALECT_SDY_NAMEDMESH_H

#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/algebra/TensorSharding.h"
#include "shardonnay/dialect/sdy/Attributes.h"

namespace mlir::sdy {

/// A mesh and its name. All attributes that say something of a mesh's axes are
/// read and written here.
struct NamedMesh {
  /// Null if there is none.
  MeshAttr mesh;
  /// A symbol, or the mesh itself.
  Attribute name;

  /// The mesh of `sharding`, found from `from`. It is null if `sharding` is, or
  /// if it names a mesh that there is not.
  static NamedMesh of(Operation *from, TensorShardingAttr sharding);

  explicit operator bool() const { return bool(mesh); }
  bool operator==(const NamedMesh &o) const {
    return mesh == o.mesh && name == o.name;
  }
  bool operator!=(const NamedMesh &o) const { return !(*this == o); }

  /// A maximal mesh has no axes, like the empty one.
  shardonnay::Mesh toMesh() const;
  /// `sharding`, which must be valid for this mesh.
  shardonnay::TensorSharding read(TensorShardingAttr sharding) const;
  /// The layout of a tensor of `rank` dims: the axes of `sharding`, every dim
  /// closed; replicated where `sharding` is null or names no axis.
  shardonnay::TensorSharding readClosed(TensorShardingAttr sharding,
                                        int64_t rank) const;
  /// The same for a value that is a ranked tensor.
  shardonnay::TensorSharding readClosed(Value value) const;
  TensorShardingAttr write(const shardonnay::TensorSharding &sharding) const;
  AxisRefListAttr write(const shardonnay::AxisList &axes) const;
  TensorShardingAttr replicated(int64_t rank) const {
    return TensorShardingAttr::getFullyClosed(mesh.getContext(), rank, name);
  }
};

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_NAMEDMESH_H
