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
#include <array>
#include <tuple>

namespace mlir::sdy::bytecode {

/// What stands before an attribute is its place here. Only appended to.
using Coded =
    std::tuple<MeshAxisAttr, MeshAttr, SubAxisInfoAttr, AxisRefAttr,
               AxisRefListAttr, ListOfAxisRefListsAttr, ManualAxesAttr,
               ReductionKindAttr, DimensionShardingAttr, TensorShardingAttr,
               TensorShardingPerValueAttr, DimMappingAttr, TensorMappingAttr,
               OpShardingRuleAttr, AllToAllParamAttr, AllToAllParamListAttr,
               EdgeValueRefAttr, AxisToPropagationDetailsAttr,
               PropagationOneStepAttr, PropagationEdgesAttr>;
using Codes = std::make_index_sequence<std::tuple_size_v<Coded>>;

/// Likewise a reduction kind and the side of an operation are written as their
/// places; these do not follow the enumerations when those change.
inline constexpr std::array kReductionKinds = {shardonnay::ReductionKind::Sum,
                                               shardonnay::ReductionKind::Max,
                                               shardonnay::ReductionKind::Min};
inline constexpr std::array kSides = {EdgeNodeType::OPERAND,
                                      EdgeNodeType::RESULT};

/// Writes `attr` in the current version's form. Failure if it has none; then
/// MLIR writes it as text.
LogicalResult write(Attribute attr, DialectBytecodeWriter &out);

/// Reads what `write` wrote. Null, and an error, if that is not a valid
/// attribute.
Attribute read(DialectBytecodeReader &in);

} // namespace mlir::sdy::bytecode

#endif // SHARDONNAY_DIALECT_SDY_BYTECODEFORM_H
