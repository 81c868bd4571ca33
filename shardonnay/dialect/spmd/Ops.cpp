//===- Ops.cpp - verifiers of the spmd operations -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/spmd/Ops.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::spmd;

/// (mesh axes (`to` window axes)?)?
static ParseResult parseWindowAxes(OpAsmParser &parser, FlatSymbolRefAttr &mesh,
                                   sdy::AxisRefListAttr &axes,
                                   sdy::AxisRefListAttr &windowAxes) {
  auto parseAxes = [&](sdy::AxisRefListAttr &list) {
    list = dyn_cast_if_present<sdy::AxisRefListAttr>(
        sdy::AxisRefListAttr::parse(parser, Type()));
    return success(list != nullptr);
  };
  StringAttr name;
  if (failed(parser.parseOptionalSymbolName(name)))
    return success();
  mesh = FlatSymbolRefAttr::get(name);
  if (failed(parseAxes(axes)))
    return failure();
  return succeeded(parser.parseOptionalKeyword("to")) ? parseAxes(windowAxes)
                                                      : success();
}

static void printWindowAxes(OpAsmPrinter &printer, Operation *,
                            FlatSymbolRefAttr mesh, sdy::AxisRefListAttr axes,
                            sdy::AxisRefListAttr windowAxes) {
  if (!mesh)
    return;
  printer << mesh << " ";
  auto printAxes = [&](sdy::AxisRefListAttr list) {
    printer.printStrippedAttrOrType(list);
  };
  printAxes(axes ? axes : sdy::AxisRefListAttr::get(mesh.getContext(), {}));
  if (windowAxes) {
    printer << " to ";
    printAxes(windowAxes);
  }
}

#include "shardonnay/dialect/spmd/Dialect.cpp.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/spmd/Ops.cpp.inc"

void SpmdDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/spmd/Ops.cpp.inc"
      >();
}

static FailureOr<sdy::MeshOp> findMesh(Operation *op, FlatSymbolRefAttr name) {
  sdy::MeshOp mesh = sdy::getMeshOp(op, name);
  if (!mesh)
    return op->emitOpError("unknown mesh ")
           << name << ", expected the name of an 'sdy.mesh' of the module";
  return mesh;
}

template <typename OpT> static FailureOr<sdy::MeshOp> findMesh(OpT op) {
  return findMesh(op, op.getMeshAttr());
}

static InFlightDiagnostic withMesh(InFlightDiagnostic diag, sdy::MeshOp mesh) {
  return shardonnay::pointAt(std::move(diag), mesh.getLoc(),
                             "the mesh is declared here");
}

static InFlightDiagnostic withOperand(InFlightDiagnostic diag, Operation *op) {
  return shardonnay::pointAtOperand(std::move(diag), op->getOperand(0));
}

/// How many shards the axes, of the mesh of `op`, make: checks both.
template <typename OpT>
static FailureOr<int64_t> getNumShards(OpT op,
                                       ArrayRef<sdy::AxisRefAttr> axes) {
  FailureOr<sdy::MeshOp> mesh = findMesh(op);
  if (failed(mesh))
    return failure();
  if (failed(sdy::verifyAxes(axes, mesh->getMesh(), *mesh,
                             [&] { return op.emitOpError(); })))
    return failure();
  return sdy::toAxisList(axes, mesh->getMesh()).numShards();
}

/// How many devices the group of `op` has: checks its mesh and axes.
template <typename OpT> static FailureOr<int64_t> getGroupSize(OpT op) {
  ArrayRef<sdy::AxisRefAttr> axes = op.getAxes().getValue();
  if (axes.empty())
    return op.emitOpError("expected at least one axis");
  return getNumShards(op, axes);
}

/// Divides dim `dim` of the shape by the size of the group.
static LogicalResult shardDim(Operation *op, SmallVectorImpl<int64_t> &shape,
                              int64_t dim, int64_t groupSize) {
  if (shape[dim] % groupSize != 0)
    return withOperand(op->emitOpError("expected dim ")
                           << dim << " to have a size that the " << groupSize
                           << " devices of a group divide, got " << shape[dim],
                       op);
  shape[dim] /= groupSize;
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (dim < 0 || dim >= rank)
    return withOperand(op->emitOpError("expected a dim of the ")
                           << rank << " of the operand, got " << dim,
                       op);
  return success();
}

