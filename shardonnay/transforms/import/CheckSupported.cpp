//===- CheckSupported.cpp - what cannot be partitioned yet ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Check the module: replicas, and how many public functions.
// 2. Check every op outside of the regions of ops with a sharding rule (these
//    are the rule's business): its kind, its types, the meshes of its
//    shardings; and the sizes of meshes and tensors.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/EveryDevice.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_CHECKSUPPORTEDPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// Twice as many are still counted in 64 bits; more than that counts are not
/// exact, as Counts.h says.
constexpr int64_t kTooManyBytes = int64_t{1} << 62;

/// A known op that is not of the representation itself. (An unknown one is
/// computed whole, with a warning.)
bool isForeign(Operation *op) {
  return op->isRegistered() && !op->hasTrait<OpTrait::IsTerminator>() &&
         !isa<BuiltinDialect, func::FuncDialect, SdyDialect, spmd::SpmdDialect>(
             op->getDialect());
}

/// It has nothing to do with tensors (an order of effects): each device does
/// the same.
bool isOfNoTensor(Operation *op) {
  auto mayHold = [](Type type) { return isa<ShapedType, TupleType>(type); };
  return isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperandTypes(), mayHold) &&
         llvm::none_of(op->getResultTypes(), mayHold);
}

bool hasModel(Operation *op) {
  return isa<ShardingRuleOpInterface, ShardableDataFlowOpInterface>(op) ||
         op->hasTrait<OpTrait::ConstantLike>() || isOfNoTensor(op);
}

/// What stands in the regions of `op` runs as nobody has told us.
bool hasRefusedRegions(Operation *op) {
  return op->getNumRegions() > 0 &&
         !isa<ModuleOp, func::FuncOp, ShardingRuleOpInterface,
              ShardableDataFlowOpInterface, spmd::OnDeviceOp>(op) &&
         !op->getParentOfType<ManualComputationOp>();
}

class SupportChecker {
public:
  explicit SupportChecker(ModuleOp module) : module(module) {}

  LogicalResult run() {
    checkModule();
    walkOps<WalkOrder::PreOrder>(module, [&](Operation *op) {
      checkKind(op);
      checkTypes(op);
      checkMeshes(op);
      return isa<ShardingRuleOpInterface, spmd::OnDeviceOp>(op) ||
                     hasRefusedRegions(op) || isBufferized
                 ? WalkResult::skip()
                 : WalkResult::advance();
    });
    return failure(hasError);
  }

private:
  void checkModule();
  void checkKind(Operation *op);
  void checkCaptures(Operation *op);
  void checkTypes(Operation *op);
  void refuseDynamic(Location location, Type type);
  void checkMeshes(Operation *op);
  void checkMesh(Operation *op, MeshAttr mesh);

  InFlightDiagnostic error(Operation *op, const Twine &text) {
    hasError = true;
    return op->emitError(text);
  }

  ModuleOp module;
  bool hasError = false;
  bool isDynamic = false;
  /// Of a function on buffers nothing more is told.
  bool isBufferized = false;
  /// The first mesh with axes that a sharding uses, and by which op.
  MeshAttr mesh;
  Operation *meshUser = nullptr;
  /// Attributes whose meshes are fine.
  llvm::DenseSet<Attribute> supported;
};

void SupportChecker::checkModule() {
  // Front ends write this attribute with their own dialect's name before it.
  for (NamedAttribute attr : module->getAttrs())
    if (auto replicas = dyn_cast<IntegerAttr>(attr.getValue());
        replicas && attr.getName().strref().ends_with(".num_replicas") &&
        replicas.getInt() > 1)
      error(module, "expected one replica, got ")
          << replicas.getInt() << ": make the replicas a mesh axis";
  func::FuncOp first;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    if (!first) {
      first = func;
      continue;
    }
    InFlightDiagnostic diag =
        error(func, "expected one public function, got another one, @")
        << func.getSymName() << ": partition each in a module of its own";
    diag.attachNote(first.getLoc()) << "the first one";
  }
  if (first)
    return;
  InFlightDiagnostic diag =
      error(module, "expected a public function with a body, got none");
  for (auto inner : module.getOps<ModuleOp>())
    diag.attachNote(inner.getLoc())
        << "a module within the module: partition each by itself";
}

void SupportChecker::checkKind(Operation *op) {
  if (isForeign(op) && !op->getParentOfType<ManualComputationOp>() &&
      failed(verifyOnEveryDevice(op))) {
    hasError = true;
  } else if (isa<func::CallOp>(op)) {
    error(op, "call of a function that was not inlined: expected private "
              "functions with a body");
  } else if (auto mesh = dyn_cast<MeshOp>(op)) {
    hasError |= failed(verifyDeviceCount(op, mesh.getMesh().getNumDevices()));
  } else if (auto func = dyn_cast<func::FuncOp>(op)) {
    if (!func.isExternal() && !func.getBody().hasOneBlock())
      error(op, "expected a function of one block: branches between blocks "
                "cannot be partitioned yet");
  } else if (isa<ShardingRuleOpInterface>(op)) {
    checkCaptures(op);
  } else if (op->getParentOfType<ManualComputationOp>() &&
             !isa<ShardableDataFlowOpInterface>(op)) {
    // Each device runs it on what it has.
    checkCaptures(op);
  } else if (hasRefusedRegions(op)) {
    error(op, "'") << op->getName()
                   << "' has regions and cannot be partitioned yet: unroll the "
                      "loop, or compute both branches and select";
  } else if (isForeign(op) && !hasModel(op)) {
    error(op, "'") << op->getName()
                   << "' has no sharding rule, so what it computes on a device "
                      "is not known: express it by other operations, or give "
                      "it a model";
  }
}

