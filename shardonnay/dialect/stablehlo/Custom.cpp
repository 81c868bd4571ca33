//===- Custom.cpp - ops that others define --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addCustomOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Custom.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Custom.cpp.inc"

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

void CustomCallOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

/// That each tensor has a permutation of its dims for a layout, and other
/// values an empty one. The types of one tuple count as the values.
static LogicalResult checkLayouts(Operation *op, StringRef what,
                                  ArrayAttr layouts, TypeRange types) {
  if (types.size() == 1)
    if (auto tuple = dyn_cast<TupleType>(types.front()))
      types = tuple.getTypes();
  if (layouts.size() != types.size())
    return op->emitOpError("has ")
           << layouts.size() << " layouts for " << types.size() << " " << what;
  for (auto [attr, type] : llvm::zip(layouts, types)) {
    auto layout = cast<DenseIntElementsAttr>(attr);
    auto tensor = dyn_cast<TensorType>(type);
    if (tensor && !tensor.hasRank())
      continue;
    SmallVector<int64_t> dims =
        llvm::map_to_vector(layout.getValues<APInt>(), [](const APInt &dim) {
          return dim.getSExtValue();
        });
    llvm::sort(dims);
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (!llvm::equal(dims, llvm::seq<int64_t>(0, rank)))
      return op->emitOpError("has layout ")
             << layout << " for " << type << ", expected a permutation of its "
             << rank << " dims";
  }
  return success();
}

/// The type at `indices` of nested tuples; null if there is none.
static Type getPart(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
      return {};
    type = tuple.getType(index);
  }
  return type;
}

static LogicalResult checkAlias(CustomCallOp op, OutputOperandAliasAttr alias) {
  // Several results are a tuple here.
  Type results = op.getNumResults() == 1
                     ? op.getResultTypes().front()
                     : TupleType::get(op.getContext(), op.getResultTypes());
  int64_t index = alias.getOperandIndex();
  if (index < 0 || index >= op.getNumOperands())
    return op.emitOpError("aliases operand ")
           << index << ", but has " << op.getNumOperands() << " operands";
  Type operand =
      getPart(op.getOperand(index).getType(), alias.getOperandTupleIndices());
  Type result = getPart(results, alias.getOutputTupleIndices());
  if (!operand || !result)
    return shardonnay::pointAtOperand(
        op.emitOpError("has ")
            << alias << ", which names no part of "
            << (operand ? results : op.getOperand(index).getType()),
        op.getOperand(index));
  if (operand == result)
    return success();
  return shardonnay::pointAtOperand(op.emitOpError("aliases ")
                                        << operand << " and " << result
                                        << ", expected one type",
                                    op.getOperand(index));
}

/// That each buffer among the results is that of one operand, but where one
/// is made.
static LogicalResult checkBuffers(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (target == "CreateBuffer") {
    if (op.getNumOperands() != 0)
      return op.emitOpError("expected no operands to create a buffer, got ")
             << op.getNumOperands();
    return success();
  }
  if (target == "Pin" || target == "Unpin")
    return success();
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    if (!isa<MemRefType>(type))
      continue;
    int64_t aliases = llvm::count_if(
        op.getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>(),
        [&, i = i](OutputOperandAliasAttr alias) {
          ArrayRef<int64_t> indices = alias.getOutputTupleIndices();
          return op.getNumResults() == 1
                     ? indices.empty()
                     : indices.size() == 1 &&
                           indices[0] == static_cast<int64_t>(i);
        });
    if (aliases != 1)
      return op.emitOpError("has ")
             << aliases << " entries in output_operand_aliases for result #"
             << i << ", a buffer, expected one";
  }
  return success();
}

