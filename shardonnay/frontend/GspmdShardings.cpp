//===- GspmdShardings.cpp - the HLO shardings of a module -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/GspmdShardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/support/Prefetch.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

static Location locationOfArgument(func::FuncOp func, unsigned index) {
  return func.isExternal() ? func.getLoc() : func.getArgument(index).getLoc();
}

/// Calls `visit` with every HLO sharding of `module` and what carries it.
static LogicalResult forEachHloSharding(
    ModuleOp module,
    llvm::function_ref<LogicalResult(Attribute, Location)> visit) {
  auto walked = walkOps<WalkOrder::PreOrder>(module, [&](Operation *op) {
    if (Attribute text = op->getAttr(kHloShardingAttr))
      return WalkResult(visit(text, op->getLoc()));
    auto func = dyn_cast<func::FuncOp>(op);
    for (unsigned i = 0; func && i < func.getNumArguments(); ++i)
      if (Attribute text = func.getArgAttr(i, kHloShardingAttr))
        if (failed(visit(text, locationOfArgument(func, i))))
          return WalkResult::interrupt();
    for (unsigned i = 0; func && i < func.getNumResults(); ++i)
      if (Attribute text = func.getResultAttr(i, kHloShardingAttr))
        if (failed(visit(text, func.getLoc())))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

void dropHloShardings(ModuleOp module) {
  module.walk([&](Operation *op) {
    op->removeDiscardableAttr(kHloShardingAttr);
    if (auto func = dyn_cast<func::FuncOp>(op))
      SignatureAttributes(func).eraseAll(kHloShardingAttr);
  });
}

LogicalResult GspmdShardings::read() {
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (partitions && partitions.getValue().sgt(1) &&
      partitions.getValue().isSignedIntN(32)) {
    numDevices = partitions.getInt();
    numDevicesFrom = module.getLoc();
  }
  LogicalResult all = forEachHloSharding(
      module, [&](Attribute text, Location loc) { return read(text, loc); });
  if (failed(all))
    return failure();
  if (!factoring)
    factoring.emplace(std::max<int64_t>(numDevices, 1));
  factoring->finish();
  return success();
}

LogicalResult GspmdShardings::read(Attribute attribute, Location loc) {
  auto text = dyn_cast<StringAttr>(attribute);
  if (!text)
    return emitError(loc) << "mhlo.sharding: expected text, got " << attribute;
  HloShardingError error;
  std::optional<HloSharding> sharding = parseHloSharding(text, error);
  if (!sharding)
    return emitError(loc) << "mhlo.sharding " << attribute
                          << " is no sharding: at character " << error.position
                          << ": " << error.message;
  if (!parsed.try_emplace(text, *sharding).second)
    return success();
  return add(*sharding, loc);
}

LogicalResult GspmdShardings::add(const HloSharding &sharding, Location loc) {
  for (const HloSharding &element : sharding.elements)
    if (failed(add(element, loc)))
      return failure();
  if (sharding.kind != HloSharding::Kind::Tiled || sharding.devices.size() == 1)
    return success();
  if (!numDevicesFrom) {
    numDevices = sharding.devices.size();
    numDevicesFrom = loc;
  }
  if (!factoring)
    factoring.emplace(numDevices);
  if (factoring->add(sharding))
    return success();
  InFlightDiagnostic diag = emitError(loc)
                            << "the devices of sharding " << sharding.str()
                            << " are not those of the program, expected 0 .. "
                            << numDevices - 1 << ", each once";
  diag.attachNote(*numDevicesFrom)
      << "the program has " << numDevices << " devices";
  return diag;
}

MeshOp GspmdShardings::createMesh(StringRef name, MeshAttr mesh) {
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  if (lastMesh)
    builder.setInsertionPointAfter(lastMesh);
  auto op = MeshOp::create(builder, module.getLoc(), name, mesh);
  // Renames it if the name is taken.
  symbols.insert(op);
  lastMesh = op;
  return op;
}

MeshOp GspmdShardings::getMesh(size_t index) {
  MeshOp &op = meshes[index];
  if (op)
    return op;
  const Mesh &mesh = factoring->meshes()[index];
  SmallVector<MeshAxisAttr> axes;
  for (int64_t size : mesh.axisSizes())
    axes.push_back(MeshAxisAttr::get(
        module.getContext(), "axis_" + std::to_string(axes.size()), size));
  return op = createMesh(
             axes.empty() ? "empty_mesh" : "mesh",
             MeshAttr::get(module.getContext(), axes, mesh.deviceIds()));
}

MeshOp GspmdShardings::getMaximalMesh(int64_t device) {
  MeshOp &op = maximalMeshes[device];
  if (!op)
    op = createMesh("maximal_mesh_" + std::to_string(device),
                    MeshAttr::get(module.getContext(), {}, {device}));
  return op;
}

FailureOr<TensorShardingAttr>
GspmdShardings::convert(const HloSharding &sharding, Type type, Location loc,
                        ArrayRef<int64_t> openDims) {
  using Kind = HloSharding::Kind;
  if (sharding.kind == Kind::Unknown || sharding.kind == Kind::Manual)
    return TensorShardingAttr();
  if (sharding.kind == Kind::Tuple)
    return emitError(loc) << "sharding " << sharding.str()
                          << " is that of a tuple, expected that of one value";
  MLIRContext *context = module.getContext();
  if (sharding.kind == Kind::Maximal)
    return TensorShardingAttr::getFullyClosed(
        context, 0, FlatSymbolRefAttr::get(getMaximalMesh(sharding.device)));
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t rank = tensor ? tensor.getRank() : 0;
  if (sharding.kind == Kind::Tiled && sharding.rank() != rank)
    return emitError(loc) << "sharding " << sharding.str()
                          << " is for a tensor of rank " << sharding.rank()
                          << ", expected rank " << rank << " for " << type;
  FactoredSharding found;
  if (sharding.kind == Kind::Tiled && sharding.devices.size() == 1)
    found.sharding = TensorSharding::fullyClosed(rank);
  else
    found = factoring->get(sharding, rank);
  for (int64_t dim : openDims) {
    if (dim >= rank)
      return emitError(loc) << "unspecified dim " << dim
                            << " does not exist, expected one below " << rank;
    found.sharding.dims[dim].closed = false;
  }
  MeshOp mesh = getMesh(found.mesh);
  return NamedMesh{mesh.getMesh(), FlatSymbolRefAttr::get(mesh)}.write(
      found.sharding);
}

FailureOr<TensorShardingPerValueAttr>
GspmdShardings::convert(const HloSharding &sharding, Operation *op) {
  bool isTuple = sharding.kind == HloSharding::Kind::Tuple;
  bool returnsTuple =
      op->getNumResults() == 1 && isa<TupleType>(op->getResult(0).getType());
  SmallVector<Type> types(op->getResultTypes());
  if (types.empty() && sharding.kind == HloSharding::Kind::Maximal)
    types.push_back(NoneType::get(op->getContext()));
  if (returnsTuple || types.empty())
    return TensorShardingPerValueAttr();
  if (isTuple && sharding.elements.size() != types.size())
    return op->emitError("sharding ")
           << sharding.str() << " is for " << sharding.elements.size()
           << " values, expected " << types.size();
  SmallVector<TensorShardingAttr> all;
  for (auto [index, type] : llvm::enumerate(types)) {
    FailureOr<TensorShardingAttr> one = convert(
        isTuple ? sharding.elements[index] : sharding, type, op->getLoc());
    if (failed(one))
      return failure();
    all.push_back(*one);
  }
  if (llvm::none_of(all, [](TensorShardingAttr one) { return bool(one); }))
    return TensorShardingPerValueAttr();
  for (auto [one, type] : llvm::zip_equal(all, types))
    if (!one) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      one = TensorShardingAttr::getFullyOpen(
          op->getContext(), tensor ? tensor.getRank() : 0,
          FlatSymbolRefAttr::get(getMesh(0)));
    }
  return TensorShardingPerValueAttr::get(op->getContext(), all);
}

FailureOr<SmallVector<StringAttr>>
GspmdShardings::manualAxes(const HloSharding &inner, const HloSharding &outer,
                           Location loc) {
  auto factor = [&](const HloSharding &sharding) {
    bool isTiled = sharding.kind == HloSharding::Kind::Tiled;
    if (isTiled && sharding.devices.size() == 1)
      return FactoredSharding();
    return factoring->get(sharding, isTiled ? sharding.rank() : 0);
  };
  FactoredSharding from = factor(outer), to = factor(inner);
  const Mesh &mesh = factoring->meshes()[from.mesh];
  // A sharding that is all manual does not say on which mesh.
  if (inner.kind == HloSharding::Kind::Manual)
    to = {from.mesh, {}, mesh.allAxes()};
  AxisList axes = to.manual.subtract(from.manual).sorted();
  bool areWhole =
      llvm::all_of(axes, [&](AxisRef axis) { return mesh.isFull(axis); });
  if (to.mesh != from.mesh || axes.empty() || !areWhole)
    return emitError(loc)
           << "the devices that are manual under " << inner.str()
           << " and not under " << outer.str()
           << " do not differ along whole axes of one mesh, as expected";
  SmallVector<StringAttr> names;
  MeshAttr attr = getMesh(from.mesh).getMesh();
  for (AxisRef axis : axes)
    names.push_back(StringAttr::get(module.getContext(),
                                    attr.getAxes()[axis.axis].getName()));
  return names;
}

} // namespace shardonnay