/// True if no product of sizes exceeds the limit, even if another one is 0.
bool fits(TensorType type) {
  int64_t bytes =
      getElementBytes(RankedTensorType::get({}, type.getElementType()));
  for (int64_t size : type.getShape())
    bytes = countProduct(bytes, std::max<int64_t>(size, 1));
  return bytes < kTooManyBytes;
}

/// The regions of an op with a sharding rule are copied to the local op as they
/// are; numbers from outside are the same on all devices.
void SupportChecker::checkCaptures(Operation *op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  captured.remove_if(
      [](Value value) { return !isa<ShapedType>(value.getType()); });
  if (captured.empty())
    return;
  InFlightDiagnostic diag =
      error(op, "expected regions that use no tensor from outside: make the "
                "value an operand, or compute it inside");
  diag.attachNote(captured.front().getLoc()) << "the value from outside";
}

/// What an unknown shape makes unknown in its turn is not told.
void SupportChecker::refuseDynamic(Location location, Type type) {
  hasError = true;
  if (std::exchange(isDynamic, true))
    return;
  // Bounds stand in the encoding: such a size is data.
  auto ranked = dyn_cast<RankedTensorType>(type);
  emitError(location, "expected static shapes, got ")
      << type
      << (ranked && ranked.getEncoding()
              ? ", whose size depends on data; compute on as many elements as "
                "there may be, and mask those that there are not"
              : "; lower the program for arguments of known shapes");
}

/// The argument's own line if it is known, else the function's.
Location locationOf(func::FuncOp func, unsigned argument) {
  if (func.isExternal())
    return func.getLoc();
  Location own = func.getArgument(argument).getLoc();
  return getSourceLocation(own).line.empty() ? func.getLoc() : own;
}

void SupportChecker::checkTypes(Operation *op) {
  auto func = dyn_cast<func::FuncOp>(op);
  TypeRange types = func ? TypeRange(func.getArgumentTypes())
                         : TypeRange(op->getResultTypes());
  for (auto [number, type] : llvm::enumerate(types)) {
    if (func && !func.isExternal() && isa<BaseMemRefType>(type)) {
      isBufferized = hasError = true;
      emitError(locationOf(func, number), "expected tensors, got ")
          << type << "; partition the program before it is bufferized";
      return;
    }
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      continue;
    if (!tensor.hasStaticShape()) {
      refuseDynamic(func ? locationOf(func, number) : op->getLoc(), type);
      return;
    }
    if (!fits(tensor)) {
      error(op, "expected less than 2^62 bytes, got ") << type;
      return;
    }
  }
}

void SupportChecker::checkMesh(Operation *op, MeshAttr used) {
  if (used.isEmpty() || used.isMaximal() || used == mesh)
    return;
  if (!mesh) {
    mesh = used;
    meshUser = op;
    return;
  }
  int64_t devices = mesh.getNumDevices();
  if (used.getNumDevices() == devices)
    return;
  InFlightDiagnostic diag = error(op, "expected all meshes of ")
                            << devices << " devices, as " << mesh
                            << " has, got " << used;
  diag.attachNote(meshUser->getLoc()) << "the first mesh in use";
}

void SupportChecker::checkMeshes(Operation *op) {
  // Foreign ops keep shardings with their discardable attributes.
  bool onlyDiscardable =
      !isa<func::FuncOp>(op) && !isa_and_present<SdyDialect>(op->getDialect());
  DictionaryAttr attributes = onlyDiscardable
                                  ? op->getDiscardableAttrDictionary()
                                  : op->getAttrDictionary();
  if (supported.contains(attributes))
    return;
  AttrTypeWalker walker;
  llvm::SetVector<MeshAttr> meshes;
  walker.addWalk([&](TensorShardingAttr sharding) {
    if (MeshAttr found = getMesh(op, sharding))
      meshes.insert(found);
  });
  walker.walk(attributes);
  bool before = std::exchange(hasError, false);
  for (MeshAttr found : meshes)
    checkMesh(op, found);
  if (!hasError)
    supported.insert(attributes);
  hasError |= before;
}

struct CheckSupportedPass : impl::CheckSupportedPassBase<CheckSupportedPass> {
  void runOnOperation() override {
    if (failed(SupportChecker(getOperation()).run()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace shardonnay
