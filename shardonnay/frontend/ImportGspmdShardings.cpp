//===- ImportGspmdShardings.cpp - sdy from HLO shardings ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read all HLO shardings and find their meshes.
// 2. Calls of `InspectSharding` go, with a warning.
// 3. Convert those of arguments and results, and of ops that are no custom
//    calls of GSPMD's.
// 4. Boundaries of manual computations, with the calls of `Sharding` before
//    them, which say how a value is sharded at the boundary.
// 5. The other calls of `Sharding`: constraints and groups.
// 6. What is between boundaries becomes manual computations.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Verifier.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/CustomCall.h"
#include "shardonnay/frontend/GspmdShardings.h"
#include "shardonnay/frontend/ManualCalls.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/support/Prefetch.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTGSPMDSHARDINGSPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kSharding("Sharding");
constexpr llvm::StringLiteral kEnter("SPMDFullToShardShape");
constexpr llvm::StringLiteral kLeave("SPMDShardToFullShape");
constexpr llvm::StringLiteral kInspect("InspectSharding");

/// What a custom call of GSPMD's says.
struct Annotation {
  HloSharding sharding;
  SmallVector<int64_t> openDims;
};

class Importer {
public:
  explicit Importer(ModuleOp module) : module(module), shardings(module) {}

  LogicalResult run();
  bool hasChanged() const { return changed; }

private:
  void drop(ArrayRef<Operation *> inspections);
  LogicalResult importSignature(func::FuncOp func);
  LogicalResult importAttribute(Operation *op);
  LogicalResult importBoundary(Operation *op);
  LogicalResult importConstraint(Operation *op);

  FailureOr<Annotation> readAnnotation(Operation *op);
  /// What is said of `value` where it is computed: by a call of `Sharding`, or
  /// by what else computes it; nothing if nothing is.
  FailureOr<std::optional<Annotation>> annotationOf(Value value);

  ModuleOp module;
  bool changed = false;
  GspmdShardings shardings;
  SmallVector<ManualCallBoundary> boundaries;
  /// Calls of `Sharding` that a boundary has taken the word of.
  llvm::DenseSet<Operation *> takenByBoundaries;
};

LogicalResult Importer::run() {
  if (failed(shardings.read()))
    return failure();
  SmallVector<Operation *> attributes, calls, atBoundaries, inspections;
  walkOps(module, [&](Operation *op) {
    StringRef target = customCallTarget(op);
    if (target == kSharding)
      calls.push_back(op);
    else if (target == kEnter || target == kLeave)
      atBoundaries.push_back(op);
    else if (target == kInspect)
      inspections.push_back(op);
    else if (op->hasAttr(kHloShardingAttr))
      attributes.push_back(op);
  });
  drop(inspections);
  if (shardings.empty() && calls.empty() && atBoundaries.empty())
    return success();
  changed = true;
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(importSignature(func)))
      return failure();
  for (Operation *op : atBoundaries)
    if (failed(importBoundary(op)))
      return failure();
  for (Operation *op : calls)
    if (failed(importConstraint(op)))
      return failure();
  for (Operation *op : attributes)
    if (failed(importAttribute(op)))
      return failure();
  if (failed(formManualComputations(boundaries)))
    return failure();
  dropHloShardings(module);
  return success();
}

/// What they call back is a function in XLA's partitioner.
void Importer::drop(ArrayRef<Operation *> inspections) {
  for (Operation *op : inspections) {
    op->emitWarning("custom call @InspectSharding is left out, as only XLA's "
                    "partitioner calls it back; `explain` tells how a value "
                    "is sharded, and why");
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    changed = true;
  }
}

LogicalResult Importer::importSignature(func::FuncOp func) {
  SignatureAttributes signature(func);
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto text = func.getArgAttrOfType<StringAttr>(i, kHloShardingAttr);
    if (!text)
      continue;
    Location loc =
        func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc();
    FailureOr<TensorShardingAttr> sharding =
        shardings.convert(shardings.get(text), func.getArgumentTypes()[i], loc);
    if (failed(sharding))
      return failure();
    if (*sharding)
      signature.setArgument(i, kShardingAttr, *sharding);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    auto text = func.getResultAttrOfType<StringAttr>(i, kHloShardingAttr);
    if (!text)
      continue;
    FailureOr<TensorShardingAttr> sharding = shardings.convert(
        shardings.get(text), func.getResultTypes()[i], func.getLoc());
    if (failed(sharding))
      return failure();
    if (*sharding)
      signature.setResult(i, kShardingAttr, *sharding);
  }
  return success();
}

LogicalResult Importer::importAttribute(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>(kHloShardingAttr);
  FailureOr<TensorShardingPerValueAttr> all =
      shardings.convert(shardings.get(text), op);
  if (failed(all))
    return failure();
  if (*all)
    op->setDiscardableAttr(kShardingAttr, *all);
  return success();
}

/// The dims in `unspecified_dims=[0,2]` of a backend config; nothing if what
/// follows `unspecified_dims` is no list.
std::optional<SmallVector<int64_t>> readUnspecifiedDims(StringRef config) {
  SmallVector<int64_t> dims;
  size_t start = config.find("unspecified_dims");
  if (start == StringRef::npos)
    return dims;
  StringRef rest = config.substr(start + strlen("unspecified_dims"));
  if (!rest.consume_front("=["))
    return std::nullopt;
  auto [list, after] = rest.split(']');
  if (list.size() == rest.size())
    return std::nullopt;
  SmallVector<StringRef> words;
  list.split(words, ',');
  for (StringRef word : words)
    if (word.trim().getAsInteger(10, dims.emplace_back()) || dims.back() < 0)
      return std::nullopt;
  return dims;
}

