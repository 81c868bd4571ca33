//===- ShardingAccess.cpp - where a value's sharding is kept --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Prefetch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sdy;

/// The name of the attribute in which `op` itself states its result's sharding;
/// empty if it has no such attribute.
static StringRef getOwnShardingName(Operation *op) {
  if (isa<ShardingConstraintOp, ReshardOp, DataFlowEdgeOp>(op))
    return "sharding";
  if (isa<CollectiveOpInterface>(op))
    return "out_sharding";
  return "";
}

/// The function of which `argument` is one; null if it is none's.
static func::FuncOp getFunc(BlockArgument argument) {
  Block *block = argument.getOwner();
  auto func = dyn_cast_or_null<func::FuncOp>(block->getParentOp());
  return func && block->isEntryBlock() ? func : func::FuncOp();
}

//===----------------------------------------------------------------------===//
// Block arguments
//===----------------------------------------------------------------------===//

/// The place of `owner`, a block argument, among the block arguments that own a
/// class.
static std::pair<size_t, SmallVector<Value>> getPlace(Operation *op,
                                                      Value owner) {
  auto dataFlow = cast<shardonnay::ShardableDataFlowOpInterface>(op);
  SmallVector<Value> owners = llvm::filter_to_vector(
      dataFlow.getEdgeOwners(), llvm::IsaPred<BlockArgument>);
  return {llvm::find(owners, owner) - owners.begin(), owners};
}

/// The sharding of a class of values of `op`, as its body sees it.
static TensorShardingAttr toInner(ManualComputationOp op, Value owner,
                                  TensorShardingAttr outer) {
  std::optional<shardonnay::ManualBoundary> boundary =
      op.getManualBoundary(owner);
  if (!boundary || !outer)
    return outer;
  auto mesh = NamedMesh::of(op, outer);
  return mesh.write(boundary->toInner(mesh.read(outer)));
}

/// The in-shardings of a computation; null if it has none.
static TensorShardingPerValueAttr getInShardings(Operation *op) {
  return op->getAttrOfType<TensorShardingPerValueAttr>("in_shardings");
}

static TensorShardingAttr getArgumentSharding(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  if (func::FuncOp func = getFunc(argument))
    return func.getArgAttrOfType<TensorShardingAttr>(number, kShardingAttr);
  Operation *op = argument.getOwner()->getParentOp();
  if (isa_and_present<ManualComputationOp, NamedComputationOp>(op)) {
    TensorShardingPerValueAttr shardings = getInShardings(op);
    TensorShardingAttr sharding =
        shardings ? shardings.getShardings()[number] : nullptr;
    auto manual = dyn_cast<ManualComputationOp>(op);
    return manual ? toInner(manual, argument, sharding) : sharding;
  }
  Value owner = shardonnay::getEdgeOwner(argument);
  if (!owner)
    return nullptr;
  if (owner.hasOneUse())
    if (auto edge = dyn_cast<DataFlowEdgeOp>(*owner.user_begin()))
      return edge.getShardingAttr();
  if (isa<OpResult>(owner))
    return getSharding(owner);
  auto [place, owners] = getPlace(op, owner);
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(
      kBlockArgumentShardingsAttr);
  return shardings && shardings.getShardings().size() == owners.size()
             ? shardings.getShardings()[place]
             : nullptr;
}

TensorShardingPerValueAttr
mlir::sdy::completeShardings(TypeRange types,
                             MutableArrayRef<TensorShardingAttr> shardings,
                             Operation *from) {
  if (llvm::none_of(shardings, [](auto entry) { return entry; }))
    return nullptr;
  // On one device there are no dims to leave open.
  Attribute meshOrRef = MeshAttr::get(from->getContext(), {}, {});
  for (TensorShardingAttr entry : llvm::reverse(shardings))
    if (MeshAttr mesh = entry ? getMesh(from, entry) : nullptr;
        entry && !(mesh && mesh.isMaximal()))
      meshOrRef = entry.getMeshOrRef();
  for (auto [type, entry] : llvm::zip_equal(types, shardings)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!entry)
      entry = TensorShardingAttr::getFullyOpen(
          from->getContext(), tensor ? tensor.getRank() : 0, meshOrRef);
  }
  return TensorShardingPerValueAttr::get(from->getContext(), shardings);
}

/// Writes `name` of `op` with the entry of one of `values` exchanged.
static void setEntry(Operation *op, StringRef name, ValueRange values,
                     unsigned number, TensorShardingAttr sharding) {
  if (sharding && values.size() == 1) {
    op->setAttr(name,
                TensorShardingPerValueAttr::get(op->getContext(), {sharding}));
    return;
  }
  SmallVector<TensorShardingAttr> shardings(values.size());
  auto old = op->getAttrOfType<TensorShardingPerValueAttr>(name);
  if (old && old.getShardings().size() == values.size())
    shardings.assign(old.getShardings().begin(), old.getShardings().end());
  if (!sharding && !shardings[number])
    return;
  if (!sharding && shardings.size() > 1)
    sharding = TensorShardingAttr::getFullyOpen(
        op->getContext(), shardings[number].getRank(),
        shardings[number].getMeshOrRef());
  shardings[number] = sharding;
  if (TensorShardingPerValueAttr attr =
          completeShardings(values.getTypes(), shardings, op))
    op->setAttr(name, attr);
  else
    op->removeAttr(name);
}

