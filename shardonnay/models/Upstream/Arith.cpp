//===- Arith.cpp - element-wise ops of arith and math ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// On scalars too: those have no dims, and every device computes them.
struct ElementwiseHooks : NestHooks<ElementwiseHooks> {
  static LoopNest nest(Operation *op) { return elementwiseNest(op); }

  static bool isLinear(Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    if (kind != ReductionKind::Sum)
      return keepsOrder(op, kind == ReductionKind::Max, partial);
    if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp,
            arith::NegFOp, arith::ExtFOp>(op))
      return partial.all();
    if (isa<arith::MulFOp, arith::MulIOp>(op))
      return partial.count() == 1;
    return isa<arith::DivFOp>(op) && partial[0] && !partial[1];
  }

private:
  /// An op of the same kind may have partial operands beside whole ones, one of
  /// the other kind a single partial one. Others must make of larger numbers no
  /// smaller ones.
  static bool keepsOrder(Operation *op, bool isMax,
                         const llvm::SmallBitVector &partial) {
    bool maximum = isa<arith::MaximumFOp, arith::MaxSIOp>(op);
    bool minimum = isa<arith::MinimumFOp, arith::MinSIOp>(op);
    if (maximum || minimum)
      return maximum == isMax ? partial.any() : partial.count() == 1;
    return isa<arith::ExtFOp, arith::ExtSIOp, math::CeilOp, math::ExpOp,
               math::FloorOp, math::TanhOp>(op) &&
           partial.any();
  }
};
} // namespace

void shardonnay::upstream::attachElementwiseModels(MLIRContext &context,
                                                   StringRef dialect) {
  attachIf<ElementwiseHooks>(context, dialect, [](RegisteredOperationName op) {
    return op.hasTrait<OpTrait::Elementwise>();
  });
}

/// Sums of indices: numbers, which every device computes.
void shardonnay::upstream::attachAffineModels(MLIRContext &context) {
  attach<ElementwiseHooks, affine::AffineApplyOp, affine::AffineMaxOp,
         affine::AffineMinOp>(context);
}

void shardonnay::upstream::attachArithModels(MLIRContext &context) {
  attachElementwiseModels(context, "arith");
  attachConstantExpression<arith::AddFOp, arith::AddIOp, arith::SubFOp,
                           arith::SubIOp, arith::MulFOp, arith::MulIOp,
                           arith::DivFOp, arith::NegFOp, arith::ExtFOp,
                           arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
      context);
}
