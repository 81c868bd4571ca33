//===- Conversion.cpp - attributes <-> values of the algebra --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::AxisRef;
using shardonnay::FactorKind;
using shardonnay::FactorRule;
using shardonnay::Mesh;

//===----------------------------------------------------------------------===//
// Meshes and axes
//===----------------------------------------------------------------------===//

Mesh mlir::sdy::toMesh(MeshAttr mesh) {
  SmallVector<int64_t> sizes;
  for (MeshAxisAttr axis : mesh.getAxes())
    sizes.push_back(axis.getSize());
  return Mesh(sizes,
              mesh.isMaximal() ? ArrayRef<int64_t>() : mesh.getDeviceIds());
}

AxisRef mlir::sdy::toAxisRef(AxisRefAttr axis, MeshAttr mesh) {
  auto index = static_cast<int32_t>(mesh.getAxisIndex(axis.getName()));
  if (SubAxisInfoAttr subAxis = axis.getSubAxisInfo())
    return {index, subAxis.getPreSize(), subAxis.getSize()};
  return {index, 1, mesh.getAxes()[index].getSize()};
}

AxisList mlir::sdy::toAxisList(ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  AxisList list;
  for (AxisRefAttr axis : axes)
    list.append(toAxisRef(axis, mesh));
  return list;
}

AxisRefAttr mlir::sdy::fromAxisRef(AxisRef axis, MeshAttr mesh) {
  MeshAxisAttr full = mesh.getAxes()[axis.axis];
  MLIRContext *context = mesh.getContext();
  if (axis.size == full.getSize())
    return AxisRefAttr::get(context, full.getName(), nullptr);
  return AxisRefAttr::get(context, full.getName(),
                          SubAxisInfoAttr::get(context, axis.pre, axis.size));
}

SmallVector<AxisRefAttr> mlir::sdy::fromAxisList(const AxisList &axes,
                                                 MeshAttr mesh) {
  return llvm::map_to_vector(
      axes, [&](AxisRef axis) { return fromAxisRef(axis, mesh); });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static shardonnay::TensorMapping toMapping(TensorMappingAttr mapping) {
  shardonnay::TensorMapping result;
  for (DimMappingAttr dim : mapping.getDimMappings()) {
    shardonnay::DimFactors &factors = result.dims.emplace_back();
    for (int64_t factor : dim.getFactorIndices())
      factors.push_back(static_cast<int32_t>(factor));
  }
  return result;
}

static TensorMappingAttr fromMapping(MLIRContext *context,
                                     const shardonnay::TensorMapping &mapping) {
  SmallVector<DimMappingAttr> dims;
  for (const shardonnay::DimFactors &factors : mapping.dims)
    dims.push_back(
        DimMappingAttr::get(context, llvm::to_vector_of<int64_t>(factors)));
  return TensorMappingAttr::get(context, dims);
}

FactorRule mlir::sdy::toRule(OpShardingRuleAttr rule) {
  FactorRule result;
  for (int64_t size : rule.getFactorSizes())
    result.factors.emplace_back().size = size;
  for (int64_t factor : rule.getReductionFactors())
    result.factors[factor].kind = FactorKind::Reduction;
  for (int64_t factor : rule.getNeedReplicationFactors())
    result.factors[factor].kind = FactorKind::NeedReplication;
  for (int64_t factor : rule.getPermutationFactors())
    result.factors[factor].kind = FactorKind::Windowed;
  for (int64_t factor : rule.getBlockedPropagationFactors())
    result.factors[factor].blocked = true;
  for (TensorMappingAttr mapping : rule.getOperandMappings())
    result.operands.push_back(toMapping(mapping));
  for (TensorMappingAttr mapping : rule.getResultMappings())
    result.results.push_back(toMapping(mapping));
  result.custom = rule.getIsCustom();
  return result;
}

OpShardingRuleAttr mlir::sdy::fromRule(MLIRContext *context,
                                       const FactorRule &rule) {
  SmallVector<int64_t> sizes, reduction, needReplication, permutation, blocked;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    sizes.push_back(factor.size);
    if (rule.reducesOver(index))
      reduction.push_back(index);
    else if (factor.kind == FactorKind::NeedReplication)
      needReplication.push_back(index);
    else if (factor.kind == FactorKind::Windowed)
      permutation.push_back(index);
    if (factor.blocked)
      blocked.push_back(index);
  }
  auto mappings = [&](ArrayRef<shardonnay::TensorMapping> tensors) {
    return llvm::map_to_vector(tensors,
                               [&](const shardonnay::TensorMapping &mapping) {
                                 return fromMapping(context, mapping);
                               });
  };
  return OpShardingRuleAttr::get(
      context, sizes, mappings(rule.operands), mappings(rule.results),
      reduction, needReplication, permutation, blocked, rule.custom);
}
