//===- Collectives.cpp - verifiers of the sdy collectives -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every collective states the sharding of its result; the verifiers compute it
// again from the operand's and the collective's axes.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::ReductionKind;
using shardonnay::TensorSharding;

namespace {

/// The two shardings of a collective on one mesh.
struct InOut {
  MeshAttr mesh;
  TensorSharding in;
  TensorSharding out;
};

} // namespace

/// Reads both shardings; checks the result's, and that the meshes agree (with
/// `anyDeviceOrder`, up to the order of the devices).
static FailureOr<InOut> readShardings(Operation *op, TensorShardingAttr out,
                                      bool anyDeviceOrder = false) {
  Value operand = op->getOperand(0);
  if (failed(verifySharding(out, op->getResult(0).getType(), op,
                            [&] { return op->emitOpError(); })))
    return failure();
  TensorShardingAttr in = getSharding(operand);
  if (!in) {
    InFlightDiagnostic diag =
        op->emitOpError("expected an operand with a sharding");
    diag.attachNote(operand.getLoc()) << "the operand is made here";
    return diag;
  }
  // What makes it may come later in the program, and so be verified later.
  if (failed(verifySharding(in, operand.getType(), op,
                            [&] { return op->emitOpError("operand: "); })))
    return failure();
  MeshAttr inMesh = getMesh(op, in), outMesh = getMesh(op, out);
  if (inMesh != outMesh && !(anyDeviceOrder && inMesh.hasSameAxes(outMesh)))
    return op->emitOpError("expected the mesh of the operand, ")
           << in.getMeshOrRef() << ", got " << out.getMeshOrRef();
  return InOut{inMesh, toSharding(in, inMesh), toSharding(out, outMesh)};
}

/// Dim `dim` of `found` has the axes `expected`.
static LogicalResult expectDim(Operation *op, MeshAttr mesh, int64_t dim,
                               const AxisList &found,
                               const AxisList &expected) {
  if (found == expected)
    return success();
  return op->emitOpError("dim ")
         << dim << ": expected the axes "
         << AxisRefListAttr::get(op->getContext(), fromAxisList(expected, mesh))
         << ", got "
         << AxisRefListAttr::get(op->getContext(), fromAxisList(found, mesh));
}

static LogicalResult expectSameDims(Operation *op, const InOut &shardings) {
  for (auto [dim, in, out] :
       llvm::enumerate(shardings.in.dims, shardings.out.dims))
    if (failed(expectDim(op, shardings.mesh, dim, out.axes, in.axes)))
      return failure();
  return success();
}

/// The result's unreduced axes are `expected`, and of one kind with the
/// operand's.
static LogicalResult expectUnreduced(Operation *op, const InOut &shardings,
                                     const AxisList &expected) {
  const TensorSharding &out = shardings.out;
  if (!out.unreduced.sameSet(expected))
    return op->emitOpError("expected the unreduced axes ")
           << AxisRefListAttr::get(
                  op->getContext(),
                  fromAxisList(expected.sorted(), shardings.mesh))
           << " in the result, got "
           << AxisRefListAttr::get(op->getContext(),
                                   fromAxisList(out.unreduced, shardings.mesh));
  if (!out.unreduced.empty() && !shardings.in.unreduced.empty() &&
      out.kind != shardings.in.kind)
    return op->emitOpError("expected the kind ")
           << shardonnay::toString(shardings.in.kind)
           << " of unreduced axes, got " << shardonnay::toString(out.kind);
  return success();
}

/// The lists of a collective, one for each dim of the result.
static FailureOr<SmallVector<AxisList>>
readDimAxes(Operation *op, ListOfAxisRefListsAttr attr, MeshAttr mesh) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  ArrayRef<AxisRefListAttr> lists = attr.getValue();
  if (static_cast<int64_t>(lists.size()) != rank)
    return op->emitOpError("expected axes for each of ")
           << rank << " dims, got " << lists.size() << " lists";
  SmallVector<ArrayRef<AxisRefAttr>> refs;
  for (AxisRefListAttr list : lists)
    refs.push_back(list.getValue());
  if (failed(verifyAxes(refs, mesh, [&] { return op->emitOpError(); })))
    return failure();
  return llvm::map_to_vector(
      refs, [&](ArrayRef<AxisRefAttr> axes) { return toAxisList(axes, mesh); });
}

static FailureOr<AxisList> readAxes(Operation *op, AxisRefListAttr attr,
                                    MeshAttr mesh) {
  if (failed(
          verifyAxes(attr.getValue(), mesh, [&] { return op->emitOpError(); })))
    return failure();
  return toAxisList(attr.getValue(), mesh);
}

static AxisList append(AxisList list, const AxisList &minor) {
  list.append(minor);
  return list;
}