static void setArgumentSharding(BlockArgument argument,
                                TensorShardingAttr sharding) {
  unsigned number = argument.getArgNumber();
  if (func::FuncOp func = getFunc(argument)) {
    if (sharding)
      func.setArgAttr(number, kShardingAttr, sharding);
    else
      func.removeArgAttr(number, kShardingAttr);
    return;
  }
  Operation *op = argument.getOwner()->getParentOp();
  if (auto manual = dyn_cast<ManualComputationOp>(op)) {
    auto mesh = NamedMesh::of(op, sharding);
    if (auto boundary = manual.getManualBoundary(argument))
      sharding = mesh.write(boundary->toOuter(mesh.read(sharding)));
  }
  if (isa<ManualComputationOp, NamedComputationOp>(op))
    return setEntry(op, "in_shardings", op->getOperands(), number, sharding);
  Value owner = shardonnay::getEdgeOwner(argument);
  assert(owner && "a block argument in no class has no sharding");
  if (isa<OpResult>(owner))
    return setSharding(owner, sharding);
  auto [place, owners] = getPlace(op, owner);
  setEntry(op, kBlockArgumentShardingsAttr, owners, place, sharding);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The attribute with the shardings of all results of `op`.
static StringRef getResultShardingsName(Operation *op) {
  return isa<ManualComputationOp, NamedComputationOp>(op) ? "out_shardings"
                                                          : kShardingAttr;
}

TensorShardingAttr mlir::sdy::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getArgumentSharding(argument);
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  TensorShardingPerValueAttr shardings;
  if (!isa_and_present<SdyDialect>(op->getDialect())) {
    // Not one of those that the op knows, among which it would look first.
    shardings = dyn_cast_if_present<TensorShardingPerValueAttr>(
        op->getDiscardableAttr(kShardingAttr));
  } else {
    if (StringRef name = getOwnShardingName(op); !name.empty())
      return op->getAttrOfType<TensorShardingAttr>(name);
    shardings = op->getAttrOfType<TensorShardingPerValueAttr>(
        getResultShardingsName(op));
  }
  return shardings && shardings.getShardings().size() == op->getNumResults()
             ? shardings.getShardings()[result.getResultNumber()]
             : nullptr;
}

void mlir::sdy::setSharding(Value value, TensorShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return setArgumentSharding(argument, sharding);
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  StringRef name = getOwnShardingName(op);
  if (name.empty())
    setEntry(op, getResultShardingsName(op), op->getResults(),
             result.getResultNumber(), sharding);
  else if (sharding)
    op->setAttr(name, sharding);
  else
    op->removeAttr(name);
}

TensorShardingAttr mlir::sdy::getClassSharding(OpOperand &source) {
  Value owner = shardonnay::getEdgeOwner(source);
  if (!owner)
    return nullptr;
  if (auto argument = dyn_cast<BlockArgument>(owner))
    if (auto op = dyn_cast<ManualComputationOp>(source.getOwner()))
      return op.getInShardings().getShardings()[argument.getArgNumber()];
  TensorShardingAttr sharding = getSharding(owner);
  auto op = dyn_cast_if_present<ManualComputationOp>(owner.getDefiningOp());
  return op ? toInner(op, owner, sharding) : sharding;
}

bool mlir::sdy::changesKind(TensorShardingAttr from, TensorShardingAttr to) {
  return from && to && !from.getUnreducedAxes().empty() &&
         !to.getUnreducedAxes().empty() &&
         from.getReductionKind() != to.getReductionKind();
}

SmallVector<TensorShardingAttr> mlir::sdy::getShardings(ValueRange values) {
  return llvm::map_to_vector(values, getSharding);
}

TensorShardingAttr mlir::sdy::getFuncResultSharding(func::FuncOp func,
                                                    unsigned result) {
  return func.getResultAttrOfType<TensorShardingAttr>(result, kShardingAttr);
}

void mlir::sdy::setFuncResultSharding(func::FuncOp func, unsigned result,
                                      TensorShardingAttr sharding) {
  if (sharding)
    func.setResultAttr(result, kShardingAttr, sharding);
  else
    func.removeResultAttr(result,
                          StringAttr::get(func.getContext(), kShardingAttr));
}

static bool mayHaveShardingsInProperties(Operation *op) {
  return op->getPropertiesStorageSize() != 0 && !isa<ConstantOp>(op) &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<shardonnay::ShardingRuleOpInterface>(op);
}

