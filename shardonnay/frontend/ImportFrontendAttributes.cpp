//===- ImportFrontendAttributes.cpp - sdy from HLO's spelling of it -------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Meshes, from the module's attributes.
// 2. Shardings of arguments, results and ops; rules.
// 3. Custom calls, each by what its target stands for. Those at the
//    boundaries of
//    manual computations are only collected.
// 4. What is between boundaries becomes manual computations.
// 5. If the module listed its meshes, HLO shardings go.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/CustomCall.h"
#include "shardonnay/frontend/FrontendAttributes.h"
#include "shardonnay/frontend/GspmdShardings.h"
#include "shardonnay/frontend/ManualCalls.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/ProgramOps.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTFRONTENDATTRIBUTESPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral
    kPerValueText("#sdy.sharding_per_value<...>, a sharding for each value");

constexpr llvm::StringLiteral kEnter("xla.sdy.GlobalToLocalShape");
constexpr llvm::StringLiteral kLeave("xla.sdy.LocalToGlobalShape");

/// What the texts of a manual computation say, wherever they stand.
struct ManualTexts {
  TensorShardingPerValueAttr in, out;
  ManualAxesAttr axes;
};

class Importer {
public:
  explicit Importer(ModuleOp module) : module(module) {}

  LogicalResult run() {
    if (failed(importMeshes()))
      return failure();
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(importSignature(func)))
        return failure();
    // Boundaries last: they erase readers of tuples, and older ones ask the
    // call of their body.
    ProgramOps ops;
    SmallVector<Operation *> atBoundaries;
    walkOps(module, [&](Operation *op) {
      if (customCallTarget(op) == kEnter || customCallTarget(op) == kLeave)
        atBoundaries.push_back(op);
      else if (!isa<ModuleOp, func::FuncOp>(op))
        ops.append(op);
    });
    for (Operation *op : ops)
      if (failed(isa<func::CallOp>(op) ? importCall(op) : importOp(op)))
        return failure();
    for (Operation *op : atBoundaries)
      if (failed(importBoundary(op)))
        return failure();
    if (failed(formManualComputations(boundaries)))
      return failure();
    signatures.write();
    if (listsMeshes)
      dropHloShardings(module);
    return success();
  }
  bool hasChanged() const { return changed; }

private:
  LogicalResult importMeshes();
  LogicalResult importSignature(func::FuncOp func);
  LogicalResult importCall(Operation *op);
  LogicalResult importOp(Operation *op);
  /// An attribute of an op that is no custom call of ours.
  LogicalResult importAttributes(Operation *op, SdyTexts &texts);
  LogicalResult importConstraint(Operation *op, SdyTexts &texts);
  LogicalResult importFuncResult(Operation *op, SdyTexts &texts);
  LogicalResult importGroup(Operation *op, SdyTexts &texts);
  LogicalResult importBarrier(Operation *op, SdyTexts &texts);
  LogicalResult importBoundary(Operation *op);
  FailureOr<ManualTexts> readManual(SdyTexts &texts);
  /// The texts at the call of the body that `boundary` belongs to.
  ManualTexts findAtCall(Operation *boundary, bool enters);

  ModuleOp module;
  /// What the texts say is in the program now.
  bool changed = false;
  bool listsMeshes = false;
  Signatures signatures;
  llvm::DenseMap<Operation *, ManualTexts> calls;
  SmallVector<ManualCallBoundary> boundaries;
};

LogicalResult Importer::importMeshes() {
  NamedAttrList attributes(module->getAttrs());
  SdyTexts texts(attributes, module.getLoc());
  if (texts.empty())
    return success();
  changed = true;
  for (StringRef name :
       {"use_tuple_args", "tuple_args_shardings", "tuple_results_shardings"})
    if (texts.has(name))
      return module.emitError("xla.sdy.")
             << name << ": programs whose arguments are one tuple are not "
             << "supported; expected one argument for each tensor";
  FailureOr<DictionaryAttr> meshes = texts.get<DictionaryAttr>(
      "meshes", "a dictionary of meshes, {mesh = #sdy.mesh<...>}");
  if (failed(meshes))
    return failure();
  module->setAttrs(attributes);
  listsMeshes = bool(*meshes);
  if (!listsMeshes)
    return success();
  SymbolTable symbols(module);
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  for (NamedAttribute entry : *meshes) {
    Attribute value = entry.getValue();
    std::string reason;
    if (auto text = dyn_cast<StringAttr>(value))
      value = parseSdyText(text, module.getContext(), reason);
    auto mesh = dyn_cast_or_null<MeshAttr>(value);
    if (!mesh)
      return module.emitError("xla.sdy.meshes: expected a mesh, "
                              "#sdy.mesh<...>, for ")
             << entry.getName() << ", got " << entry.getValue();
    if (Operation *other = symbols.lookup(entry.getName())) {
      InFlightDiagnostic diag = module.emitError("xla.sdy.meshes: the name @")
                                << entry.getName().getValue()
                                << " is taken, expected a free one";
      diag.attachNote(other->getLoc()) << "taken here";
      return diag;
    }
    MeshOp::create(builder, module.getLoc(), entry.getName(), mesh);
  }
  return success();
}