/// The result is the operand's type with `shape`.
static LogicalResult expectShape(Operation *op, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Type expected = type.clone(shape), found = op->getResult(0).getType();
  if (found != expected)
    return withOperand(op->emitOpError("expected the result type ")
                           << expected << ", got " << found,
                       op);
  return success();
}

/// Checks an operation whose result is a shard of the operand's dim.
template <typename OpT> static LogicalResult verifySharded(OpT op) {
  FailureOr<int64_t> groupSize = getGroupSize(op);
  int64_t dim = op.getDim();
  if (failed(groupSize) || failed(verifyDim(op, dim)))
    return failure();
  SmallVector<int64_t> shape(op.getTensor().getType().getShape());
  if (failed(shardDim(op, shape, dim, *groupSize)))
    return failure();
  return expectShape(op, shape);
}

LogicalResult DeviceIndexOp::verify() {
  return success(succeeded(getGroupSize(*this)));
}

LogicalResult OnDeviceOp::verify() {
  FailureOr<sdy::MeshOp> mesh = findMesh(*this);
  if (failed(mesh))
    return failure();
  int64_t device = getDevice(), devices = mesh->getMesh().getNumDevices();
  if (device < 0 || device >= devices)
    return withMesh(emitOpError("expected one of the ")
                        << devices << " devices of the mesh, got " << device,
                    *mesh);
  auto check = [&](StringRef what, TypeRange found,
                   TypeRange expected) -> LogicalResult {
    if (found == expected)
      return success();
    return emitOpError("expected ")
           << what << " of types (" << expected << "), got (" << found << ")";
  };
  Block &block = getBody().front();
  if (failed(check("block arguments", block.getArgumentTypes(),
                   getInputs().getTypes())) ||
      failed(check("values for the other devices", getOtherwise().getTypes(),
                   getResultTypes())))
    return failure();
  return check("returned values", block.getTerminator()->getOperandTypes(),
               getResultTypes());
}

LogicalResult AllSliceOp::verify() { return verifySharded(*this); }

LogicalResult ReduceScatterOp::verify() { return verifySharded(*this); }

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

/// A list of known axes for each dim of the tensor, and maybe one for parts.
static LogicalResult verifyShard(CollectivePermuteOp op, sdy::MeshOp mesh,
                                 sdy::ListOfAxisRefListsAttr axesPerDim) {
  int64_t rank = op.getType().getRank();
  int64_t numLists = axesPerDim.getValue().size();
  if (numLists != rank && numLists != rank + 1)
    return withOperand(op.emitOpError("expected axes for ")
                           << rank << " dims, and maybe those of parts, got "
                           << numLists << " lists",
                       op);
  auto lists =
      llvm::map_to_vector(axesPerDim.getValue(), [](sdy::AxisRefListAttr list) {
        return list.getValue();
      });
  return sdy::verifyAxes(lists, mesh.getMesh(), mesh,
                         [&] { return op.emitOpError(); });
}

