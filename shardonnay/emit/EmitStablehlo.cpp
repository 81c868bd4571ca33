//===- EmitStablehlo.cpp - the per-device program in StableHLO ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. guardSlices: barriers between slices that XLA would merge.
// 2. emit: each spmd op and sdy.constant becomes StableHLO, in place.
//    No other sdy or spmd op may be there.
// 3. The meshes go.
// 4. setModuleAttributes: as many partitions as the mesh has devices.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Divergence.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/AdaptToTarget.h"
#include "shardonnay/emit/EmitPack.h"
#include "shardonnay/emit/EmitWindow.h"
#include "shardonnay/emit/OrderedBits.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/emit/PlaceOnGrid.h"
#include "shardonnay/emit/ProgramEmitter.h"
#include "shardonnay/emit/SliceGuard.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/plan/MeshMapping.h"
#include "llvm/ADT/StringSet.h"

namespace shardonnay {

#define GEN_PASS_DEF_EMITSTABLEHLOPASS
#include "shardonnay/emit/Passes.h.inc"

using namespace mlir;

namespace {

/// Not all devices run what is inside equally often.
bool isDivergent(Operation *op) {
  return op->getNumRegions() != 0 &&
         op->getDiscardableAttr(spmd::kDivergentAttr);
}

/// `value`, the elements of `op`, in the op itself: XLA reads no resources.
FailureOr<ElementsAttr> readResource(Operation *op, ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return value;
  ShapedType type = resource.getType();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return op->emitError("found no elements of the resource '")
           << resource.getRawHandle().getKey()
           << "', expected them at the end of the program; print it without "
              "leaving out large ones";
  ArrayRef<char> bytes = blob->getData();
  bool isSplat = false;
  // A byte holds a bool, as opposed to a dense attribute's eight.
  bool isBool = type.getElementType().isInteger(1);
  int64_t count = type.getNumElements();
  if (isBool && static_cast<int64_t>(bytes.size()) == count)
    return ElementsAttr(DenseElementsAttr::get(
        type, ArrayRef(reinterpret_cast<const bool *>(bytes.data()), count)));
  if (isBool || !DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
    return op->emitError("found ") << bytes.size() << " bytes in the resource '"
                                   << resource.getRawHandle().getKey()
                                   << "', expected those of " << type;
  return ElementsAttr(DenseElementsAttr::getFromRawBuffer(type, bytes));
}

class Emitter : ProgramEmitter<Emitter> {
public:
  Emitter(MLIRContext *context, const DeviceGrid &grid, bool meshAxesGroups,
          const Target &target)
      : ProgramEmitter(context),
        collectives(builder, grid, meshAxesGroups, target), target(target) {}

  /// Replaces `op`, or adapts it. Fails with an error at `op` if it has no
  /// StableHLO form, or the target lacks that form.
  LogicalResult emit(Operation *op) {
    builder.setInsertionPoint(op);
    // What is inside has been told.
    if (isDivergent(op)) {
      op->removeDiscardableAttr(spmd::kDivergentAttr);
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<stablehlo::AllReduceOp, stablehlo::FftOp, stablehlo::SortOp>(
            [&](auto op) {
              adaptToTarget(op, target);
              return success();
            })
        .Case([&](stablehlo::CustomCallOp op) { return checkCall(op); })
        .Case([&](stablehlo::ConstantOp op) {
          FailureOr<ElementsAttr> value = readResource(op, op.getValue());
          if (succeeded(value))
            op.setValueAttr(*value);
          return LogicalResult(value);
        })
        .Default([&](Operation *op) { return replace(op, "StableHLO"); });
  }

private:
  friend ProgramEmitter;

  /// StableHLO has no collectives of dims of size 0.
  FailureOr<Value> buildEmpty(Location loc, RankedTensorType type) {
    auto empty = DenseElementsAttr::get(type, ArrayRef<Attribute>());
    return stablehlo::ConstantOp::create(builder, loc, empty).getResult();
  }
  void branch(spmd::OnDeviceOp op);
  /// Says once for each target of calls that the engine lacks it.
  LogicalResult checkCall(stablehlo::CustomCallOp op);
  FailureOr<Value> build(sdy::ConstantOp op) {
    FailureOr<ElementsAttr> value = readResource(op, op.getValue());
    if (failed(value))
      return failure();
    return stablehlo::ConstantOp::create(builder, op.getLoc(), *value)
        .getResult();
  }
  FailureOr<Value> build(spmd::DeviceIndexOp op) {
    auto [mesh, axes] = read(op);
    return collectives.index(op.getLoc(), mesh.toMesh(), axes);
  }
  FailureOr<Value> build(spmd::AllSliceOp op);
  FailureOr<Value> build(spmd::AllGatherOp op);
  FailureOr<Value> build(spmd::AllToAllOp op);
  FailureOr<Value> build(spmd::AllReduceOp op);
  FailureOr<Value> build(spmd::ReduceScatterOp op);
  FailureOr<Value> build(spmd::CollectivePermuteOp op);
  FailureOr<Value> build(spmd::FetchWindowOp op);
  FailureOr<Value> build(spmd::PackOp op) { return emitPack(builder, op); }
  SmallVector<Value> buildAll(spmd::UnpackOp op) {
    return emitUnpack(builder, op);
  }
  FailureOr<Value> build(spmd::BarrierOp op) {
    return setApart(op.getLoc(), op.getOperands());
  }
  /// The first of `values`, behind a barrier with the others.
  Value setApart(Location loc, ValueRange values);

  struct MeshAxes {
    sdy::NamedMesh mesh;
    AxisList axes;
  };
  /// The axes of an spmd op, on its mesh.
  template <typename SpmdOp> MeshAxes read(SpmdOp op) {
    sdy::NamedMesh mesh = meshAt(op, op.getMeshAttr());
    AxisList axes = toAxisList(op.getAxes().getValue(), mesh.mesh);
    return {std::move(mesh), std::move(axes)};
  }

  /// What `combine` makes of op's operand, of elements that the target combines
  /// right.
  template <typename SpmdOp>
  FailureOr<Value>
  buildCombining(SpmdOp op,
                 llvm::function_ref<FailureOr<Value>(Value)> combine) {
    Type element = op.getType().getElementType();
    if (!needsOrderedBits(element, op.getKind()))
      return combine(op.getTensor());
    FailureOr<Value> bits =
        combine(toOrderedBits(builder, op.getTensor(), op.getKind()));
    if (failed(bits))
      return failure();
    return fromOrderedBits(builder, *bits, element);
  }

  CollectiveBuilder collectives;
  const Target &target;
  llvm::StringSet<> unknownCalls;
};

LogicalResult Emitter::checkCall(stablehlo::CustomCallOp op) {
  StringRef name = op.getCallTargetName();
  if (name == "CustomSPMDPartitioning")
    return op.emitError()
           << "a call that a Python function partitions (jax's "
              "custom_partitioning), which only the process that lowered the "
              "program has; write what each device computes by jax.shard_map";
  if (!target.knowsCall(name) && unknownCalls.insert(name).second)
    op.emitWarning() << "the target has no custom call @" << name
                     << " of its own; expected that one is registered where "
                        "the program runs (jax.ffi.register_ffi_target)";
  return success();
}

/// Nothing inside communicates, so devices may go different ways.
void Emitter::branch(spmd::OnDeviceOp op) {
  Location loc = op.getLoc();
  Mesh mesh = meshAt(op, op.getMeshAttr()).toMesh();
  int64_t position = getPositions(mesh)[op.getDevice()];
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value own = collectives.index(loc, mesh, mesh.allAxes());
  Value wanted = stablehlo::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(scalar, static_cast<int32_t>(position)));
  Value isHere = stablehlo::CompareOp::create(
      builder, loc, own, wanted, stablehlo::ComparisonDirection::EQ,
      stablehlo::ComparisonTypeAttr());
  auto conditional =
      stablehlo::IfOp::create(builder, loc, op->getResultTypes(), isHere);
  Block &body = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(input);
  Operation *end = body.getTerminator();
  builder.createBlock(&conditional.getTrueBranch());
  for (Operation &inside :
       llvm::make_early_inc_range(body.without_terminator()))
    inside.moveBefore(builder.getInsertionBlock(),
                      builder.getInsertionBlock()->end());
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  stablehlo::ReturnOp::create(builder, loc, end->getOperands());
  builder.createBlock(&conditional.getFalseBranch());
  stablehlo::ReturnOp::create(builder, loc, op.getOtherwise());
  op->replaceAllUsesWith(conditional->getResults());
  op->erase();
}

FailureOr<Value> Emitter::build(spmd::AllSliceOp op) {
  auto [mesh, axes] = read(op);
  RankedTensorType type = op.getType();
  int64_t size = type.getDimSize(op.getDim());
  Value start = collectives.index(op.getLoc(), mesh.toMesh(), axes, size);
  return collectives.slice(op.getLoc(), op.getTensor(), op.getDim(), start,
                           size);
}

/// XLA does not look through it.
Value Emitter::setApart(Location loc, ValueRange values) {
  return stablehlo::OptimizationBarrierOp::create(builder, loc,
                                                  values.getTypes(), values)
      ->getResult(0);
}

FailureOr<Value> Emitter::build(spmd::AllGatherOp op) {
  auto [mesh, axes] = read(op);
  return collectives.allGather(op.getLoc(), op.getTensor(), op.getDim(), mesh,
                               axes);
}

FailureOr<Value> Emitter::build(spmd::AllToAllOp op) {
  auto [mesh, axes] = read(op);
  Value operand = op.getTensor();
  // XLA exchanges slices, and refuses its own program where some get another
  // layout than the others: those of a padded tensor that are constants to it,
  // and those of one element.
  Operation *source = operand.getDefiningOp();
  if (auto reshape = dyn_cast_if_present<stablehlo::ReshapeOp>(source))
    source = reshape.getOperand().getDefiningOp();
  bool haveOneElement =
      op.getTensor().getType().getNumElements() == axes.numShards();
  if (haveOneElement ||
      isa_and_present<stablehlo::PadOp, stablehlo::ConcatenateOp>(source))
    operand = setApart(op.getLoc(), operand);
  return collectives.allToAll(op.getLoc(), operand, op.getSplitDim(),
                              op.getConcatDim(), mesh, axes);
}

FailureOr<Value> Emitter::build(spmd::AllReduceOp op) {
  MeshAxes group = read(op);
  return buildCombining(op, [&](Value operand) {
    // XLA multiplies a constant by the number of devices; it aborts where that
    // number has to be complex.
    if (isa<ComplexType>(getElementTypeOrSelf(operand.getType())))
      operand = setApart(op.getLoc(), operand);
    return collectives.allReduce(op.getLoc(), operand, op.getKind(), group.mesh,
                                 group.axes);
  });
}

FailureOr<Value> Emitter::build(spmd::ReduceScatterOp op) {
  MeshAxes group = read(op);
  return buildCombining(op, [&](Value operand) {
    Type type = op.getType().clone(getElementTypeOrSelf(operand.getType()));
    return collectives.reduceScatter(op.getLoc(), type, operand, op.getDim(),
                                     op.getKind(), group.mesh, group.axes);
  });
}

FailureOr<Value> Emitter::build(spmd::CollectivePermuteOp op) {
  // What the pairs follow from.
  auto key = builder.getArrayAttr(
      {op.getSource(), op.getTarget(), op.getMeshAttr(),
       op.getSourceMeshAttr() ? op.getSourceMeshAttr() : op.getMeshAttr()});
  return collectives.permute(
      op.getLoc(), op.getTensor(), [&] { return pairsOf(op); },
      meshAt(op, op.getMeshAttr()), key);
}

FailureOr<Value> Emitter::build(spmd::FetchWindowOp op) {
  sdy::NamedMesh mesh;
  if (op.getMeshAttr())
    mesh = meshAt(op, op.getMeshAttr());
  WindowProblem problem = spmd::getWindowProblem(op, mesh.mesh);
  return emitWindow(builder, op.getLoc(), op.getTensor(), op.getDim(), problem,
                    op.getFill(), mesh, collectives);
}

/// The ops to replace or to adapt, those inside an op before it.
SmallVector<Operation *> findToEmit(const ProgramOps &ops) {
  SmallVector<Operation *> found, outer;
  for (Operation *op : ops) {
    if (!isa_and_present<sdy::SdyDialect, spmd::SpmdDialect>(
            op->getDialect()) &&
        !isa<stablehlo::AllReduceOp, stablehlo::CustomCallOp, stablehlo::FftOp,
             stablehlo::SortOp>(op) &&
        !isDivergent(op))
      continue;
    while (!outer.empty() && !outer.back()->isProperAncestor(op))
      found.push_back(outer.pop_back_val());
    if (op->getNumRegions() != 0)
      outer.push_back(op);
    else if (!op->hasTrait<OpTrait::IsTerminator>())
      found.push_back(op);
  }
  found.append(outer.rbegin(), outer.rend());
  return found;
}

void setModuleAttributes(ModuleOp module, const DeviceGrid &grid) {
  Builder builder(module.getContext());
  module->setAttr("mhlo.num_partitions",
                  builder.getI32IntegerAttr(grid.partitions()));
  module->setAttr("mhlo.num_replicas",
                  builder.getI32IntegerAttr(grid.replicas()));
}

struct EmitStablehlo : impl::EmitStablehloPassBase<EmitStablehlo> {
  using EmitStablehloPassBase::EmitStablehloPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(sdy::verifyMeshSizes(module)))
      return signalPassFailure();
    std::optional<DeviceGrid> grid = getGrid();
    // Without a mesh it is placed already.
    bool hasMesh = sdy::getProgramMesh(module) != nullptr;
    if (!grid || (hasMesh && failed(placeOnGrid(module, *grid))))
      return signalPassFailure();
    guardSlices(module);
    Target target = Target::cpu();
    target.transformsAnyLayout |= anyEngine;
    Emitter emitter(&getContext(), *grid, enableRGV3, target);
    for (auto func : module.getOps<func::FuncOp>())
      for (Operation *op : findToEmit(getChildAnalysis<ProgramOps>(func)))
        if (failed(emitter.emit(op)))
          return signalPassFailure();
    if (!enableRGV3 && !keepMeshes)
      for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
        mesh.erase();
    setModuleAttributes(module, *grid);
  }

private:
  /// Nothing, and an error, if the mesh is not of these replicas and
  /// partitions.
  std::optional<DeviceGrid> getGrid() {
    sdy::MeshOp mesh = sdy::getProgramMesh(getOperation());
    if (!mesh && (replicaCount > 1 || partitionCount > 1))
      return DeviceGrid::get(partitionCount, replicaCount, partitionCount);
    int64_t numDevices = mesh ? mesh.getMesh().getNumDevices() : 1;
    auto grid = DeviceGrid::get(numDevices, replicaCount, partitionCount);
    if (!grid)
      mesh.emitError() << "has " << numDevices << " devices, but there are "
                       << replicaCount.getValue() << " replicas of "
                       << partitionCount.getValue()
                       << " partitions; expected as many partitions as devices,"
                          " or replicas times partitions";
    return grid;
  }
};

} // namespace

} // namespace shardonnay
