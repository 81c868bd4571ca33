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
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::pointAtOperand;
using shardonnay::ReductionKind;
using shardonnay::TensorSharding;

namespace {

/// The two shardings of a collective on one mesh.
struct InOut {
  MeshAttr mesh;
  /// The operation that declares the mesh; null if it stands in the sharding.
  Operation *meshOp;
  TensorSharding in;
  TensorSharding out;
};

/// What a collective takes besides an operand that is sharded on its mesh.
enum class Takes {
  ShardedOperand,
  /// An operand without a sharding is replicated on the result's mesh.
  AnyOperand,
  /// The result's mesh may have its devices in another order.
  OtherOrder
};

} // namespace

/// The meshes of operand and result are one, or may differ as they do.
static LogicalResult verifyMeshes(Operation *op, TensorShardingAttr in,
                                  TensorShardingAttr out, Takes takes) {
  MeshAttr inMesh = getMesh(op, in), outMesh = getMesh(op, out);
  if (inMesh == outMesh) {
    if (takes != Takes::OtherOrder || in.getMeshOrRef() == out.getMeshOrRef())
      return success();
    // C61
    return pointAtOperand(op->emitOpError("expected the mesh of the operand, ")
                              << in.getMeshOrRef()
                              << ", or one with another order of the devices, "
                              << "got " << out.getMeshOrRef()
                              << " with the same order",
                          op->getOperand(0));
  }
  if (takes == Takes::OtherOrder && inMesh.hasSameAxes(outMesh))
    return success();
  return pointAtOperand( // C55
      op->emitOpError("expected the mesh of the operand, ")
          << in.getMeshOrRef() << ", got " << out.getMeshOrRef(),
      op->getOperand(0));
}

/// Reads both shardings; checks the result's, and that the meshes agree.
static FailureOr<InOut> readShardings(Operation *op, TensorShardingAttr out,
                                      Takes takes = Takes::ShardedOperand) {
  Value operand = op->getOperand(0);
  if (failed(verifySharding(out, op->getResult(0).getType(), op,
                            [&] { return op->emitOpError(); })))
    return failure();
  TensorShardingAttr in = getSharding(operand);
  if (!in && takes == Takes::AnyOperand)
    in = TensorShardingAttr::getFullyClosed(op->getContext(), out.getRank(),
                                            out.getMeshOrRef());
  if (!in) // C54
    return pointAtOperand(
        op->emitOpError("expected an operand with a sharding"), operand);
  // What makes it may come later in the program, and so be verified later.
  if (failed(verifySharding(in, operand.getType(), op,
                            [&] { return op->emitOpError("operand: "); })) ||
      failed(verifyMeshes(op, in, out, takes)))
    return failure();
  MeshAttr mesh = getMesh(op, in);
  FlatSymbolRefAttr name = out.getMeshSymbol();
  return InOut{mesh, name ? getMeshOp(op, name).getOperation() : nullptr,
               toSharding(in, mesh), toSharding(out, getMesh(op, out))};
}

/// Dim `dim` of `found` has the axes `expected`.
static LogicalResult expectDim(Operation *op, MeshAttr mesh, int64_t dim,
                               const AxisList &found,
                               const AxisList &expected) {
  if (found == expected)
    return success();
  NamedMesh named{mesh, nullptr};
  return pointAtOperand(op->emitOpError("dim ") // C57
                            << dim << ": expected the axes "
                            << named.write(expected) << ", got "
                            << named.write(found),
                        op->getOperand(0));
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
  if (!out.unreduced.sameSet(expected)) // C58
    return pointAtOperand(
        op->emitOpError("expected the unreduced axes ")
            << NamedMesh{shardings.mesh, nullptr}.write(expected.sorted())
            << " in the result, got "
            << NamedMesh{shardings.mesh, nullptr}.write(out.unreduced),
        op->getOperand(0));
  if (!out.unreduced.empty() && !shardings.in.unreduced.empty() &&
      out.kind != shardings.in.kind) // C59
    return pointAtOperand(op->emitOpError("expected the kind ")
                              << shardonnay::toString(shardings.in.kind)
                              << " of unreduced axes, got "
                              << shardonnay::toString(out.kind),
                          op->getOperand(0));
  return success();
}

