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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

/// What divides, and is to be exchanged: of a named op of linalg, whose body is
/// never written, the operand.
static OpOperand &divisorOf(Operation *op) {
  OpOperand &divisor = op->getOpOperand(1);
  auto element = dyn_cast<BlockArgument>(divisor.get());
  auto named = dyn_cast<linalg::LinalgOp>(op->getParentOp());
  if (!element || !named || element.getOwner() != named.getBlock() ||
      isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(
          op->getParentOp()))
    return divisor;
  return *named.getMatchingOpOperand(element);
}

static void guard(Operation *op) {
  OpOperand &use = divisorOf(op);
  Value divisor = use.get();
  Attribute constant;
  if (matchPattern(divisor, m_Constant(&constant)))
    return;
  OpBuilder builder(use.getOwner());
  Location loc = op->getLoc();
  Type type = divisor.getType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       divisor, zero);
  Value one = arith::ConstantOp::create(builder, loc, builder.getOneAttr(type));
  use.set(arith::SelectOp::create(builder, loc, isZero, one, divisor));
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
