//===- ResolveSingleDeviceSharding.cpp ------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. checkBoundary: unless `keep-given`, no argument or result is on one
// device.
// 2. resolveArguments: what one device is given is sent to all.
// 3. For each op on one device, not looking into such: a constraint goes;
//    others move into a region, their results reduced with those of the other
//    devices, which are neutral; what the same device computed before it takes
//    as it is. If there is but one device, only what they say of it goes.
//    What a named computation has there is open (openBoundary).
// 4. What nothing uses on another device is not sent.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/NeutralElement.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_RESOLVESINGLEDEVICESHARDINGPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

/// By which reduction one device's tensor gets to the others, which have the
/// neutral element. The sum of a subnormal number and zero may be zero; their
/// maximum is taken of their bits (emit/OrderedBits.h).
static ReductionKind sendingKind(Type tensor) {
  auto real = dyn_cast<FloatType>(getElementTypeOrSelf(tensor));
  return real && real.getWidth() >= 16 ? ReductionKind::Max
                                       : ReductionKind::Sum;
}

namespace {

class SingleDeviceResolver {
public:
  SingleDeviceResolver(func::FuncOp func, sdy::MeshOp mesh, bool keepGiven)
      : func(func), mesh(mesh), keepGiven(keepGiven),
        builder(func.getContext()) {}

  LogicalResult run() {
    if (func.isExternal())
      return success();
    if (failed(checkBoundary()) || failed(resolveArguments()))
      return failure();
    bool ok = true;
    walkOps<WalkOrder::PreOrder>(func, [&](Operation *op) {
      if (auto computation = dyn_cast<sdy::NamedComputationOp>(op)) {
        ok &= succeeded(openBoundary(computation));
        return WalkResult::advance();
      }
      std::optional<int64_t> device = sdy::getSingleDevice(op);
      if (!device)
        return WalkResult::advance();
      bool isConstraint = isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op);
      if (hasOneDevice() && !isConstraint) {
        ok &= succeeded(checkDevices(op, *device));
        op->removeAttr(sdy::kShardingAttr);
        return WalkResult::advance();
      }
      ok &= succeeded(resolve(op, *device));
      return WalkResult::skip();
    });
    for (spmd::AllReduceOp send : sends)
      if (send->use_empty())
        send->erase();
    return success(ok);
  }

private:
  /// Everything is on it then.
  bool hasOneDevice() { return mesh.getMesh().getNumDevices() == 1; }
  LogicalResult checkBoundary();
  LogicalResult checkBoundary(sdy::TensorShardingAttr sharding,
                              const Twine &what, Location location);
  LogicalResult resolveArguments();
  /// What it asks for, or leaves, on one device, all have.
  LogicalResult openBoundary(sdy::NamedComputationOp computation);
  /// Open where one is on one device, which must be of the mesh; null stays.
  FailureOr<sdy::TensorShardingPerValueAttr>
  openDevices(Operation *op, sdy::TensorShardingPerValueAttr shardings,
              TypeRange types);
  LogicalResult resolve(Operation *op, int64_t device);
  LogicalResult moveIntoRegion(Operation *op, int64_t device);
  /// It is one of the mesh.
  LogicalResult checkDevice(Location location, const Twine &what,
                            int64_t device);
  /// All results of `op` that are on one device are on `device`, one of the
  /// mesh.
  LogicalResult checkDevices(Operation *op, int64_t device);
  /// What the other devices have of a result of `op`.
  FailureOr<Value> otherwise(Operation *op, Type type);
  /// `value`, which one device has and others have neutral, on all.
  Value sendToAll(Value value);
  /// What `device` has of `value`: before it is sent to all, if it comes from
  /// there.
  Value findOn(int64_t device, Value value);

  func::FuncOp func;
  sdy::MeshOp mesh;
  bool keepGiven;
  OpBuilder builder;
  SmallVector<spmd::AllReduceOp> sends;
};

LogicalResult SingleDeviceResolver::checkDevice(Location location,
                                                const Twine &what,
                                                int64_t device) {
  if (int64_t devices = mesh.getMesh().getNumDevices(); device >= devices)
    return pointAt(emitError(location)
                       << what << "is on device " << device << ", but mesh "
                       << mesh.getSymNameAttr() << " has " << devices
                       << "; expected one of its devices",
                   mesh.getLoc(), "the mesh is declared here");
  return success();
}

