//===- UnifyMeshes.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each mesh in use besides the program's, the one of most shardings:
//
// 1. find: its axes in those of the program's mesh: with the devices as they
//    stand, else as if they stood in the order of the program's.
// 2. moveBoundary: an argument (result) whose devices stand in another order is
//    on the program's axes in that order, one of unrelated axes stays. Its
//    value inside is a reshard of it.
// 3. moveInside: every other sharding is on the program's mesh; one that its
//    axes can't say is replicated, with a warning.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/plan/MeshMapping.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_UNIFYMESHESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {

/// What another mesh is in the program's axes.
struct OtherMesh {
  sdy::MeshAttr attr;
  /// Devices as they stand; nothing if that can't be said.
  std::optional<MeshMapping> exact;
  /// Position by position, whatever devices stand there.
  std::optional<MeshMapping> byPosition;
  /// The program's axes with the devices in the order of this mesh; made when
  /// it is needed.
  FlatSymbolRefAttr reordered;
};

class MeshUnifier {
public:
  MeshUnifier(ModuleOp module, sdy::MeshOp program)
      : module(module), program(program), symbols(module),
        programName(FlatSymbolRefAttr::get(program.getSymNameAttr())) {}

  LogicalResult run();

private:
  /// The mesh of `sharding` if that is another one than the program's.
  OtherMesh *find(sdy::TensorShardingAttr sharding);
  FlatSymbolRefAttr getReordered(OtherMesh &mesh);
  sdy::TensorShardingAttr write(const TensorSharding &sharding,
                                FlatSymbolRefAttr mesh) {
    return sdy::NamedMesh{program.getMesh(), mesh}.write(sharding);
  }
  sdy::TensorShardingAttr replicated(sdy::TensorShardingAttr sharding) {
    return sdy::TensorShardingAttr::getFullyClosed(
        module.getContext(), sharding.getRank(), programName);
  }

  struct Boundary {
    sdy::TensorShardingAttr outside, inside;
  };
  /// Moves the sharding of an argument or result. Nothing is returned if both
  /// sides are one on the program's mesh.
  std::optional<Boundary> moveBoundary(sdy::TensorShardingAttr sharding,
                                       Location loc);
  void moveArguments(func::FuncOp func);
  void moveResults(func::FuncOp func);
  sdy::TensorShardingAttr moveInside(sdy::TensorShardingAttr sharding,
                                     Location loc);
  LogicalResult moveOp(Operation *op);
  LogicalResult moveManualAxes(sdy::ManualComputationOp op);
  void warn(Location loc, sdy::TensorShardingAttr sharding);

  ModuleOp module;
  sdy::MeshOp program;
  SymbolTable symbols;
  FlatSymbolRefAttr programName;
  llvm::MapVector<StringAttr, OtherMesh> others;
};

OtherMesh *MeshUnifier::find(sdy::TensorShardingAttr sharding) {
  FlatSymbolRefAttr name = sharding ? sharding.getMeshSymbol() : nullptr;
  if (!name || name == programName)
    return nullptr;
  sdy::MeshAttr attr = sdy::getMesh(module, sharding);
  if (!attr || attr.getAxes().empty())
    return nullptr;
  OtherMesh &mesh = others[name.getAttr()];
  if (!mesh.attr) {
    mesh.attr = attr;
    Mesh from = sdy::toMesh(attr), to = sdy::toMesh(program.getMesh());
    mesh.exact = MeshMapping::get(from, to);
    mesh.byPosition =
        MeshMapping::get(Mesh(from.axisSizes()), Mesh(to.axisSizes()));
  }
  return &mesh;
}

FlatSymbolRefAttr MeshUnifier::getReordered(OtherMesh &mesh) {
  if (mesh.reordered)
    return mesh.reordered;
  auto attr =
      sdy::MeshAttr::get(module.getContext(), program.getMesh().getAxes(),
                         mesh.attr.getDeviceIds());
  OpBuilder builder(program);
  builder.setInsertionPointAfter(program);
  auto op = sdy::MeshOp::create(builder, program.getLoc(), program.getSymName(),
                                attr);
  symbols.insert(op);
  mesh.reordered = FlatSymbolRefAttr::get(op.getSymNameAttr());
  return mesh.reordered;
}

void MeshUnifier::warn(Location loc, sdy::TensorShardingAttr sharding) {
  emitWarning(loc) << "sharding " << sharding
                   << " has no form in the axes of mesh " << programName
                   << ", over which the program is partitioned: the value is "
                      "replicated there; use axes that nest in each other";
}

std::optional<MeshUnifier::Boundary>
MeshUnifier::moveBoundary(sdy::TensorShardingAttr sharding, Location loc) {
  OtherMesh *mesh = find(sharding);
  if (!mesh)
    return std::nullopt;
  TensorSharding value = sdy::toSharding(sharding, mesh->attr);
  if (mesh->exact)
    if (auto same = mesh->exact->map(value))
      return Boundary{write(*same, programName), nullptr};
  if (mesh->byPosition)
    if (auto placed = mesh->byPosition->map(value))
      return Boundary{write(*placed, getReordered(*mesh)),
                      write(*placed, programName)};
  if (sharding.isReplicated())
    return Boundary{replicated(sharding), nullptr};
  warn(loc, sharding);
  return Boundary{sharding, replicated(sharding)};
}