LogicalResult CustomCallOp::verify() {
  if (getCallTargetName().empty())
    return emitOpError("expected a call_target_name, got none");
  bool isTypedFfi = getApiVersion() == 4;
  if (std::optional<Attribute> config = getBackendConfig())
    if (isTypedFfi != isa<DictionaryAttr>(*config))
      return emitOpError("has backend_config ")
             << *config << ", expected a "
             << (isTypedFfi ? "dictionary" : "string") << " with api_version "
             << getApiVersion();
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError("expected layouts of operands and results, or none, got "
                       "only those of ")
           << (getOperandLayouts() ? "operands" : "results");
  if (getOperandLayouts() &&
      (failed(checkLayouts(*this, "operands", *getOperandLayouts(),
                           getOperandTypes())) ||
       failed(checkLayouts(*this, "results", *getResultLayouts(),
                           getResultTypes()))))
    return failure();
  for (auto alias :
       getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>())
    if (failed(checkAlias(*this, alias)))
      return failure();
  return checkBuffers(*this);
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// `namespace.name`, where more names may follow.
static bool isCompositeName(StringRef name) {
  auto [space, rest] = name.split('.');
  auto isIn = [](StringRef text, StringRef more) {
    return !text.empty() && llvm::all_of(text, [&](char c) {
      return llvm::isAlnum(c) || more.contains(c);
    });
  };
  if (!isIn(space, "_") || !llvm::isAlpha(space.front()))
    return false;
  SmallVector<StringRef> names;
  rest.split(names, '.');
  return llvm::all_of(names, [&](StringRef part) { return isIn(part, "_$"); });
}

LogicalResult CompositeOp::verify() {
  if (isCompositeName(getName()))
    return success();
  return emitOpError("has name \"")
         << getName() << "\", expected one such as \"my_namespace.my_op\"";
}

LogicalResult
CompositeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(
      symbolTable.lookupNearestSymbolFrom(*this, getDecompositionAttr()));
  if (!function)
    return emitOpError("expected a function as decomposition, got ")
           << getDecompositionAttr();
  if (TypeRange(function.getArgumentTypes()) == getOperandTypes() &&
      TypeRange(function.getResultTypes()) == getResultTypes())
    return success();
  InFlightDiagnostic diag =
      emitOpError("has type ")
      << FunctionType::get(getContext(), getOperandTypes(), getResultTypes())
      << ", expected that of its decomposition " << function.getFunctionType();
  diag.attachNote(function->getLoc()) << "decomposition defined here";
  return diag;
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context, MaybeLoc,
                                        Adaptor adaptor, Types &types) {
  types.push_back(TupleType::get(context, adaptor.getVal().getTypes()));
  return success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(MLIRContext *,
                                                  MaybeLoc location,
                                                  Adaptor adaptor,
                                                  Types &types) {
  auto tuple = dyn_cast<TupleType>(adaptor.getOperand().getType());
  int64_t index = adaptor.getIndex();
  if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
    return emitOptionalError(location, "element ", index,
                             " is not in the tuple, expected 0 <= index < ",
                             tuple ? tuple.size() : 0);
  types.push_back(tuple.getType(index));
  return success();
}

/// A call that returns a tuple, of which only elements are used, returns the
/// elements: HLO knows tuples only.
static LogicalResult splitTuple(CustomCallOp call, PatternRewriter &rewriter) {
  auto isElement = [](Operation *user) { return isa<GetTupleElementOp>(user); };
  if (call.getNumResults() != 1 || !llvm::all_of(call->getUsers(), isElement))
    return failure();
  auto tuple = cast<TupleType>(call->getResult(0).getType());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(call);
  auto split = CustomCallOp::create(rewriter, call.getLoc(), tuple.getTypes(),
                                    call->getOperands(), call->getAttrs());
  for (Operation *user : llvm::make_early_inc_range(call->getUsers()))
    rewriter.replaceOp(
        user, split->getResult(cast<GetTupleElementOp>(user).getIndex()));
  rewriter.eraseOp(call);
  return success();
}

LogicalResult GetTupleElementOp::canonicalize(GetTupleElementOp op,
                                              PatternRewriter &rewriter) {
  Operation *def = op.getOperand().getDefiningOp();
  if (auto call = dyn_cast_or_null<CustomCallOp>(def))
    return splitTuple(call, rewriter);
  auto tuple = dyn_cast_or_null<TupleOp>(def);
  if (!tuple)
    return failure();
  rewriter.replaceOp(op, tuple.getVal()[op.getIndex()]);
  return success();
}
