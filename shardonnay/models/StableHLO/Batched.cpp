//===- Batched.cpp - rows and matrices, whole -----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// All rows apart; a row is sorted whole. Nothing else to shard: no use in
/// bringing the axes of one tensor to the others.
static std::optional<FactorRule> sortRule(SortOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  int64_t rank = shape.size(), sorted = op.getSortDim();
  size_t count = op.getNumOperands();
  SmallVector<int64_t> ranks(count, rank);
  bool isOneRow = llvm::all_of(llvm::seq(rank), [&](int64_t dim) {
    return dim == sorted || shape[dim] == 1;
  });
  FactorRuleBuilder builder(ranks, ranks);
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<int64_t> dims(count, dim);
    if (dim == sorted)
      builder.add(shape[dim], dims, dims, FactorKind::NeedReplication,
                  ReductionKind::Sum, /*blocked=*/isOneRow);
    else
      builder.add(shape[dim], dims, dims);
  }
  return builder.build();
}

/// The last dims are transformed whole. Where half of a spectrum stands for
/// all, the last sizes differ.
static std::optional<FactorRule> fftRule(FftOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  int64_t first = rank - static_cast<int64_t>(op.getFftLength().size());
  bool isHalved = shape.back() != shapeOf(op.getResult()).back();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim}, {dim},
                dim < first ? FactorKind::PassThrough
                            : FactorKind::NeedReplication,
                ReductionKind::Sum,
                /*blocked=*/isHalved && dim == rank - 1);
  return builder.build();
}

static std::optional<FactorRule> choleskyRule(CholeskyOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getA());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim}, {dim},
                dim < rank - 2 ? FactorKind::PassThrough
                               : FactorKind::NeedReplication);
  return builder.build();
}

/// The matrices are a * x = b, with a of [n, m], b of [n, c], x of [m, c]; from
/// the right, x * a = b with b of [r, m], a of [n, m], x of [r, n]. A
/// transposed operand has the dims of `a` the other way round. Columns of b,
/// from the right its rows, are solved each by itself.
static std::optional<FactorRule> triangularSolveRule(TriangularSolveOp op) {
  ArrayRef<int64_t> b = shapeOf(op.getB());
  int64_t rank = b.size(), row = rank - 2, column = rank - 1;
  constexpr auto kWhole = FactorKind::NeedReplication;
  int64_t n = row, m = column;
  if (op.getTransposeA() != Transpose::NO_TRANSPOSE)
    std::swap(n, m);
  FactorRuleBuilder builder({rank, rank}, {rank});
  for (int64_t dim = 0; dim < row; ++dim)
    builder.add(b[dim], {dim, dim}, {dim});
  if (op.getLeftSide()) {
    builder.add(b[row], {n, row}, {-1}, kWhole);
    builder.add(b[column], {-1, column}, {column});
    builder.add(b[row], {m, -1}, {row}, kWhole);
  } else {
    builder.add(b[row], {-1, row}, {row});
    builder.add(b[column], {m, column}, {-1}, kWhole);
    builder.add(b[column], {n, -1}, {column}, kWhole);
  }
  return builder.build();
}

void shardonnay::attachBatchedModels(MLIRContext &context) {
  attachRule<SortOp, sortRule>(context);
  attachRule<FftOp, fftRule>(context);
  attachRule<CholeskyOp, choleskyRule>(context);
  attachRule<TriangularSolveOp, triangularSolveRule>(context);

  attachClone<SortOp>(context);
  attachClone<FftOp>(context);
  attachClone<CholeskyOp>(context);
  attachClone<TriangularSolveOp>(context);
}