/// The lists of a collective, one for each dim of the result.
static FailureOr<SmallVector<AxisList>> readDimAxes(Operation *op,
                                                    ListOfAxisRefListsAttr attr,
                                                    const InOut &shardings) {
  size_t rank = shardings.out.dims.size();
  ArrayRef<AxisRefListAttr> lists = attr.getValue();
  if (lists.size() != rank) // C56
    return op->emitOpError("expected axes for each of ")
           << rank << " dims, got " << lists.size() << " lists";
  SmallVector<AxesAt> places;
  for (auto [dim, list] : llvm::enumerate(lists))
    places.push_back({list.getValue(), static_cast<int64_t>(dim)});
  if (failed(verifyAxes(
          places, shardings.mesh, shardings.meshOp,
          [&] { return op->emitOpError(); }, /*allowWhole=*/true)))
    return failure();
  return llvm::map_to_vector(places, [&](const AxesAt &place) {
    return toAxisList(place.axes, shardings.mesh);
  });
}

/// The one list of a collective, in the order of the mesh.
static FailureOr<AxisList> readAxes(Operation *op, AxisRefListAttr attr,
                                    StringRef what, const InOut &shardings,
                                    bool allowWhole) {
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(verifyAxes(AxesAt{attr.getValue(), -1, what}, shardings.mesh,
                        shardings.meshOp, emitError, allowWhole)) ||
      // C67
      failed(verifyMeshOrder(attr.getValue(), what, shardings.mesh,
                             shardings.meshOp, emitError)))
    return failure();
  return toAxisList(attr.getValue(), shardings.mesh);
}

static AxisList append(AxisList list, const AxisList &minor) {
  list.append(minor);
  return list;
}

/// The axes of a collective's lists, one for each dim of the result. In every
/// dim, the axes of `major` followed by the list are those of `all`; `all` is
/// what the diagnostic speaks of.
static FailureOr<AxisList>
readSuffixes(Operation *op, ListOfAxisRefListsAttr attr, const InOut &shardings,
             const TensorSharding &major, const TensorSharding &all) {
  auto lists = readDimAxes(op, attr, shardings);
  if (failed(lists))
    return failure();
  AxisList axes;
  for (auto [dim, list] : llvm::enumerate(*lists)) {
    if (failed(expectDim(op, shardings.mesh, dim, all.dims[dim].axes,
                         append(major.dims[dim].axes, list))))
      return failure();
    axes.append(list);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Axes of dims
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  if (failed(readSuffixes(*this, getGatheringAxes(), *shardings, shardings->out,
                          shardings->in)))
    return failure();
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

LogicalResult AllSliceOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), Takes::AnyOperand);
  if (failed(shardings))
    return failure();
  if (failed(readSuffixes(*this, getSlicingAxes(), *shardings, shardings->in,
                          shardings->out)))
    return failure();
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

LogicalResult CollectivePermuteOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), Takes::OtherOrder);
  if (failed(shardings))
    return failure();
  for (auto [dim, in, out] :
       llvm::enumerate(shardings->in.dims, shardings->out.dims))
    if (in.axes.numShards() != out.axes.numShards()) // C60
      return pointAtOperand(emitOpError("dim ")
                                << dim << ": expected " << in.axes.numShards()
                                << " shards as in the operand, got "
                                << out.axes.numShards(),
                            getOperand());
  return expectUnreduced(*this, *shardings, shardings->in.unreduced);
}

/// Takes the move's axes off its source and puts them on its target.
static LogicalResult applyMove(AllToAllOp op, AllToAllParamAttr move,
                               MeshAttr mesh, TensorSharding &sharding) {
  AxisList axes = toAxisList(move.getAxes(), mesh), rest;
  AxisList &source = sharding.dims[move.getSrcDim()].axes;
  std::optional<AxisList> suffix = source.suffixOfSize(axes.numShards(), &rest);
  if (!suffix || *suffix != axes) // C65
    return pointAtOperand(
        op.emitOpError("dim ")
            << move.getSrcDim() << ": expected axes that end in "
            << AxisRefListAttr::get(op.getContext(), move.getAxes()) << ", got "
            << NamedMesh{mesh, nullptr}.write(source),
        op.getOperand());
  source = rest;
  sharding.dims[move.getTgtDim()].axes.append(axes);
  return success();
}

