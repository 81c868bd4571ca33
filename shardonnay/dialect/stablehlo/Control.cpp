//===- Control.cpp - regions that may run or not --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addControlOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Control.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Control.cpp.inc"

LogicalResult OptimizationBarrierOp::verify() {
  if (getOperandTypes() == getResultTypes())
    return success();
  return emitOpError("expected results of the operands' types ")
         << getOperandTypes() << ", got " << getResultTypes();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static LogicalResult checkTypes(Operation *op, Location location,
                                StringRef what, TypeRange found,
                                TypeRange expected) {
  if (found.size() == expected.size() && areCompatible(found, expected))
    return success();
  InFlightDiagnostic diag = emitError(location)
                            << what << " of '" << op->getName() << "' ";
  if (found.empty())
    diag << "has no values";
  else
    diag << "has values of types " << found;
  diag << ", expected ";
  if (expected.empty())
    diag << "none";
  else
    diag << expected;
  return shardonnay::pointAt(std::move(diag), op->getLoc(), "the op is here");
}

/// That `region` takes values of types `arguments` and ends with `results`.
static LogicalResult checkRegion(Operation *op, Region &region, StringRef what,
                                 TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  Operation *end = block.getTerminator();
  return success(
      succeeded(checkTypes(op, op->getLoc(), ("the start of " + what).str(),
                           block.getArgumentTypes(), arguments)) &&
      succeeded(checkTypes(op, end->getLoc(), ("the end of " + what).str(),
                           end->getOperandTypes(), results)));
}

LogicalResult WhileOp::verify() {
  return checkTypes(*this, getLoc(), "the result list", getResultTypes(),
                    getOperandTypes());
}

LogicalResult WhileOp::verifyRegions() {
  auto pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(checkRegion(*this, getCond(), "the condition", getOperandTypes(),
                         Type(pred))))
    return failure();
  return checkRegion(*this, getBody(), "the body", getOperandTypes(),
                     getOperandTypes());
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("expected at least one branch");
  return success();
}

/// Sizes that the result does not know may still differ between branches.
static LogicalResult checkBranches(Operation *op) {
  TypeRange first = op->getRegion(0).front().getTerminator()->getOperandTypes();
  for (Region &branch : op->getRegions())
    if (failed(checkRegion(op, branch, "a branch", {}, op->getResultTypes())) ||
        failed(checkRegion(op, branch, "a branch", {}, first)))
      return failure();
  return success();
}

LogicalResult CaseOp::verifyRegions() { return checkBranches(*this); }

LogicalResult IfOp::verifyRegions() { return checkBranches(*this); }

/// A branch that always runs stands in place of the op: what the others would
/// send is no part of the program.
static LogicalResult inlineBranch(Operation *op, Region &branch,
                                  PatternRewriter &rewriter) {
  Block &block = branch.front();
  Operation *end = block.getTerminator();
  if (end->getOperandTypes() != op->getResultTypes() ||
      !op->getDiscardableAttrs().empty())
    return failure();
  SmallVector<Value> results(end->getOperands());
  rewriter.eraseOp(end);
  rewriter.inlineBlockBefore(&block, op);
  rewriter.replaceOp(op, results);
  return success();
}

LogicalResult CaseOp::canonicalize(CaseOp op, PatternRewriter &rewriter) {
  APInt index;
  if (!matchPattern(op.getIndex(), m_ConstantInt(&index)))
    return failure();
  uint64_t last = op.getBranches().size() - 1;
  uint64_t taken = index.isNegative() ? last : index.getLimitedValue(last);
  return inlineBranch(op, op.getBranches()[taken], rewriter);
}

LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  APInt pred;
  if (!matchPattern(op.getPred(), m_ConstantInt(&pred)))
    return failure();
  return inlineBranch(
      op, pred.isZero() ? op.getFalseBranch() : op.getTrueBranch(), rewriter);
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  RankedTensorType result = getResult().getType();
  for (Value input : getInputs())
    if (failed(checkShape(getLoc(), "an input of the map",
                          cast<ShapedType>(input.getType()).getShape(),
                          result.getShape())))
      return failure();
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(0, result.getRank())))
    return emitOpError("has dimensions [")
           << getDimensions() << "], expected all dims in order: a map has as "
           << "many as its result, " << result.getRank();
  return success();
}

LogicalResult MapOp::verifyRegions() {
  auto scalarOf = [](Type type) -> Type {
    return RankedTensorType::get({}, getElementTypeOrSelf(type));
  };
  return checkRegion(*this, getComputation(), "the computation",
                     llvm::map_to_vector(getInputs().getTypes(), scalarOf),
                     scalarOf(getResult().getType()));
}

//===----------------------------------------------------------------------===//
// Text of `while`
//===----------------------------------------------------------------------===//

void WhileOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void WhileOp::print(OpAsmPrinter &p) {
  p << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()), p,
                        [&](auto pair) {
                          auto [argument, initial] = pair;
                          p << Value(argument) << " = " << initial;
                        });
  p << ')';
  if (getNumOperands() != 0) {
    p << " : ";
    printPairedTypes(p, *this, getOperandTypes(), getResultTypes());
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p.printNewline();
  p << "cond ";
  p.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  p << " do ";
  // One name for what `cond` and `body` both take.
  p.shadowRegionArgs(getBody(), getCond().getArguments());
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc operandLoc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return failure(parser.parseArgument(arguments.emplace_back()) ||
                       parser.parseEqual() ||
                       parser.parseOperand(operands.emplace_back()));
      }))
    return failure();
  SmallVector<Type> operandTypes, resultTypes;
  if (!operands.empty() &&
      (parser.parseColon() ||
       parsePairedTypes(parser, operandTypes, resultTypes)))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, operandTypes, operandLoc,
                             result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, operandTypes))
    argument.type = type;
  result.addTypes(resultTypes);
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}
