//===- RecordVerifier.cpp - records of a propagation ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the operation's own edges are checked against its values: those of block
// arguments and results speak of data-flow edges, which may be gone. Origins
// are free text.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"

using namespace mlir;
using namespace mlir::sdy;

/// The value of `op` that `ref` names; null if it has none, with an error.
static Value findValue(Operation *op, EdgeValueRefAttr ref) {
  bool isOperand = ref.getType() == EdgeNodeType::OPERAND;
  int64_t count = isOperand ? op->getNumOperands() : op->getNumResults();
  if (ref.getIndex() >= 0 && ref.getIndex() < count)
    return isOperand ? op->getOperand(ref.getIndex())
                     : Value(op->getResult(ref.getIndex()));
  // C70
  op->emitOpError() << "propagation edges: " << stringifyEnum(ref.getType())
                    << " " << ref.getIndex() << " is named, but the operation "
                    << "has " << count;
  return nullptr;
}

/// Adds the mesh of `value`'s sharding, if it has one, to what is known.
static LogicalResult addMesh(Operation *op, Value value, MeshAttr &common) {
  TensorShardingAttr sharding = getSharding(value);
  MeshAttr mesh = sharding ? getMesh(op, sharding) : nullptr;
  if (!mesh || mesh == common)
    return success();
  if (common) { // C71
    InFlightDiagnostic diag = op->emitOpError()
                              << "propagation edges: expected values on one "
                                 "mesh, got "
                              << common << " and " << mesh;
    diag.attachNote(value.getLoc()) << "the second is used here";
    return diag;
  }
  common = mesh;
  return success();
}

static LogicalResult verifyEdges(Operation *op, PropagationEdgesAttr edges) {
  MeshAttr mesh;
  for (PropagationOneStepAttr step : edges.getValue())
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries()) {
      SmallVector<EdgeValueRefAttr> refs = {entry.getSource()};
      llvm::append_range(refs, entry.getTargets());
      for (EdgeValueRefAttr ref : refs) {
        Value value = findValue(op, ref);
        if (!value || failed(addMesh(op, value, mesh)))
          return failure();
      }
    }
  if (!mesh) // C71
    return op->emitOpError() << "propagation edges: expected a value with a "
                                "sharding among those that they name";
  for (PropagationOneStepAttr step : edges.getValue())
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries())
      if (mesh.getAxisIndex(entry.getAxisName().getName()) < 0) // C71
        return op->emitOpError() << "propagation edges: unknown axis "
                                 << entry.getAxisName().toString()
                                 << ", expected one of the mesh " << mesh;
  return success();
}

LogicalResult mlir::sdy::verifyPropagationRecord(Operation *op,
                                                 NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kPropagationEdgesAttr) {
    if (auto edges = dyn_cast<PropagationEdgesAttr>(attr.getValue()))
      return verifyEdges(op, edges);
    // C70
    return op->emitOpError()
           << "expected '" << name << "' to be '#sdy.propagation_edges', got "
           << attr.getValue();
  }
  if (name != kBlockArgPropagationEdgesAttr &&
      name != kResultPropagationEdgesAttr)
    return success();
  auto list = dyn_cast<ArrayAttr>(attr.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<PropagationEdgesAttr>)) // C70
    return op->emitOpError() << "expected '" << name
                             << "' to be an array of '#sdy.propagation_edges', "
                                "got "
                             << attr.getValue();
  return success();
}
