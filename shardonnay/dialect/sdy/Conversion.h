//===- Conversion.h - attributes <-> values of the algebra ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes must be valid for the mesh (the verifiers' business); the
// values are those of shardonnay/algebra, where an axis is its index in the
// mesh.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_CONVERSION_H
#define SHARDONNAY_DIALECT_SDY_CONVERSION_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"

namespace mlir::sdy {

/// A maximal mesh has no axes, like the empty one.
shardonnay::Mesh toMesh(MeshAttr mesh);

shardonnay::AxisRef toAxisRef(AxisRefAttr axis, MeshAttr mesh);
shardonnay::AxisList toAxisList(ArrayRef<AxisRefAttr> axes, MeshAttr mesh);
AxisRefAttr fromAxisRef(shardonnay::AxisRef axis, MeshAttr mesh);
SmallVector<AxisRefAttr> fromAxisList(const shardonnay::AxisList &axes,
                                      MeshAttr mesh);

/// As NamedMesh::read, where the name is not known.
inline shardonnay::TensorSharding toSharding(TensorShardingAttr sharding,
                                             MeshAttr mesh) {
  return NamedMesh{mesh, sharding.getMeshOrRef()}.read(sharding);
}

/// Permutation factors are Windowed, reduction factors sums.
shardonnay::FactorRule toRule(OpShardingRuleAttr rule);
/// Loses combiners, and what tells Indexed factors from others: Indexed prints
/// as a reduction where it is in no result, else as passed through.
OpShardingRuleAttr fromRule(MLIRContext *context,
                            const shardonnay::FactorRule &rule);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_CONVERSION_H