LogicalResult SingleDeviceResolver::checkDevices(Operation *op,
                                                 int64_t device) {
  if (failed(checkDevice(op->getLoc(), "", device)))
    return failure();
  auto all =
      op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::kShardingAttr);
  if (!all)
    return success();
  for (sdy::TensorShardingAttr sharding : all.getShardings())
    if (auto other = sdy::getSingleDevice(op, sharding);
        other && *other != device)
      return op->emitError("has a result on device ")
             << device << " and one on device " << *other
             << ", expected all on one device";
  return success();
}

LogicalResult
SingleDeviceResolver::checkBoundary(sdy::TensorShardingAttr sharding,
                                    const Twine &what, Location location) {
  auto device = sdy::getSingleDevice(func, sharding);
  if (!device)
    return success();
  if (keepGiven)
    return checkDevice(location, what, *device);
  return emitError(location)
         << what << "is on device " << *device
         << " alone, expected a sharding on the whole mesh: constrain it to "
            "the device inside the function, or set 'keep-given'";
}

LogicalResult SingleDeviceResolver::checkBoundary() {
  for (BlockArgument argument : func.getArguments())
    if (failed(checkBoundary(sdy::getSharding(argument),
                             "argument " + Twine(argument.getArgNumber()) + " ",
                             argument.getLoc())))
      return failure();
  for (unsigned result = 0; result < func.getNumResults(); ++result)
    if (failed(checkBoundary(sdy::getFuncResultSharding(func, result),
                             "result " + Twine(result) + " ", func.getLoc())))
      return failure();
  return success();
}

FailureOr<Value> SingleDeviceResolver::otherwise(Operation *op, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    DenseElementsAttr neutral =
        tensor.hasStaticShape()
            ? getNeutralElement(tensor.getElementType(), sendingKind(tensor))
            : nullptr;
    if (!neutral)
      return op->emitError() << "yields " << type
                             << " on one device, of which the others can't "
                                "have a neutral element; expected a tensor of "
                                "numbers and static shape";
    return Value(sdy::ConstantOp::create(builder, op->getLoc(), tensor,
                                         neutral.resizeSplat(tensor)));
  }
  // A token: one that is there already, or a new one.
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  if (Operation *made = type.getDialect().materializeConstant(
          builder, builder.getUnitAttr(), type, op->getLoc()))
    return made->getResult(0);
  return op->emitError() << "yields " << type
                         << " on one device; expected a tensor or a token, or "
                            "an operand of that type for the other devices";
}

Value SingleDeviceResolver::sendToAll(Value value) {
  SmallVector<sdy::AxisRefAttr> axes;
  for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
    axes.push_back(
        sdy::AxisRefAttr::get(builder.getContext(), axis.getName(), {}));
  auto sum = spmd::AllReduceOp::create(
      builder, value.getLoc(), value.getType(), value, mesh.getSymName(),
      sdy::AxisRefListAttr::get(builder.getContext(), axes),
      sendingKind(value.getType()));
  sum->setAttr(sdy::kCauseAttr,
               builder.getStringAttr("what one device has, sent to all; no "
                                     "other plan: the device is given"));
  sends.push_back(sum);
  return sum;
}

Value SingleDeviceResolver::findOn(int64_t device, Value value) {
  auto send = value.getDefiningOp<spmd::AllReduceOp>();
  if (!send || !is_contained(sends, send))
    return value;
  Value sent = send->getOperand(0);
  return sent.getDefiningOp<spmd::OnDeviceOp>().getDevice() == uint64_t(device)
             ? sent
             : value;
}

