//===- Ops.cpp - verifiers of the spmd operations -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"

using namespace mlir;
using namespace mlir::spmd;

#include "shardonnay/dialect/spmd/Dialect.cpp.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/spmd/Ops.cpp.inc"

void SpmdDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/spmd/Ops.cpp.inc"
      >();
}

template <typename OpT> static FailureOr<sdy::MeshAttr> findMesh(OpT op) {
  sdy::MeshOp mesh = sdy::getMeshOp(op, op.getMeshAttr());
  if (!mesh)
    return op.emitOpError("unknown mesh ")
           << op.getMeshAttr()
           << ", expected the name of an 'sdy.mesh' of the module";
  return mesh.getMesh();
}

/// How many devices the group of `op` has: checks its mesh and axes.
template <typename OpT> static FailureOr<int64_t> getGroupSize(OpT op) {
  FailureOr<sdy::MeshAttr> mesh = findMesh(op);
  if (failed(mesh))
    return failure();
  ArrayRef<sdy::AxisRefAttr> axes = op.getAxes().getValue();
  if (axes.empty())
    return op.emitOpError("expected at least one axis");
  if (failed(sdy::verifyAxes(axes, *mesh, [&] { return op.emitOpError(); })))
    return failure();
  return sdy::toAxisList(axes, *mesh).numShards();
}

/// Divides dim `dim` of the shape by the size of the group.
static LogicalResult cutDim(Operation *op, SmallVectorImpl<int64_t> &shape,
                            int64_t dim, int64_t groupSize) {
  if (shape[dim] % groupSize != 0)
    return op->emitOpError("expected dim ")
           << dim << " to have a size that the " << groupSize
           << " devices of a group divide, got " << shape[dim];
  shape[dim] /= groupSize;
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dim < 0 || dim >= rank)
    return op->emitOpError("expected a dim of the ")
           << rank << " of the operand, got " << dim;
  return success();
}

/// The result is the operand's type with `shape`.
static LogicalResult expectShape(Operation *op, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Type expected = type.clone(shape), found = op->getResult(0).getType();
  if (found != expected)
    return op->emitOpError("expected the result type ")
           << expected << ", got " << found;
  return success();
}

/// Checks an operation whose result is a piece of the operand's dim.
template <typename OpT> static LogicalResult verifyCut(OpT op) {
  FailureOr<int64_t> groupSize = getGroupSize(op);
  int64_t dim = op.getDim();
  if (failed(groupSize) || failed(verifyDim(op, dim)))
    return failure();
  SmallVector<int64_t> shape(op.getTensor().getType().getShape());
  if (failed(cutDim(op, shape, dim, *groupSize)))
    return failure();
  return expectShape(op, shape);
}

LogicalResult DeviceIndexOp::verify() {
  return success(succeeded(getGroupSize(*this)));
}

LogicalResult AllSliceOp::verify() { return verifyCut(*this); }

LogicalResult ReduceScatterOp::verify() { return verifyCut(*this); }

LogicalResult AllReduceOp::verify() {
  return success(succeeded(getGroupSize(*this)));
}

LogicalResult AllGatherOp::verify() {
  FailureOr<int64_t> groupSize = getGroupSize(*this);
  int64_t dim = getDim();
  if (failed(groupSize) || failed(verifyDim(*this, dim)))
    return failure();
  SmallVector<int64_t> shape(getTensor().getType().getShape());
  shape[dim] *= *groupSize;
  return expectShape(*this, shape);
}

/// A list of known axes for each dim of the tensor.
static LogicalResult verifyPiece(CollectivePermuteOp op, sdy::MeshAttr mesh,
                                 sdy::ListOfAxisRefListsAttr axesPerDim) {
  int64_t rank = op.getType().getRank();
  if (static_cast<int64_t>(axesPerDim.getValue().size()) != rank)
    return op.emitOpError("expected axes for ")
           << rank << " dims, got " << axesPerDim.getValue().size();
  auto lists =
      llvm::map_to_vector(axesPerDim.getValue(), [](sdy::AxisRefListAttr list) {
        return list.getValue();
      });
  return sdy::verifyAxes(lists, mesh, [&] { return op.emitOpError(); });
}

LogicalResult CollectivePermuteOp::verify() {
  FailureOr<sdy::MeshAttr> mesh = findMesh(*this);
  if (failed(mesh) || failed(verifyPiece(*this, *mesh, getSource())) ||
      failed(verifyPiece(*this, *mesh, getTarget())))
    return failure();
  for (auto [dim, from, to] :
       llvm::enumerate(getSource().getValue(), getTarget().getValue())) {
    int64_t before = sdy::toAxisList(from.getValue(), *mesh).numShards();
    int64_t after = sdy::toAxisList(to.getValue(), *mesh).numShards();
    if (before != after)
      return emitOpError("expected dim ")
             << dim << " cut into " << before << " as before, got " << after;
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  FailureOr<int64_t> groupSize = getGroupSize(*this);
  int64_t splitDim = getSplitDim(), concatDim = getConcatDim();
  if (failed(groupSize) || failed(verifyDim(*this, splitDim)) ||
      failed(verifyDim(*this, concatDim)))
    return failure();
  SmallVector<int64_t> shape(getTensor().getType().getShape());
  if (failed(cutDim(*this, shape, splitDim, *groupSize)))
    return failure();
  shape[concatDim] *= *groupSize;
  return expectShape(*this, shape);
}
