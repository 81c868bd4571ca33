//===- Ops.cpp - syntax and verifiers of the sdy operations ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::sdy;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// A per-value attribute without its angle brackets: `[<@mesh, [{"x"}]>]`.
static ParseResult parseShardingList(OpAsmParser &parser,
                                     TensorShardingPerValueAttr &attr) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseCustomAttributeWithFallback(
            shardings.emplace_back());
      }))
    return failure();
  attr = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

static void printShardingList(OpAsmPrinter &printer, Operation *,
                              TensorShardingPerValueAttr attr) {
  printer << '[';
  llvm::interleaveComma(attr.getShardings(), printer,
                        [&](TensorShardingAttr sharding) {
                          printer.printStrippedAttrOrType(sharding);
                        });
  printer << ']';
}

/// `(%arg0: type, ...) { ... }`.
static ParseResult parseComputationBody(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(body, arguments))
    return failure();
  ManualComputationOp::ensureTerminator(body, parser.getBuilder(),
                                        UnknownLoc::get(parser.getContext()));
  return success();
}

static void printComputationBody(OpAsmPrinter &printer, Operation *,
                                 Region &body) {
  printer << '(';
  llvm::interleaveComma(
      body.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/sdy/Ops.cpp.inc"

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// What is unreduced in `op`'s result is of its operand's kind.
static LogicalResult verifyKind(Operation *op, TensorShardingAttr out) {
  TensorShardingAttr in = getSharding(op->getOperand(0));
  if (!in || getMesh(op, in) != getMesh(op, out) || !changesKind(in, out))
    return success();
  // C88
  return shardonnay::pointAtOperand(
      op->emitOpError("expected unreduced axes of the operand's kind, ")
          << shardonnay::toString(in.getReductionKind()) << ", got "
          << shardonnay::toString(out.getReductionKind())
          << "; reduce them first, by a sharding without unreduced axes",
      op->getOperand(0));
}

LogicalResult ShardingConstraintOp::verify() {
  if (failed(verifySharding(getSharding(), getType(), *this,
                            [&] { return emitOpError(); })))
    return failure();
  return verifyKind(*this, getSharding());
}

LogicalResult ReshardOp::verify() {
  if (failed(verifySharding(getSharding(), getType(), *this,
                            [&] { return emitOpError(); })))
    return failure();
  return verifyKind(*this, getSharding());
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH) // C35
    return emitOpError("with direction BOTH stops nothing, expected NONE, "
                       "FORWARD or BACKWARD");
  return success();
}

/// `operand` is of static shape and used by the edge `op` alone.
static LogicalResult verifyEdgeOperand(Operation *op, Value operand) {
  if (!cast<RankedTensorType>(operand.getType()).hasStaticShape()) // C36
    return shardonnay::pointAtOperand(
        op->emitOpError("expected a tensor of static shape, got ")
            << operand.getType(),
        operand);
  for (OpOperand &use : operand.getUses())
    if (use.getOwner() != op) // C37
      return shardonnay::pointAt(
          op->emitOpError("expected to be the only use of its operand: let "
                          "other uses have the result"),
          use.getOwner()->getLoc(), "also used here");
  return success();
}

LogicalResult DataFlowEdgeOp::verify() {
  if (failed(verifyEdgeOperand(*this, getInput())))
    return failure();
  Operation *source = getInput().getDefiningOp();
  if (source && isa_and_present<SdyDialect>(source->getDialect()) &&
      !isa<ManualComputationOp, NamedComputationOp>(source)) // C38
    return shardonnay::pointAt(
        emitOpError("expected an operand that an operation which passes values "
                    "on owns, got a result of '")
            << source->getName() << "'",
        source->getLoc(), "defined here");
  return getSharding() ? verifySharding(*getSharding(), getType(), *this,
                                        [&] { return emitOpError(); })
                       : success();
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (failed(verifyEdgeOperand(*this, getOperand())))
    return failure();
  if (Operation *source = getOperand().getDefiningOp()) {
    if (isa<func::CallOp>(source)) // C39
      return success();
    return shardonnay::pointAt(
        emitOpError("expected an argument of a function or a result of a call, "
                    "got one of '")
            << source->getName() << "'",
        source->getLoc(), "defined here");
  }
  Operation *owner = getOperand().getParentBlock()->getParentOp();
  if (isa<func::FuncOp>(owner)) // C39
    return success();
  return shardonnay::pointAt(
      emitOpError("expected an argument of a function or a result of a call, "
                  "got a block argument of '")
          << owner->getName() << "'",
      owner->getLoc(), "defined here");
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

/// `op` has as many `what` as expected.
static LogicalResult verifyCount(Operation *op, StringRef what,
                                 ValueRange found, size_t expected) {
  if (found.size() == expected) // C26
    return success();
  return op->emitOpError() << "expected " << expected << " " << what << ", got "
                           << found.size();
}

/// `found`, which are in the body, have the types `expected`.
static LogicalResult verifyTypes(Operation *op, StringRef what,
                                 ValueRange found, TypeRange expected) {
  if (failed(verifyCount(op, what, found, expected.size())))
    return failure();
  for (auto [index, value, want] : llvm::enumerate(found, expected))
    if (value.getType() != want) // C34
      return shardonnay::pointAt(op->emitOpError()
                                     << what << ": expected type " << want
                                     << " at number " << index << ", got "
                                     << value.getType(),
                                 value.getLoc(), "the value is made here");
  return success();
}

LogicalResult NamedComputationOp::verify() {
  if (failed(verifyTypes(*this, "body arguments", getBody().getArguments(),
                         getOperandTypes())))
    return failure();
  if (getInShardings() &&
      failed(verifyShardings(*getInShardings(), getOperandTypes(), *this,
                             "operand")))
    return failure();
  if (getOutShardings() &&
      failed(verifyShardings(*getOutShardings(), getResultTypes(), *this,
                             "result")))
    return failure();
  return success();
}

LogicalResult NamedComputationOp::verifyRegions() {
  return verifyTypes(*this, "returned values",
                     getBody().front().getTerminator()->getOperands(),
                     getResultTypes());
}

/// The mesh of all shardings that is not empty; null if there is none, or if
/// what is manual along no axis has several.
static FailureOr<MeshAttr> findCommonMesh(ManualComputationOp op) {
  MeshAttr common;
  if (op.getManualAxes().getValue().empty())
    return common;
  for (TensorShardingPerValueAttr list :
       {op.getInShardings(), op.getOutShardings()})
    for (TensorShardingAttr sharding : list.getShardings()) {
      MeshAttr mesh = getMesh(op, sharding);
      if (!mesh || mesh.isEmpty())
        continue;
      if (common && common != mesh) // C30
        return op.emitOpError("expected all shardings to have one mesh, got ")
               << common << " and " << mesh;
      common = mesh;
    }
  return common;
}

/// `local` is the type that one device holds of `global` along the manual axes.
static LogicalResult verifyLocalType(ManualComputationOp op, StringRef what,
                                     size_t number, Type global, Value local,
                                     TensorShardingAttr sharding,
                                     MeshAttr mesh) {
  auto type = dyn_cast<RankedTensorType>(global);
  if (!type)
    return success();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDimShardings())) {
    int64_t shards = 1;
    AxisRefAttr free;
    for (AxisRefAttr axis : dimSharding.getAxes()) {
      if (!llvm::is_contained(
              op.getManualAxes().getValue(),
              StringAttr::get(op.getContext(), axis.getName()))) {
        free = axis;
        continue;
      }
      if (free) // C31
        return op.emitOpError()
               << what << " " << number << ", dim " << dim << ": manual axis "
               << axis.toString() << " stands behind axis " << free.toString()
               << ", which is not manual: manual axes come first";
      shards *= toAxisRef(axis, mesh).size;
    }
    if (ShapedType::isDynamic(shape[dim]))
      continue;
    if (shape[dim] % shards != 0) // C32
      return shardonnay::pointAt(
          op.emitOpError() << what << " " << number << ", dim " << dim
                           << ": expected a size that the " << shards
                           << " shards of the manual axes divide, got "
                           << shape[dim],
          local.getLoc(), "the value is made here");
    shape[dim] /= shards;
  }
  if (Type expected = type.clone(shape); local.getType() != expected) // C33
    return shardonnay::pointAt(
        op.emitOpError() << what << " " << number << ": expected the type "
                         << expected << " in the body, got " << local.getType(),
        local.getLoc(), "the value is made here");
  return success();
}