LogicalResult SingleDeviceResolver::resolveArguments() {
  for (BlockArgument argument : func.getArguments()) {
    auto device = sdy::getSingleDevice(func, sdy::getSharding(argument));
    if (!device || argument.use_empty() || hasOneDevice())
      continue;
    builder.setInsertionPointToStart(&func.getBody().front());
    FailureOr<Value> neutral = otherwise(func, argument.getType());
    if (failed(neutral))
      return failure();
    auto given = spmd::OnDeviceOp::create(
        builder, argument.getLoc(), TypeRange(argument.getType()), *device,
        mesh.getSymName(), ValueRange(argument), ValueRange(*neutral));
    Block *body = builder.createBlock(&given.getBody(), {}, argument.getType(),
                                      argument.getLoc());
    spmd::ReturnOp::create(builder, argument.getLoc(), body->getArguments());
    builder.setInsertionPointAfter(given);
    argument.replaceAllUsesExcept(sendToAll(given->getResult(0)), given);
  }
  return success();
}

FailureOr<sdy::TensorShardingPerValueAttr> SingleDeviceResolver::openDevices(
    Operation *op, sdy::TensorShardingPerValueAttr shardings, TypeRange types) {
  if (!shardings)
    return shardings;
  sdy::NamedMesh named{mesh.getMesh(), FlatSymbolRefAttr::get(mesh)};
  SmallVector<sdy::TensorShardingAttr> opened;
  for (auto [sharding, type] :
       llvm::zip_equal(shardings.getShardings(), types)) {
    auto device = sdy::getSingleDevice(op, sharding);
    if (device && failed(checkDevice(op->getLoc(), "", *device)))
      return failure();
    opened.push_back(device ? named.write(TensorSharding::fullyOpen(
                                  cast<RankedTensorType>(type).getRank()))
                            : sharding);
  }
  return sdy::TensorShardingPerValueAttr::get(op->getContext(), opened);
}

LogicalResult
SingleDeviceResolver::openBoundary(sdy::NamedComputationOp computation) {
  auto in = openDevices(computation, computation.getInShardingsAttr(),
                        computation.getOperandTypes());
  auto out = openDevices(computation, computation.getOutShardingsAttr(),
                         computation.getResultTypes());
  if (failed(in) || failed(out))
    return failure();
  computation.setInShardingsAttr(*in);
  computation.setOutShardingsAttr(*out);
  return success();
}

LogicalResult SingleDeviceResolver::resolve(Operation *op, int64_t device) {
  if (failed(checkDevices(op, device)))
    return failure();
  // Who asks for a value on one device has it there if all have it.
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op)) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa_and_present<sdy::SdyDialect>(op->getDialect()))
    return op->emitError("can't be on one device; expected a sharding on the "
                         "whole mesh");
  return moveIntoRegion(op, device);
}

LogicalResult SingleDeviceResolver::moveIntoRegion(Operation *op,
                                                   int64_t device) {
  builder.setInsertionPoint(op);
  SmallVector<Value> others;
  for (Type type : op->getResultTypes()) {
    FailureOr<Value> other = otherwise(op, type);
    if (failed(other))
      return failure();
    others.push_back(*other);
  }
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  auto inputs =
      map_to_vector(used, [&](Value value) { return findOn(device, value); });
  auto onDevice =
      spmd::OnDeviceOp::create(builder, op->getLoc(), op->getResultTypes(),
                               device, mesh.getSymName(), inputs, others);
  Block *body = builder.createBlock(&onDevice.getBody());
  IRMapping inside;
  for (Value value : used)
    inside.map(value, body->addArgument(value.getType(), value.getLoc()));
  Operation *clone = builder.clone(*op, inside);
  clone->removeAttr(sdy::kShardingAttr);
  spmd::ReturnOp::create(builder, op->getLoc(), clone->getResults());
  builder.setInsertionPointAfter(onDevice);
  for (auto [before, after] :
       llvm::zip_equal(op->getResults(), onDevice->getResults())) {
    bool isTensor = isa<RankedTensorType>(before.getType());
    if (!before.use_empty())
      before.replaceAllUsesWith(isTensor ? sendToAll(after) : after);
  }
  op->erase();
  return success();
}

struct ResolveSingleDeviceShardingPass
    : impl::ResolveSingleDeviceShardingPassBase<
          ResolveSingleDeviceShardingPass> {
  using ResolveSingleDeviceShardingPassBase::
      ResolveSingleDeviceShardingPassBase;

  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    sdy::MeshOp mesh = module ? sdy::getMostUsedMesh(module) : nullptr;
    if (!mesh)
      return;
    if (failed(SingleDeviceResolver(getOperation(), mesh, keepGiven).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
