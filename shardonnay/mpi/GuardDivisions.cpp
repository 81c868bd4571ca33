//===- GuardDivisions.cpp - padding divided by padding --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A processor ends a program that divides an integer by zero. Padding may hold
// zeros where the tensor has none, so those are divided by one.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/mpi/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_GUARDDIVISIONSPASS
#include "shardonnay/mpi/Passes.h.inc"

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp,
             tosa::IntDivOp>(op);
}

/// A constant of `type`: `number` in every element.
static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          int64_t number) {
  TypedAttr value = builder.getIntegerAttr(getElementTypeOrSelf(type), number);
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

static void guard(Operation *op) {
  Value divisor = op->getOperand(1);
  Attribute constant;
  if (matchPattern(divisor, m_Constant(&constant)))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value isZero =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor,
                            makeConstant(builder, loc, divisor.getType(), 0));
  op->setOperand(1, arith::SelectOp::create(
                        builder, loc, isZero,
                        makeConstant(builder, loc, divisor.getType(), 1),
                        divisor));
}

namespace {
struct GuardDivisionsPass : impl::GuardDivisionsPassBase<GuardDivisionsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isDivision(op))
        guard(op);
    });
  }
};
} // namespace

} // namespace shardonnay