LogicalResult CollectivePermuteOp::verify() {
  FailureOr<sdy::MeshOp> targetOp = findMesh(*this, getMeshAttr());
  FlatSymbolRefAttr sourceName = getSourceMeshAttr();
  FailureOr<sdy::MeshOp> sourceOp =
      sourceName ? findMesh(*this, sourceName) : targetOp;
  if (failed(targetOp) || failed(sourceOp))
    return failure();
  sdy::MeshAttr mesh = targetOp->getMesh(), sourceMesh = sourceOp->getMesh();
  int64_t devices = mesh.getNumDevices();
  if (sourceMesh.getNumDevices() != devices)
    return withMesh(emitOpError("expected a source mesh of ")
                        << devices << " devices, got "
                        << sourceMesh.getNumDevices(),
                    *sourceOp);
  if (failed(verifyShard(*this, *sourceOp, getSource())) ||
      failed(verifyShard(*this, *targetOp, getTarget())))
    return failure();
  if (getSource().getValue().size() != getTarget().getValue().size())
    return emitOpError("expected as many lists of axes before as after, got ")
           << getSource().getValue().size() << " and "
           << getTarget().getValue().size();
  for (auto [dim, from, to] :
       llvm::enumerate(getSource().getValue(), getTarget().getValue())) {
    int64_t before = sdy::toAxisList(from.getValue(), sourceMesh).numShards();
    int64_t after = sdy::toAxisList(to.getValue(), mesh).numShards();
    if (before != after)
      return withMesh(emitOpError("expected dim ")
                          << dim << " in " << before
                          << " shards as before, got " << after,
                      *targetOp);
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
  if (failed(shardDim(*this, shape, splitDim, *groupSize)))
    return failure();
  shape[concatDim] *= *groupSize;
  return expectShape(*this, shape);
}

ArrayRef<sdy::AxisRefAttr> FetchWindowOp::shardingAxes() {
  sdy::AxisRefListAttr list = getAxesAttr();
  return list ? list.getValue() : ArrayRef<sdy::AxisRefAttr>();
}

ArrayRef<sdy::AxisRefAttr> FetchWindowOp::countingAxes() {
  sdy::AxisRefListAttr list = getWindowAxesAttr();
  return list ? list.getValue() : shardingAxes();
}

/// Without its sign; the least number's is taken to be the largest.
static int64_t magnitude(int64_t value) {
  return value < 0 ? -std::max(value, -shardonnay::kMostCount) : value;
}

/// The positions of all windows, which begin `reach` apart at most, are numbers
/// of 64 bits.
static LogicalResult verifyPositions(Operation *op, int64_t start,
                                     int64_t reach, int64_t size) {
  using shardonnay::countSum;
  if (countSum(countSum(magnitude(start), reach), size) <
      shardonnay::kMostCount)
    return success();
  return op->emitOpError("expected windows within 2^63 positions, got start ")
         << start << " and size " << size;
}

LogicalResult FetchWindowOp::verify() {
  int64_t pieces = 1, windows = 1;
  for (ArrayRef<sdy::AxisRefAttr> axes : {countingAxes(), shardingAxes()}) {
    if (axes.empty())
      continue;
    if (!getMeshAttr())
      return emitOpError("has axes, expected a mesh before them");
    FailureOr<int64_t> count = getNumShards(*this, axes);
    if (failed(count))
      return failure();
    pieces = *count;
    windows = std::max(windows, pieces);
  }
  if (shardingAxes().empty())
    pieces = 1;
  if (failed(verifyDim(*this, getDim())))
    return failure();
  int64_t whole = shardonnay::countProduct(
      getTensor().getType().getDimSize(getDim()), pieces);
  int64_t globalSize = getGlobalSize(), size = getSize();
  if (globalSize < 0 || globalSize > whole)
    return withOperand(emitOpError("expected a global size that ")
                           << pieces << " shards of dim " << getDim() << " of "
                           << getTensor().getType() << " can hold, got "
                           << globalSize,
                       *this);
  if (size < 0)
    return emitOpError("expected a size that is not negative, got ") << size;
  int64_t reach = shardonnay::countProduct(
      magnitude(static_cast<int64_t>(getStep())), windows);
  if (failed(verifyPositions(*this, getStart(), reach, size)))
    return failure();
  if (getPeriodic() && globalSize == 0)
    return withOperand(
        emitOpError("is periodic, expected a dim that is not empty"), *this);
  RankedTensorType type = getTensor().getType();
  auto scalar = RankedTensorType::get({}, type.getElementType());
  if (getFill() && getFill().getType() != scalar)
    return shardonnay::pointAtOperand(emitOpError("expected a fill of type ")
                                          << scalar << ", got "
                                          << getFill().getType(),
                                      getFill());
  SmallVector<int64_t> shape(type.getShape());
  shape[getDim()] = size;
  return expectShape(*this, shape);
}

shardonnay::WindowProblem mlir::spmd::getWindowProblem(FetchWindowOp op,
                                                       sdy::MeshAttr mesh) {
  shardonnay::WindowProblem problem;
  if (mesh) {
    problem.mesh = sdy::toMesh(mesh);
    problem.axes = sdy::toAxisList(op.shardingAxes(), mesh);
    problem.windowAxes = sdy::toAxisList(op.countingAxes(), mesh);
  }
  problem.localSize = op.getTensor().getType().getDimSize(op.getDim());
  problem.globalSize = op.getGlobalSize();
  problem.start = op.getStart();
  problem.step = op.getStep();
  problem.size = op.getSize();
  problem.periodic = op.getPeriodic();
  return problem;
}

LogicalResult PeriodicWindowOp::verify() {
  if (failed(verifyDim(*this, getDim())))
    return failure();
  SmallVector<int64_t> shape(getTensor().getType().getShape());
  int64_t size = getSize();
  if (size < 0)
    return emitOpError("expected a size that is not negative, got ") << size;
  if (shape[getDim()] == 0)
    return withOperand(
        emitOpError("is periodic, expected a dim that is not empty"), *this);
  if (failed(verifyPositions(*this, getStart(), /*reach=*/0, size)))
    return failure();
  shape[getDim()] = size;
  return expectShape(*this, shape);
}

std::optional<shardonnay::FactorRule> PeriodicWindowOp::getFactorRule() {
  ArrayRef<int64_t> shape = getTensor().getType().getShape();
  int64_t rank = shape.size();
  shardonnay::FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isWindow = dim == static_cast<int64_t>(getDim());
    int32_t factor =
        builder.add(shape[dim], {dim}, {dim},
                    isWindow ? shardonnay::FactorKind::Windowed
                             : shardonnay::FactorKind::PassThrough);
    if (!isWindow)
      continue;
    shardonnay::FactorWindow window;
    window.factor = factor;
    window.size = shape[dim];
    window.count = getSize();
    window.low = -static_cast<int64_t>(getStart());
    window.periodic = true;
    builder.addWindow(window);
  }
  return builder.build();
}

