//===- TosaElementwise.cpp - each element from its own index --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOSA repeats dims of size 1. Shifts, zero points and tables are tensors of
// their own, of which every element of the result needs all.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
struct TosaElementwiseHooks : NestHooks<TosaElementwiseHooks> {
  static LoopNest nest(Operation *op) { return elementwiseNest(op); }

  static bool isLinear(Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    if (kind != ReductionKind::Sum) {
      bool isMax = kind == ReductionKind::Max;
      if (isa<tosa::MaximumOp, tosa::MinimumOp>(op))
        return isa<tosa::MaximumOp>(op) == isMax ? partial.any()
                                                 : partial.count() == 1;
      return isa<tosa::CeilOp, tosa::ClampOp, tosa::ExpOp, tosa::FloorOp,
                 tosa::IdentityOp, tosa::SigmoidOp, tosa::TanhOp>(op) &&
             partial.any();
    }
    if (isa<tosa::AddOp, tosa::SubOp>(op))
      return partial.all();
    return isa<tosa::IdentityOp>(op);
  }
};

/// The first operand's elements, looked up in the second.
struct TableHooks : NestHooks<TableHooks> {
  static LoopNest nest(Operation *op) {
    LoopNest nest = elementwiseNest(op);
    AffineExpr zero = getAffineConstantExpr(0, op->getContext());
    nest.maps[1] = AffineMap::get(nest.loops.size(), 0, zero);
    return nest;
  }
};

/// A multiplier and a shift for all, or for each position of the last dim.
struct RescaleHooks : NestHooks<RescaleHooks> {
  static LoopNest nest(Operation *op) {
    LoopNest nest = elementwiseNest(op);
    unsigned rank = nest.loops.size();
    if (rank > 0 && cast<tosa::RescaleOp>(op).getPerChannel())
      nest.maps[1] = nest.maps[2] =
          AffineMap::get(rank, 0, getAffineDimExpr(rank - 1, op->getContext()));
    return nest;
  }
};
} // namespace

void shardonnay::upstream::attachTosaElementwiseModels(MLIRContext &context) {
  attachIf<TosaElementwiseHooks>(
      context, tosa::TosaDialect::getDialectNamespace(),
      [](RegisteredOperationName op) {
        return op.hasTrait<OpTrait::tosa::TosaElementwiseOperator>();
      });
  attach<TosaElementwiseHooks, tosa::MulOp, tosa::CastOp, tosa::IdentityOp>(
      context);
  attach<TableHooks, tosa::TableOp>(context);
  attach<RescaleHooks, tosa::RescaleOp>(context);
  attachConstantExpression<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::CastOp,
                           tosa::NegateOp>(context);
}