LogicalResult Importer::importSignature(func::FuncOp func) {
  SignatureAttributes &signature = signatures.of(func);
  auto importAll = [&](unsigned count, auto getDict, auto setAttr,
                       auto locate) {
    for (unsigned i = 0; i < count; ++i) {
      DictionaryAttr dict = getDict(i);
      if (!dict || !dict.contains(kFrontendAttributes))
        continue;
      NamedAttrList attributes(dict);
      SdyTexts texts(attributes, locate(i));
      if (texts.empty())
        continue;
      changed = true;
      FailureOr<TensorShardingAttr> sharding =
          texts.get<TensorShardingAttr>("sharding", "#sdy.sharding<...>");
      if (failed(sharding))
        return failure();
      setAttr(i, kFrontendAttributes, attributes.get(kFrontendAttributes));
      if (*sharding)
        setAttr(i, kShardingAttr, *sharding);
    }
    return success();
  };
  if (failed(importAll(
          func.getNumArguments(),
          [&](unsigned i) { return func.getArgAttrDict(i); },
          [&](unsigned i, StringRef name, Attribute value) {
            signature.setArgument(i, name, value);
          },
          [&](unsigned i) {
            return func.isExternal() ? func.getLoc()
                                     : func.getArgument(i).getLoc();
          })))
    return failure();
  return importAll(
      func.getNumResults(),
      [&](unsigned i) { return func.getResultAttrDict(i); },
      [&](unsigned i, StringRef name, Attribute value) {
        signature.setResult(i, name, value);
      },
      [&](unsigned) { return func.getLoc(); });
}

FailureOr<ManualTexts> Importer::readManual(SdyTexts &texts) {
  auto in =
      texts.get<TensorShardingPerValueAttr>("in_shardings", kPerValueText);
  auto out =
      texts.get<TensorShardingPerValueAttr>("out_shardings", kPerValueText);
  auto axes =
      texts.get<ManualAxesAttr>("manual_axes", "#sdy<manual_axes{...}>");
  if (failed(in) || failed(out) || failed(axes))
    return failure();
  return ManualTexts{*in, *out, *axes};
}

LogicalResult Importer::importCall(Operation *op) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  SdyTexts texts(attributes, op->getLoc());
  if (texts.empty())
    return success();
  changed = true;
  FailureOr<ManualTexts> manual = readManual(texts);
  if (failed(manual) || failed(importAttributes(op, texts)))
    return failure();
  calls[op] = *manual;
  return success();
}

LogicalResult Importer::importOp(Operation *op) {
  StringRef target = customCallTarget(op);
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  SdyTexts texts(attributes, op->getLoc());
  if (texts.empty() && !target.starts_with("xla.sdy."))
    return success();
  changed = true;
  if (target == "Sharding" && texts.has("sharding"))
    return importConstraint(op, texts);
  if (target == "xla.sdy.FuncResultSharding")
    return importFuncResult(op, texts);
  if (target == "xla.sdy.ShardingGroup")
    return importGroup(op, texts);
  if (target == "xla.sdy.PropagationBarrier")
    return importBarrier(op, texts);
  if (target.starts_with("xla.sdy."))
    return op->emitError("unknown custom call @")
           << target
           << ", expected FuncResultSharding, ShardingGroup, "
              "PropagationBarrier, GlobalToLocalShape or LocalToGlobalShape "
              "after xla.sdy.";
  return importAttributes(op, texts);
}

LogicalResult Importer::importAttributes(Operation *op, SdyTexts &texts) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  SdyTexts(attributes, op->getLoc());
  auto sharding =
      texts.get<TensorShardingPerValueAttr>("sharding", kPerValueText);
  auto rule = texts.get<OpShardingRuleAttr>("sharding_rule",
                                            "#sdy.op_sharding_rule<...>");
  if (failed(sharding) || failed(rule))
    return failure();
  if (*sharding)
    attributes.set(kShardingAttr, *sharding);
  if (*rule)
    attributes.set(kShardingRuleAttr, *rule);
  op->setDiscardableAttrs(attributes.getDictionary(op->getContext()));
  return success();
}

/// The one operand and the one result of `op` have the same type.
LogicalResult checkIdentity(Operation *op) {
  if (op->getNumOperands() == 1 && op->getNumResults() == 1 &&
      op->getOperand(0).getType() == op->getResult(0).getType() &&
      isa<RankedTensorType>(op->getOperand(0).getType()))
    return success();
  return op->emitError("custom call @")
         << customCallTarget(op)
         << " has other operands or results than expected, a tensor and the "
            "same tensor";
}