/// In every dim, the axes of `major` followed by the collective's `lists` are
/// those of `all`; `all` is what the diagnostic speaks of.
static LogicalResult expectSuffixes(Operation *op, MeshAttr mesh,
                                    const TensorSharding &major,
                                    ArrayRef<AxisList> lists,
                                    const TensorSharding &all) {
  for (auto [dim, list] : llvm::enumerate(lists))
    if (failed(expectDim(op, mesh, dim, all.dims[dim].axes,
                         append(major.dims[dim].axes, list))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Axes of dims
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto lists = readDimAxes(*this, getGatheringAxes(), shardings->mesh);
  if (failed(lists) ||
      failed(expectSuffixes(*this, shardings->mesh, shardings->out, *lists,
                            shardings->in)))
    return failure();
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

LogicalResult AllSliceOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto lists = readDimAxes(*this, getSlicingAxes(), shardings->mesh);
  if (failed(lists) ||
      failed(expectSuffixes(*this, shardings->mesh, shardings->in, *lists,
                            shardings->out)))
    return failure();
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

LogicalResult CollectivePermuteOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), /*anyDeviceOrder=*/true);
  if (failed(shardings))
    return failure();
  for (auto [dim, in, out] :
       llvm::enumerate(shardings->in.dims, shardings->out.dims))
    if (in.axes.numShards() != out.axes.numShards())
      return emitOpError("dim ")
             << dim << ": expected " << in.axes.numShards()
             << " shards as in the operand, got " << out.axes.numShards();
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

/// Takes the move's axes off its source and puts them on its target.
static LogicalResult applyMove(AllToAllOp op, AllToAllParamAttr move,
                               MeshAttr mesh, TensorSharding &sharding) {
  AxisList axes = toAxisList(move.getAxes(), mesh), rest;
  AxisList &source = sharding.dims[move.getSrcDim()].axes;
  std::optional<AxisList> suffix = source.suffixOfSize(axes.numShards(), &rest);
  if (!suffix || *suffix != axes)
    return op.emitOpError("dim ")
           << move.getSrcDim() << ": expected axes that end in "
           << AxisRefListAttr::get(op.getContext(), move.getAxes()) << ", got "
           << AxisRefListAttr::get(op.getContext(), fromAxisList(source, mesh));
  source = rest;
  sharding.dims[move.getTgtDim()].axes.append(axes);
  return success();
}

/// The moves' axes and dims: in range, each dim in one move only.
static LogicalResult verifyMoves(AllToAllOp op, MeshAttr mesh) {
  ArrayRef<AllToAllParamAttr> moves = op.getParams().getValue();
  if (moves.empty())
    return op.emitOpError("expected at least one move of axes");
  SmallVector<ArrayRef<AxisRefAttr>> lists;
  llvm::SmallBitVector used(op.getType().getRank());
  for (AllToAllParamAttr move : moves) {
    lists.push_back(move.getAxes());
    if (move.getAxes().empty())
      return op.emitOpError("expected axes in each move");
    for (int64_t dim : {move.getSrcDim(), move.getTgtDim()}) {
      if (dim < 0 || dim >= op.getType().getRank())
        return op.emitOpError("expected dims from 0 to ")
               << op.getType().getRank() - 1 << ", got " << dim;
      if (used.test(dim))
        return op.emitOpError("dim ") << dim << " occurs twice in the moves";
      used.set(dim);
    }
  }
  return verifyAxes(lists, mesh, [&] { return op.emitOpError(); });
}

LogicalResult AllToAllOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings) || failed(verifyMoves(*this, shardings->mesh)))
    return failure();
  for (AllToAllParamAttr move : getParams().getValue())
    if (failed(applyMove(*this, move, shardings->mesh, shardings->in)))
      return failure();
  return success(
      succeeded(expectSameDims(*this, *shardings)) &&
      succeeded(expectUnreduced(*this, *shardings, shardings->in.unreduced)));
}

//===----------------------------------------------------------------------===//
// Partial values
//===----------------------------------------------------------------------===//

/// `axes` cut no dim of the operand, are not held replicated there, and if they
/// are unreduced, then of this kind. Axes that are not marked unreduced may be
/// partial all the same: only the producer knows.
static LogicalResult verifyReduction(Operation *op, const InOut &shardings,
                                     const AxisList &axes, ReductionKind kind) {
  const TensorSharding &in = shardings.in;
  bool cutsDim = llvm::any_of(in.dims, [&](const shardonnay::DimSharding &dim) {
    return dim.axes.overlaps(axes);
  });
  if (cutsDim || in.replicated.overlaps(axes))
    return op->emitOpError("reduces along axes that cut a dim of the operand "
                           "or are replicated in it");
  if (in.unreduced.overlaps(axes) && in.kind != kind)
    return op->emitOpError("expected the kind ")
           << shardonnay::toString(in.kind)
           << " of the operand's unreduced axes, got "
           << shardonnay::toString(kind);
  return expectUnreduced(op, shardings, in.unreduced.subtract(axes));
}

LogicalResult AllReduceOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto axes = readAxes(*this, getReductionAxes(), shardings->mesh);
  if (failed(axes) || failed(expectSameDims(*this, *shardings)))
    return failure();
  return verifyReduction(*this, *shardings, *axes, getKind());
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto lists = readDimAxes(*this, getReduceScatterAxes(), shardings->mesh);
  if (failed(lists) ||
      failed(expectSuffixes(*this, shardings->mesh, shardings->in, *lists,
                            shardings->out)))
    return failure();
  AxisList axes;
  for (const AxisList &list : *lists)
    axes.append(list);
  return verifyReduction(*this, *shardings, axes, getKind());
}

LogicalResult ShardedToUnreducedOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto lists = readDimAxes(*this, getAxes(), shardings->mesh);
  if (failed(lists) ||
      failed(expectSuffixes(*this, shardings->mesh, shardings->out, *lists,
                            shardings->in)))
    return failure();
  AxisList unreduced = shardings->in.unreduced;
  for (const AxisList &list : *lists)
    unreduced.append(list);
  return expectUnreduced(*this, *shardings, unreduced);
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto axes = readAxes(*this, getAxes(), shardings->mesh);
  if (failed(axes) || failed(expectSameDims(*this, *shardings)))
    return failure();
  for (const shardonnay::DimSharding &dim : shardings->in.dims)
    if (dim.axes.overlaps(*axes))
      return emitOpError("axes cut a dim of the operand, expected replicated "
                         "ones");
  return expectUnreduced(*this, *shardings,
                         append(shardings->in.unreduced, *axes));
}