/// Every manual axis exists, once, and is not manual around `op` already.
static LogicalResult verifyManualAxes(ManualComputationOp op, MeshAttr mesh) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : op.getManualAxes().getValue()) {
    if (!mesh || mesh.getAxisIndex(name.getValue()) < 0) // C27
      return op.emitOpError() << "unknown manual axis " << name
                              << ", expected one of the mesh of the shardings";
    if (!seen.insert(name).second) // C28
      return op.emitOpError() << "manual axis " << name << " occurs twice";
    for (auto outer = op->getParentOfType<ManualComputationOp>(); outer;
         outer = outer->getParentOfType<ManualComputationOp>())
      if (llvm::is_contained(outer.getManualAxes().getValue(), name)) // C29
        return shardonnay::pointAt(
            op.emitOpError()
                << "axis " << name << " is manual already: leave it out here",
            outer.getLoc(), "made manual here");
  }
  return success();
}

/// The types in the body, of arguments or of returned values, are those of the
/// operands or results on one device.
static LogicalResult verifyLocalTypes(ManualComputationOp op, StringRef what,
                                      TypeRange globals, ValueRange locals,
                                      TensorShardingPerValueAttr shardings,
                                      MeshAttr mesh) {
  for (auto [index, global, local, sharding] :
       llvm::enumerate(globals, locals, shardings.getShardings()))
    if (failed(verifyLocalType(op, what, index, global, local, sharding, mesh)))
      return failure();
  return success();
}

LogicalResult ManualComputationOp::verify() {
  ValueRange arguments = getBody().getArguments();
  if (failed(verifyShardings(getInShardings(), getOperandTypes(), *this,
                             "operand")) ||
      failed(verifyShardings(getOutShardings(), getResultTypes(), *this,
                             "result")) ||
      failed(verifyCount(*this, "body arguments", arguments, getNumOperands())))
    return failure();
  FailureOr<MeshAttr> mesh = findCommonMesh(*this);
  if (failed(mesh))
    return failure();
  // Without any sharding the axes' mesh is not known, and they shard nothing.
  if (getNumOperands() + getNumResults() > 0 &&
      failed(verifyManualAxes(*this, *mesh)))
    return failure();
  return verifyLocalTypes(*this, "operand", getOperandTypes(), arguments,
                          getInShardings(), *mesh);
}

LogicalResult ManualComputationOp::verifyRegions() {
  ValueRange returned = getBody().front().getTerminator()->getOperands();
  if (failed(verifyCount(*this, "returned values", returned, getNumResults())))
    return failure();
  return verifyLocalTypes(*this, "result", getResultTypes(), returned,
                          getOutShardings(), *findCommonMesh(*this));
}