void mlir::sdy::walkShardings(Operation *op, AttrTypeWalker &walker) {
  // The raw dictionary is all there is besides properties.
  walker.walk(mayHaveShardingsInProperties(op) ? op->getAttrDictionary()
                                               : op->getRawDictionaryAttrs());
}

void mlir::sdy::replaceShardings(Operation *op, AttrTypeReplacer &replacer) {
  if (mayHaveShardingsInProperties(op))
    return replacer.replaceElementsIn(op);
  DictionaryAttr attributes = op->getRawDictionaryAttrs();
  auto replaced = cast<DictionaryAttr>(replacer.replace(attributes));
  if (replaced != attributes)
    op->setDiscardableAttrs(replaced);
}

MeshOp mlir::sdy::getMeshOp(Operation *from, FlatSymbolRefAttr name) {
  // Names are compared as attributes: of a compilation's instructions a general
  // look-up, which reads strings, took one in twenty.
  auto module = dyn_cast<ModuleOp>(from);
  if (!module)
    module = from->getParentOfType<ModuleOp>();
  if (module)
    for (auto mesh : module.getOps<MeshOp>())
      if (mesh.getSymNameAttr() == name.getAttr())
        return mesh;
  return nullptr;
}

shardonnay::AxisList mlir::sdy::getDeviceAxes(Operation *op, MeshAttr mesh) {
  llvm::DenseSet<StringRef> manual;
  for (auto outer = op->getParentOfType<ManualComputationOp>(); outer;
       outer = outer->getParentOfType<ManualComputationOp>())
    for (StringAttr axis : outer.getManualAxes().getValue())
      manual.insert(axis.getValue());
  shardonnay::AxisList axes;
  for (auto [i, axis] : llvm::enumerate(mesh.getAxes()))
    if (axis.getSize() > 1 && !manual.contains(axis.getName()))
      axes.append(toMesh(mesh).fullAxis(i));
  return axes;
}

MeshAttr mlir::sdy::getMesh(Operation *from, TensorShardingAttr sharding) {
  if (auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
    return mesh;
  MeshOp mesh = getMeshOp(from, sharding.getMeshSymbol());
  return mesh ? mesh.getMesh() : nullptr;
}

LogicalResult mlir::sdy::verifyMeshSizes(ModuleOp module) {
  for (auto mesh : module.getOps<MeshOp>())
    if (!mesh.getMesh().hasSizes())
      return mesh.emitError()
             << "has an axis without a size, expected sizes: say how many "
                "devices there are (option 'devices', or the pass "
                "sdy-bind-axis-sizes)";
  return success();
}

static SmallVector<MeshOp> getMeshesWithAxes(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<MeshOp>(), [](MeshOp mesh) {
    return !mesh.getMesh().getAxes().empty();
  });
}

/// Visits the mesh of each sharding that names an axis, until `visit` says so.
static void visitMeshUses(ModuleOp module,
                          llvm::function_ref<WalkResult(StringAttr)> visit) {
  auto visitOne = [&](TensorShardingAttr sharding) {
    return sharding && !sharding.isReplicated() && sharding.getMeshSymbol()
               ? visit(sharding.getMeshSymbol().getAttr())
               : WalkResult::advance();
  };
  auto visitAll = [&](ArrayRef<TensorShardingAttr> shardings) {
    return llvm::any_of(shardings, [&](TensorShardingAttr sharding) {
      return visitOne(sharding).wasInterrupted();
    });
  };
  for (auto func : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (visitOne(getFuncResultSharding(func, i)).wasInterrupted())
        return;
    if (func.isExternal())
      continue;
    if (visitAll(getShardings(func.getArguments())))
      return;
    WalkResult walked = shardonnay::walkOps(func, [&](Operation *op) {
      return visitAll(getShardings(op->getResults())) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return;
  }
}

MeshOp mlir::sdy::getProgramMesh(ModuleOp module) {
  SmallVector<MeshOp> meshes = getMeshesWithAxes(module);
  if (meshes.size() < 2)
    return meshes.empty() ? nullptr : meshes.front();
  llvm::DenseSet<StringAttr> used;
  visitMeshUses(module, [&](StringAttr name) {
    used.insert(name);
    return name == meshes.front().getSymNameAttr() ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  });
  auto *first = llvm::find_if(meshes, [&](MeshOp mesh) {
    return used.contains(mesh.getSymNameAttr());
  });
  return first == meshes.end() ? meshes.front() : *first;
}

MeshOp mlir::sdy::getMostUsedMesh(ModuleOp module) {
  if (getMeshesWithAxes(module).size() < 2)
    return getProgramMesh(module);
  llvm::MapVector<StringAttr, int64_t> uses;
  visitMeshUses(module, [&](StringAttr name) {
    ++uses[name];
    return WalkResult::advance();
  });
  StringAttr most;
  int64_t mostUses = 0;
  for (auto [name, count] : uses)
    if (count > mostUses)
      std::tie(most, mostUses) = std::pair(name, count);
  return most ? getMeshOp(module, FlatSymbolRefAttr::get(most))
              : getProgramMesh(module);
}