/// The moves' axes and dims: in range, each dim in one move only.
static LogicalResult verifyMoves(AllToAllOp op, const InOut &shardings) {
  ArrayRef<AllToAllParamAttr> moves = op.getParams().getValue();
  if (moves.empty()) // C62
    return op.emitOpError("expected at least one move of axes");
  SmallVector<AxesAt> lists;
  int64_t previous = std::numeric_limits<int64_t>::min();
  llvm::SmallBitVector used(op.getType().getRank());
  for (AllToAllParamAttr move : moves) {
    lists.push_back({move.getAxes(), move.getSrcDim()});
    if (move.getSrcDim() < previous) // C64
      return op.emitOpError("expected moves in the order of their source dims, "
                            "got dim ")
             << move.getSrcDim() << " behind dim " << previous;
    previous = move.getSrcDim();
    for (int64_t dim : {move.getSrcDim(), move.getTgtDim()}) {
      if (dim < 0 || dim >= op.getType().getRank()) // C63
        return op.emitOpError("expected dims from 0 to ")
               << op.getType().getRank() - 1 << ", got " << dim;
      if (used.test(dim)) // C63
        return op.emitOpError("dim ") << dim << " occurs twice in the moves";
      used.set(dim);
    }
  }
  return verifyAxes(
      lists, shardings.mesh, shardings.meshOp, [&] { return op.emitOpError(); },
      /*allowWhole=*/true);
}

LogicalResult AllToAllOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings) || failed(verifyMoves(*this, *shardings)))
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

/// The operand's unreduced axes among `axes` are of this kind, and no others
/// are lost. Axes that are not marked unreduced may be partial all the same:
/// only the producer knows.
static LogicalResult verifyReduction(Operation *op, const InOut &shardings,
                                     const AxisList &axes, ReductionKind kind) {
  const TensorSharding &in = shardings.in;
  if (in.unreduced.excludes(axes) && in.kind != kind) // C59
    return pointAtOperand(op->emitOpError("expected the kind ")
                              << shardonnay::toString(in.kind)
                              << " of the operand's unreduced axes, got "
                              << shardonnay::toString(kind),
                          op->getOperand(0));
  return expectUnreduced(op, shardings, in.unreduced.subtract(axes));
}

/// `axes` shard no dim of the operand.
static bool shardsDim(const TensorSharding &in, const AxisList &axes) {
  return llvm::any_of(in.dims, [&](const shardonnay::DimSharding &dim) {
    return dim.axes.excludes(axes);
  });
}

LogicalResult AllReduceOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), Takes::AnyOperand);
  if (failed(shardings))
    return failure();
  auto axes = readAxes(*this, getReductionAxes(), "reduction", *shardings,
                       /*allowWhole=*/true);
  if (failed(axes) || failed(expectSameDims(*this, *shardings)))
    return failure();
  if (shardsDim(shardings->in, *axes) ||
      shardings->in.replicated.excludes(*axes)) // C66
    return pointAtOperand(
        emitOpError("reduces along axes that shard a dim of the operand "
                    "or are replicated in it"),
        getOperand());
  return verifyReduction(*this, *shardings, *axes, getKind());
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), Takes::AnyOperand);
  if (failed(shardings))
    return failure();
  // The axes are new in the result's dims, so they shard none of the operand.
  auto axes = readSuffixes(*this, getReduceScatterAxes(), *shardings,
                           shardings->in, shardings->out);
  if (failed(axes))
    return failure();
  return verifyReduction(*this, *shardings, *axes, getKind());
}

LogicalResult ShardedToUnreducedOp::verify() {
  FailureOr<InOut> shardings = readShardings(*this, getOutSharding());
  if (failed(shardings))
    return failure();
  auto axes =
      readSuffixes(*this, getAxes(), *shardings, shardings->out, shardings->in);
  if (failed(axes))
    return failure();
  return expectUnreduced(*this, *shardings,
                         append(shardings->in.unreduced, *axes));
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  FailureOr<InOut> shardings =
      readShardings(*this, getOutSharding(), Takes::AnyOperand);
  if (failed(shardings))
    return failure();
  auto axes = readAxes(*this, getAxes(), "unreduced", *shardings,
                       /*allowWhole=*/false);
  if (failed(axes) || failed(expectSameDims(*this, *shardings)))
    return failure();
  if (axes->empty()) // C68
    return emitOpError("expected at least one axis to make unreduced");
  if (shardsDim(shardings->in, *axes)) // C68
    return pointAtOperand(
        emitOpError(
            "axes shard a dim of the operand, expected replicated ones"),
        getOperand());
  return expectUnreduced(*this, *shardings,
                         append(shardings->in.unreduced, *axes));
}
