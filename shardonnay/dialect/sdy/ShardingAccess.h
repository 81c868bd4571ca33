//===- ShardingAccess.h - where a value's sharding is kept ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_SHARDINGACCESS_H
#define SHARDONNAY_DIALECT_SDY_SHARDINGACCESS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/dialect/sdy/Ops.h"

namespace mlir::sdy {

/// The sharding that is written for `value`; null if none is. It is kept
///  * for an argument of a function, in the argument's attribute;
///  * for the result of a sharding constraint, a reshard, a collective or a
///    data-flow edge, in the operation's own attribute;
///  * for the results and body arguments of a manual or named computation, in
///    its out- and in-shardings; those of a body argument are given as the body
///    sees them, without manual axes;
///  * for any other result, in the operation's `sdy.sharding`;
///  * for other block arguments, where their class has it
///    (interfaces/DataFlowEdge.h): with the result that owns it, or that one's
///    data-flow edge, or, if a block argument owns it, in the operation's
///    `sdy.block_argument_shardings`.
/// Block arguments in no class have none.
TensorShardingAttr getSharding(Value value);

/// Writes it there; null takes it away (not allowed where the operation must
/// have one). Other results of an operation that had no shardings get fully
/// open ones. Requires a value that can have one.
void setSharding(Value value, TensorShardingAttr sharding);

SmallVector<TensorShardingAttr> getShardings(ValueRange values);

/// `shardings` of values of `types`, the missing (null) ones fully open; null
/// if all are missing. Meshes are found from `from`.
TensorShardingPerValueAttr
completeShardings(TypeRange types,
                  MutableArrayRef<TensorShardingAttr> shardings,
                  Operation *from);

/// The sharding that the class of values that `source` flows into has
/// (interfaces/DataFlowEdge.h), as it is seen where `source` stands: inside a
/// manual computation without manual axes. Null if it flows into none, or if
/// that has no sharding.
TensorShardingAttr getClassSharding(OpOperand &source);

TensorShardingAttr getFuncResultSharding(func::FuncOp func, unsigned result);
/// Null takes it away.
void setFuncResultSharding(func::FuncOp func, unsigned result,
                           TensorShardingAttr sharding);

/// Both have unreduced axes, of different kinds: a reshard doesn't go there,
/// but through a whole value.
bool changesKind(TensorShardingAttr from, TensorShardingAttr to);

/// Shardings stand in the discardable attributes of `op` and in its properties,
/// but for properties that say what a constant is, or what is computed (of an
/// op with a sharding rule): they are left out.
void walkShardings(Operation *op, AttrTypeWalker &walker);
void replaceShardings(Operation *op, AttrTypeReplacer &replacer);

/// The mesh operation that `name` means at `from`; null if there is none.
MeshOp getMeshOp(Operation *from, FlatSymbolRefAttr name);

/// The mesh of `sharding`, found from `from` if it is a name; null if there is
/// no mesh of that name.
MeshAttr getMesh(Operation *from, TensorShardingAttr sharding);

/// All axes of `mesh` but those that are manual around `op`, in order.
shardonnay::AxisList getDeviceAxes(Operation *op, MeshAttr mesh);

/// The mesh that a program is partitioned over: of those with axes the first
/// one that a sharding names an axis of, else the first one, else null. Export
/// puts the mesh that it writes a program on before the others.
MeshOp getProgramMesh(ModuleOp module);
/// Fails, with an error at it, if a mesh of the module has an axis without a
/// size: what a device holds is not known.
LogicalResult verifyMeshSizes(ModuleOp module);
/// That of most shardings of a program that name an axis (of equals, the first
/// one), else as `getProgramMesh`.
MeshOp getMostUsedMesh(ModuleOp module);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_SHARDINGACCESS_H