FailureOr<Annotation> Importer::readAnnotation(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>(kHloShardingAttr);
  if (!text)
    return op->emitError("custom call @")
           << customCallTarget(op) << " says nothing, expected mhlo.sharding";
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getOperand(0).getType()) ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return op->emitError("custom call @")
           << customCallTarget(op)
           << " has other operands or results than expected, one tensor each";
  Annotation annotation = {shardings.get(text), {}};
  auto config = op->getAttrOfType<StringAttr>("backend_config");
  std::optional<SmallVector<int64_t>> dims =
      readUnspecifiedDims(config ? config.getValue() : "");
  if (!dims)
    return op->emitError("backend_config ")
           << config << ": expected unspecified_dims=[..], a list of dims";
  annotation.openDims = *dims;
  return annotation;
}

FailureOr<std::optional<Annotation>> Importer::annotationOf(Value value) {
  StringAttr text;
  if (Operation *def = value.getDefiningOp()) {
    if (customCallTarget(def) == kSharding) {
      FailureOr<Annotation> found = readAnnotation(def);
      if (failed(found))
        return failure();
      return std::optional<Annotation>(*found);
    }
    if (def->getNumResults() == 1)
      text = def->getAttrOfType<StringAttr>(kHloShardingAttr);
  } else if (auto func = dyn_cast<func::FuncOp>(
                 value.getParentBlock()->getParentOp())) {
    text = func.getArgAttrOfType<StringAttr>(
        cast<BlockArgument>(value).getArgNumber(), kHloShardingAttr);
  }
  if (!text)
    return std::optional<Annotation>();
  return std::optional<Annotation>({shardings.get(text), {}});
}

LogicalResult Importer::importBoundary(Operation *op) {
  bool enters = customCallTarget(op) == kEnter;
  FailureOr<Annotation> own = readAnnotation(op);
  if (failed(own))
    return failure();
  FailureOr<std::optional<Annotation>> before = annotationOf(op->getOperand(0));
  if (failed(before))
    return failure();
  if (!*before)
    return shardonnay::pointAtOperand(
        op->emitError("custom call @") << customCallTarget(op)
                                       << ": nothing says how its operand is "
                                          "sharded, expected a custom call "
                                          "@Sharding before it",
        op->getOperand(0));
  const Annotation &global = enters ? **before : *own;
  const Annotation &inside = enters ? *own : **before;
  FailureOr<SmallVector<StringAttr>> axes =
      shardings.manualAxes(inside.sharding, global.sharding, op->getLoc());
  if (failed(axes))
    return failure();
  Type type = (enters ? op->getOperand(0) : op->getResult(0)).getType();
  FailureOr<TensorShardingAttr> sharding =
      shardings.convert(global.sharding, type, op->getLoc(), global.openDims);
  if (failed(sharding))
    return failure();
  if (!*sharding)
    return op->emitError("sharding ")
           << global.sharding.str()
           << " does not say how the tensor is sharded at the boundary of a "
              "manual computation; expected devices or replicated";
  Attribute text = op->getAttr(kHloShardingAttr);
  FailureOr<UnrealizedConversionCastOp> cast = replaceByCast(op);
  if (failed(cast))
    return failure();
  // Another boundary may ask.
  (*cast)->setAttr(kHloShardingAttr, text);
  // The boundary says what the call before it said.
  Operation *call = cast->getOperand(0).getDefiningOp();
  if (call && customCallTarget(call) == kSharding) {
    takenByBoundaries.insert(call);
    cast->setOperand(0, call->getOperand(0));
  }
  boundaries.push_back({*cast, enters, {*sharding}, *axes});
  return success();
}

LogicalResult Importer::importConstraint(Operation *op) {
  FailureOr<Annotation> read = readAnnotation(op);
  if (failed(read))
    return failure();
  const HloSharding &hlo = read->sharding;
  Value input = op->getOperand(0);
  if (input.getType() != op->getResult(0).getType())
    return shardonnay::pointAtOperand(
        op->emitError("custom call @Sharding turns ")
            << input.getType() << " into " << op->getResult(0).getType()
            << ", expected the same type",
        input);
  FailureOr<TensorShardingAttr> sharding =
      shardings.convert(hlo, input.getType(), op->getLoc(), read->openDims);
  if (failed(sharding))
    return failure();
  OpBuilder builder(op);
  if (hlo.groupKind != HloSharding::GroupKind::None)
    ShardingGroupOp::create(builder, op->getLoc(), input, hlo.group);
  // A scalar can't be sharded; a boundary took what was said for it.
  bool isScalar = cast<RankedTensorType>(input.getType()).getRank() == 0 &&
                  *sharding && sharding->isReplicated();
  bool wasBoundaries = op->use_empty() &&
                       hlo.groupKind == HloSharding::GroupKind::None &&
                       takenByBoundaries.contains(op);
  if (*sharding && !isScalar && !wasBoundaries)
    input =
        ShardingConstraintOp::create(builder, op->getLoc(), input, *sharding);
  op->replaceAllUsesWith(ValueRange(input));
  op->erase();
  return success();
}

struct ImportGspmdShardingsPass
    : ImporterPass<impl::ImportGspmdShardingsPassBase<ImportGspmdShardingsPass>,
                   Importer> {};

} // namespace
} // namespace shardonnay
