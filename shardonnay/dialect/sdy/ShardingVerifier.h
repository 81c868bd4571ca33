//===- ShardingVerifier.h - shardings against mesh and type ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_SHARDINGVERIFIER_H
#define SHARDONNAY_DIALECT_SDY_SHARDINGVERIFIER_H

#include "mlir/IR/Operation.h"
#include "shardonnay/dialect/sdy/Attributes.h"

namespace mlir::sdy {

/// Starts an error at the place whose sharding is checked, with words that name
/// it.
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Axes and the place in a sharding or collective where they stand: dim `dim`,
/// or what `list` names.
struct AxesAt {
  ArrayRef<AxisRefAttr> axes;
  int64_t dim = -1;
  StringRef list = "";
};

/// The axes exist in `mesh`, sub-axes divide theirs, and no two of all lists
/// overlap; inside one list no neighbours can merge. A sub-axis that is a whole
/// axis is allowed on request. `meshOp`, if there is one, gets a note.
LogicalResult verifyAxes(ArrayRef<AxesAt> lists, MeshAttr mesh,
                         Operation *meshOp, EmitError emitError,
                         bool allowWhole = false);
/// One list for each dim.
LogicalResult verifyAxes(ArrayRef<ArrayRef<AxisRefAttr>> lists, MeshAttr mesh,
                         Operation *meshOp, EmitError emitError);

/// `axes` come in the order of the mesh; `what` names them.
LogicalResult verifyMeshOrder(ArrayRef<AxisRefAttr> axes, StringRef what,
                              MeshAttr mesh, Operation *meshOp,
                              EmitError emitError);

/// `sharding` fits a value of `type`. Divisibility is not asked for. `from` is
/// the operation that carries it: from there the mesh is found, and axes that a
/// manual computation around it binds must not occur.
LogicalResult verifySharding(TensorShardingAttr sharding, Type type,
                             Operation *from, EmitError emitError);

/// What can be said of `sharding` as the encoding of a tensor that is else of
/// `type`: types know no symbols, so a mesh that is named is not looked up.
LogicalResult verifyEncoding(TensorShardingAttr sharding, RankedTensorType type,
                             EmitError emitError);

/// As many shardings as `types`, each fitting; `what` names the values.
LogicalResult verifyShardings(TensorShardingPerValueAttr shardings,
                              TypeRange types, Operation *from, StringRef what);

/// `rule` fits the operands and results of `op`.
LogicalResult verifyRule(OpShardingRuleAttr rule, Operation *op);

/// `attr` is the record of a propagation that `name` stands for, and speaks of
/// values of `op` and of axes that their mesh has. Other names are not looked
/// at.
LogicalResult verifyPropagationRecord(Operation *op, NamedAttribute attr);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_SHARDINGVERIFIER_H