void MeshUnifier::moveArguments(func::FuncOp func) {
  sdy::SignatureAttributes signature(func);
  for (BlockArgument argument : func.getArguments()) {
    auto moved = moveBoundary(sdy::getSharding(argument), argument.getLoc());
    if (!moved)
      continue;
    signature.setArgument(argument.getArgNumber(), sdy::kShardingAttr,
                          moved->outside);
    if (!moved->inside || argument.use_empty())
      continue;
    auto builder = OpBuilder::atBlockBegin(argument.getOwner());
    auto reshard = sdy::ReshardOp::create(builder, argument.getLoc(), argument,
                                          moved->inside);
    argument.replaceAllUsesExcept(reshard.getResult(), reshard);
  }
}

void MeshUnifier::moveResults(func::FuncOp func) {
  sdy::SignatureAttributes signature(func);
  Operation *end = func.getBody().back().getTerminator();
  OpBuilder builder(end);
  for (OpOperand &operand : end->getOpOperands()) {
    unsigned result = operand.getOperandNumber();
    Location loc = operand.get().getLoc();
    auto moved = moveBoundary(sdy::getFuncResultSharding(func, result), loc);
    if (!moved)
      continue;
    signature.setResult(result, sdy::kShardingAttr, moved->outside);
    if (!moved->inside)
      continue;
    Value inside =
        sdy::ReshardOp::create(builder, loc, operand.get(), moved->inside);
    operand.set(sdy::ReshardOp::create(builder, loc, inside, moved->outside));
  }
}

sdy::TensorShardingAttr
MeshUnifier::moveInside(sdy::TensorShardingAttr sharding, Location loc) {
  OtherMesh *mesh = find(sharding);
  if (!mesh)
    return sharding;
  TensorSharding value = sdy::toSharding(sharding, mesh->attr);
  for (auto &mapping : {&mesh->exact, &mesh->byPosition})
    if (*mapping)
      if (auto moved = (*mapping)->map(value))
        return write(*moved, programName);
  if (!sharding.isReplicated())
    warn(loc, sharding);
  return replicated(sharding);
}

/// The body knows what each device holds, so devices stay as they stand and
/// each manual axis is one of the program's.
LogicalResult MeshUnifier::moveManualAxes(sdy::ManualComputationOp op) {
  OtherMesh *mesh = nullptr;
  for (sdy::TensorShardingPerValueAttr list :
       {op.getInShardings(), op.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : list.getShardings())
      if (OtherMesh *found = find(sharding))
        mesh = found;
  if (!mesh || op.getManualAxes().getValue().empty())
    return success();
  Mesh from = sdy::toMesh(mesh->attr), to = sdy::toMesh(program.getMesh());
  SmallVector<int32_t> moved;
  for (auto [i, axis] : llvm::enumerate(mesh->attr.getAxes())) {
    if (!llvm::is_contained(op.getManualAxes().getValue(),
                            StringAttr::get(op.getContext(), axis.getName())))
      continue;
    std::optional<AxisList> list;
    if (mesh->exact)
      list = mesh->exact->map(AxisList{from.fullAxis(i)});
    if (!list || list->size() != 1 || !to.isFull((*list)[0]))
      return op.emitError() << "manual axis \"" << axis.getName()
                            << "\" is no axis of mesh " << programName
                            << ", over which the program is partitioned; "
                               "expected one of its axes";
    moved.push_back((*list)[0].axis);
  }
  llvm::sort(moved);
  auto names = llvm::map_to_vector(moved, [&](int32_t axis) {
    return StringAttr::get(op.getContext(),
                           program.getMesh().getAxes()[axis].getName());
  });
  op.setManualAxesAttr(sdy::ManualAxesAttr::get(op.getContext(), names));
  return success();
}

LogicalResult MeshUnifier::moveOp(Operation *op) {
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    if (failed(moveManualAxes(manual)))
      return failure();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](sdy::TensorShardingAttr sharding) {
    return std::pair(Attribute(moveInside(sharding, op->getLoc())),
                     WalkResult::skip());
  });
  replacer.replaceElementsIn(op);
  return success();
}

LogicalResult MeshUnifier::run() {
  WalkResult result = walkOps(module, [&](Operation *op) {
    bool isBoundary = isa<func::FuncOp, ModuleOp, sdy::MeshOp>(op);
    return !isBoundary && failed(moveOp(op)) ? WalkResult::interrupt()
                                             : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    moveArguments(func);
    moveResults(func);
  }
  return success();
}

struct UnifyMeshesPass : impl::UnifyMeshesPassBase<UnifyMeshesPass> {
  void runOnOperation() override {
    if (llvm::count_if(getOperation().getOps<sdy::MeshOp>(),
                       [](sdy::MeshOp mesh) {
                         return !mesh.getMesh().getAxes().empty();
                       }) < 2)
      return markAllAnalysesPreserved();
    sdy::MeshOp program = sdy::getMostUsedMesh(getOperation());
    program->moveBefore(&getOperation().getBody()->front());
    if (failed(MeshUnifier(getOperation(), program).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
