//===- Reduce.cpp - reductions over dims ----------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Reduce.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Reduce.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(checkInits(*this)) ||
      failed(checkCount(getLoc(), "results of the reduction", getNumResults(),
                        getInputs().size())))
    return failure();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(checkDims(getLoc(), "the reduction", getDimensions(),
                       first.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(first.getShape()))
    if (!llvm::is_contained(getDimensions(), dim))
      shape.push_back(size);

  for (auto [input, result] : llvm::zip(getInputs(), getResults())) {
    if (failed(checkShape(getLoc(), "an input of the reduction",
                          cast<ShapedType>(input.getType()).getShape(),
                          first.getShape())) ||
        failed(checkShape(getLoc(), "a result of the reduction",
                          cast<ShapedType>(result.getType()).getShape(),
                          shape)))
      return failure();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return checkCombiner(*this, getBody(), getInputs().getTypes(),
                       getInitValues().getTypes(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// Text: `stablehlo.reduce(%x init: %c) applies stablehlo.add across
// dimensions = [1] : types`, or the body after that as ` reducer(%a, %b) {..}`
//===----------------------------------------------------------------------===//

/// The op of a body that the short form can say: one commutative op of this
/// dialect on the arguments in their order, with nothing else to it.
static Operation *getAppliedOp(ReduceOp op) {
  Block &body = op.getBody().front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation &applied = body.front();
  bool isShort =
      isa<StablehloDialect>(applied.getDialect()) &&
      applied.hasTrait<OpTrait::IsCommutative>() &&
      applied.getAttrs().empty() &&
      llvm::equal(applied.getOperands(), body.getArguments()) &&
      llvm::equal(body.getTerminator()->getOperands(), applied.getResults()) &&
      body.getTerminator()->getAttrs().empty() &&
      getElementTypeOrSelf(body.getArgument(0)) ==
          getElementTypeOrSelf(op.getInputs().front());
  return isShort ? &applied : nullptr;
}

void ReduceOp::print(OpAsmPrinter &p) {
  Operation *applied = getAppliedOp(*this);
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), p,
                        [&](auto pair) {
                          auto [input, init] = pair;
                          p << '(' << input << " init: " << init << ')';
                        });
  if (applied)
    p << " applies " << applied->getName();
  p << " across dimensions = ";
  printDims(p, getDimensions());
  p.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
  p << " : ";
  p.printFunctionalType(*this);
  if (applied)
    return;

  p.printNewline();
  p << " reducer";
  unsigned count = getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    p << '(';
    p.printRegionArgument(getBody().getArgument(i));
    p << ", ";
    p.printRegionArgument(getBody().getArgument(i + count));
    p << ") ";
  }
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// `(%x init: %c), (%y init: %d)`: all inputs, then all initial values.
static ParseResult parseInputs(OpAsmParser &parser, Operands &operands) {
  Operands inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  operands.append(inits);
  return success();
}

/// The op that `applies` names.
static FailureOr<OperationName> parseAppliedOp(OpAsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<OperationName> name = parser.parseCustomOperationName();
  if (failed(name))
    return failure();
  if (name->getDialectNamespace() != StablehloDialect::getDialectNamespace() ||
      !name->hasTrait<OpTrait::IsCommutative>())
    return parser.emitError(loc, "expected a commutative op of stablehlo, got ")
           << *name << "; write the body as reducer(..) {..}";
  return name;
}

/// Fills `body` with `name` applied to two `scalar`s.
static void buildBody(OpAsmParser &parser, Region &body, OperationName name,
                      RankedTensorType scalar, Location loc) {
  Block &block = body.emplaceBlock();
  block.addArguments({scalar, scalar}, {loc, loc});
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&block);
  OperationState state(loc, name);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *combined = builder.create(state);
  ReturnOp::create(builder, loc, ValueRange(combined->getResults()));
}

/// `reducer(%a: t, %b: t) (%c: u, %d: u) {..}`
static ParseResult parseBody(OpAsmParser &parser, Region &body) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments, rights;
  while (succeeded(parser.parseOptionalLParen()))
    if (parser.parseArgument(arguments.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(rights.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  arguments.append(rights);
  return parser.parseRegion(body, arguments);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc operandLoc = parser.getCurrentLocation();
  Operands operands;
  std::optional<OperationName> applied;
  if (parseInputs(parser, operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parseAppliedOp(parser);
    if (failed(name))
      return failure();
    applied = *name;
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual())
    return failure();
  FailureOr<SmallVector<int64_t>> dims = parseDims(parser);
  FunctionType type;
  if (failed(dims) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandLoc,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().dimensions =
      parser.getBuilder().getDenseI64ArrayAttr(*dims);

  Region &body = *result.addRegion();
  SMLoc bodyLoc = parser.getCurrentLocation();
  if (!applied)
    return parseBody(parser, body);
  // The initial value has the type of what the body combines.
  auto scalar = type.getNumInputs() == 2
                    ? dyn_cast<RankedTensorType>(type.getInput(1))
                    : RankedTensorType();
  if (!scalar)
    return parser.emitError(bodyLoc, "expected the types of one input and its "
                                     "initial value with 'applies', got ")
           << type;
  MaybeLoc loc;
  if (parser.parseOptionalLocationSpecifier(loc))
    return failure();
  if (loc)
    result.location = *loc;
  buildBody(parser, body, *applied, scalar, result.location);
  return success();
}
