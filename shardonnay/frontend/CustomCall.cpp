//===- CustomCall.cpp - custom calls and tuples, by their names -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/CustomCall.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace shardonnay {

static constexpr llvm::StringLiteral kCustomCall("stablehlo.custom_call");
static constexpr llvm::StringLiteral kTarget("call_target_name");

llvm::StringRef customCallTarget(Operation *op) {
  if (op->getName().getStringRef() != kCustomCall)
    return "";
  auto target = op->getAttrOfType<StringAttr>(kTarget);
  return target ? target.getValue() : "";
}

Operation *createCustomCall(OpBuilder &builder, Location loc,
                            llvm::StringRef target, TypeRange resultTypes,
                            ValueRange operands,
                            const NamedAttrList &attributes) {
  OperationState state(loc, kCustomCall);
  state.addOperands(operands);
  state.addTypes(resultTypes);
  state.addAttributes(attributes.getAttrs());
  state.addAttribute(kTarget, builder.getStringAttr(target));
  return builder.create(state);
}

FailureOr<UnrealizedConversionCastOp> replaceByCast(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  bool isTuple = types.size() == 1 && isa<TupleType>(types.front());
  if (isTuple) {
    auto elements = cast<TupleType>(types.front()).getTypes();
    types.assign(elements.begin(), elements.end());
  }
  auto cast = UnrealizedConversionCastOp::create(builder, op->getLoc(), types,
                                                 op->getOperands());
  if (!isTuple) {
    op->replaceAllUsesWith(cast);
    op->erase();
    return cast;
  }
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto index = user->getAttrOfType<IntegerAttr>("index");
    if (user->getName().getStringRef() != "stablehlo.get_tuple_element" ||
        !index || index.getValue().uge(types.size())) {
      InFlightDiagnostic diag = user->emitError(
          "this use of a tuple is not supported, expected its elements to be "
          "read one by one by get_tuple_element");
      diag.attachNote(op->getLoc()) << "the tuple";
      return diag;
    }
    user->replaceAllUsesWith(
        ValueRange(cast->getResult(index.getValue().getZExtValue())));
    user->erase();
  }
  op->erase();
  return cast;
}

} // namespace shardonnay