/// The only sharding of `xla.sdy.sharding`.
FailureOr<TensorShardingAttr> getOnlySharding(Operation *op, SdyTexts &texts) {
  auto all = texts.get<TensorShardingPerValueAttr>("sharding", kPerValueText);
  if (failed(all))
    return failure();
  if (!*all || all->getShardings().size() != 1)
    return op->emitError("custom call @")
           << customCallTarget(op)
           << ": expected one sharding in xla.sdy.sharding, got "
           << (*all ? all->getShardings().size() : 0);
  return all->getShardings().front();
}

LogicalResult Importer::importConstraint(Operation *op, SdyTexts &texts) {
  FailureOr<TensorShardingAttr> sharding = getOnlySharding(op, texts);
  if (failed(sharding) || failed(checkIdentity(op)))
    return failure();
  OpBuilder builder(op);
  auto constraint = ShardingConstraintOp::create(builder, op->getLoc(),
                                                 op->getOperand(0), *sharding);
  op->replaceAllUsesWith(constraint);
  op->erase();
  return success();
}

LogicalResult Importer::importFuncResult(Operation *op, SdyTexts &texts) {
  FailureOr<TensorShardingAttr> sharding = getOnlySharding(op, texts);
  if (failed(sharding) || failed(checkIdentity(op)))
    return failure();
  for (OpOperand &use : op->getUses())
    if (auto returned = dyn_cast<func::ReturnOp>(use.getOwner()))
      signatures.of(returned->getParentOfType<func::FuncOp>())
          .setResult(use.getOperandNumber(), kShardingAttr, *sharding);
  op->replaceAllUsesWith(op->getOperands());
  op->erase();
  return success();
}

LogicalResult Importer::importGroup(Operation *op, SdyTexts &texts) {
  auto id = texts.get<IntegerAttr>("sharding_group_id", "an integer, 0 : i64");
  if (failed(id))
    return failure();
  if (!*id || op->getNumOperands() != 1 || !op->use_empty())
    return op->emitError("custom call @xla.sdy.ShardingGroup: expected one "
                         "operand, no use, and xla.sdy.sharding_group_id");
  OpBuilder builder(op);
  ShardingGroupOp::create(builder, op->getLoc(), op->getOperand(0),
                          id->getValue().getSExtValue());
  op->erase();
  return success();
}

LogicalResult Importer::importBarrier(Operation *op, SdyTexts &texts) {
  auto direction =
      texts.get<IntegerAttr>("allowed_direction", "an integer, 1 : i32");
  if (failed(direction) || failed(checkIdentity(op)))
    return failure();
  std::optional<PropagationDirection> known;
  if (*direction && direction->getValue().getActiveBits() <= 32)
    known = symbolizePropagationDirection(
        static_cast<uint32_t>(direction->getValue().getZExtValue()));
  if (!known)
    return op->emitError("xla.sdy.allowed_direction: expected 0 (none), 1 "
                         "(forward), 2 (backward) or 3 (both)");
  OpBuilder builder(op);
  auto barrier = PropagationBarrierOp::create(builder, op->getLoc(),
                                              op->getOperand(0), *known);
  op->replaceAllUsesWith(barrier);
  op->erase();
  return success();
}

ManualTexts Importer::findAtCall(Operation *boundary, bool enters) {
  SmallVector<Operation *> near;
  if (enters)
    for (Operation *user : boundary->getUsers()) {
      near.push_back(user);
      llvm::append_range(near, user->getUsers());
    }
  else
    for (Value operand : boundary->getOperands())
      if (Operation *def = operand.getDefiningOp())
        near.push_back(def);
  for (Operation *op : near)
    if (auto found = calls.find(op); found != calls.end())
      return found->second;
  return {};
}

LogicalResult Importer::importBoundary(Operation *op) {
  changed = true;
  bool enters = customCallTarget(op) == kEnter;
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  SdyTexts texts(attributes, op->getLoc());
  FailureOr<ManualTexts> manual =
      texts.empty() ? findAtCall(op, enters) : readManual(texts);
  if (failed(manual))
    return failure();
  TensorShardingPerValueAttr shardings = enters ? manual->in : manual->out;
  if (!shardings || !manual->axes)
    return op->emitError("custom call @")
           << customCallTarget(op) << ": expected xla.sdy."
           << (enters ? "in" : "out")
           << "_shardings and xla.sdy.manual_axes, here or at the call of the "
              "body";
  FailureOr<UnrealizedConversionCastOp> cast = replaceByCast(op);
  if (failed(cast))
    return failure();
  size_t expected = cast->getNumOperands(), found = cast->getNumResults();
  if (expected != found || shardings.getShardings().size() != expected)
    return cast->emitError("a boundary of a manual computation has ")
           << expected << " operands, " << found << " results and "
           << shardings.getShardings().size()
           << " shardings, expected as many of each";
  boundaries.push_back({*cast, enters,
                        llvm::to_vector(shardings.getShardings()),
                        llvm::to_vector(manual->axes.getValue())});
  return success();
}

struct ImportFrontendAttributesPass
    : ImporterPass<
          impl::ImportFrontendAttributesPassBase<ImportFrontendAttributesPass>,
          Importer> {};

} // namespace
} // namespace shardonnay
