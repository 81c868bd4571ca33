//===- BytecodeForm.h - what attributes are in bytecode -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute is its code and then its parts. The meshes of shardings and the
// shardings of a list are references to attributes, because many share them;
// everything else stands in place. Numbers are variable-width: a full axis
// takes one byte, `<@mesh, [{"x"}, {}]>` six.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_BYTECODEFORM_H
#define SHARDONNAY_DIALECT_SDY_BYTECODEFORM_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "shardonnay/dialect/sdy/Attributes.h"

namespace mlir::sdy::bytecode {

/// What stands before an attribute. Only appended to.
enum class Code : uint64_t {
  MeshAxis = 0,
  Mesh = 1,
  SubAxisInfo = 2,
  AxisRef = 3,
  AxisRefList = 4,
  ListOfAxisRefLists = 5,
  ManualAxes = 6,
  ReductionKind = 7,
  DimensionSharding = 8,
  TensorSharding = 9,
  TensorShardingPerValue = 10,
  DimMapping = 11,
  TensorMapping = 12,
  OpShardingRule = 13,
  AllToAllParam = 14,
  AllToAllParamList = 15,
  EdgeValueRef = 16,
  AxisToPropagationDetails = 17,
  PropagationOneStep = 18,
  PropagationEdges = 19,
};

/// The number by which a reduction kind is written; it does not follow the
/// enumeration when that changes.
uint64_t toCode(shardonnay::ReductionKind kind);

/// Likewise for the side of an operation.
uint64_t toCode(EdgeNodeType type);

/// Writes `attr` in the current version's form. Failure if it has none; then
/// MLIR writes it as text.
LogicalResult write(Attribute attr, DialectBytecodeWriter &out);

/// Reads what `write` wrote. Null, and an error, if that is not a valid
/// attribute.
Attribute read(DialectBytecodeReader &in);

} // namespace mlir::sdy::bytecode

#endif // SHARDONNAY_DIALECT_SDY_BYTECODEFORM_H