/// It only moves elements.
bool PeriodicWindowOp::isLinear(shardonnay::ReductionKind,
                                const llvm::SmallBitVector &partial) {
  return partial.all();
}

bool PeriodicWindowOp::mayShard(const shardonnay::FactorRule &, int32_t) {
  return true;
}

FailureOr<SmallVector<Value>>
PeriodicWindowOp::computeLocally(OpBuilder &builder, ValueRange operands,
                                 shardonnay::LocalContext &context) {
  return SmallVector<Value>{context.fetchWindow(builder, getLoc(), operands[0],
                                                context.rule().windows.front(),
                                                /*fill=*/Value())};
}

/// Whether the elements of one type can be read as those of the other.
static bool haveSameBits(Type a, Type b) {
  return a == b || (a.isIntOrFloat() && b.isIntOrFloat() &&
                    a.getIntOrFloatBitWidth() == b.getIntOrFloatBitWidth());
}

/// `packed` is the one dim of all elements of `tensors`.
static LogicalResult verifyElements(Operation *op, Type packed,
                                    TypeRange tensors) {
  auto type = cast<RankedTensorType>(packed);
  int64_t elements = 0;
  for (Type each : tensors) {
    auto tensor = cast<RankedTensorType>(each);
    elements += tensor.getNumElements();
    if (!haveSameBits(tensor.getElementType(), type.getElementType()))
      return op->emitOpError("expected tensors of ")
             << type.getElementType() << ", got " << tensor.getElementType();
  }
  if (type.getRank() == 1 && type.getDimSize(0) == elements)
    return success();
  return op->emitOpError("expected the packed tensor to have the ")
         << elements << " elements of the others in one dim, got " << type;
}

/// Each tensor has a dim that the pieces divide.
static LogicalResult verifyParts(Operation *op, TypeRange tensors,
                                 std::optional<uint64_t> pieces,
                                 std::optional<ArrayRef<int64_t>> dims) {
  if (pieces.has_value() != dims.has_value())
    return op->emitOpError("expected both 'pieces' and 'dims', or neither");
  if (!pieces)
    return success();
  auto count = static_cast<int64_t>(*pieces);
  if (count < 1)
    return op->emitOpError("expected at least 1 piece, got ") << count;
  if (dims->size() != tensors.size())
    return op->emitOpError("expected a dim for each of the ")
           << tensors.size() << " tensors, got " << dims->size();
  for (auto [each, dim] : llvm::zip_equal(tensors, *dims)) {
    auto type = cast<RankedTensorType>(each);
    if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) % count != 0)
      return op->emitOpError("expected ")
             << count << " equal pieces along a dim of " << type << ", got dim "
             << dim;
  }
  return success();
}

LogicalResult PackOp::verify() {
  if (failed(verifyElements(*this, getType(), getTensors().getTypes())))
    return failure();
  return verifyParts(*this, getTensors().getTypes(), getPieces(), getDims());
}

LogicalResult UnpackOp::verify() {
  if (failed(verifyElements(*this, getTensor().getType(), getResultTypes())))
    return failure();
  return verifyParts(*this, getResultTypes(), getPieces(), getDims());
}
