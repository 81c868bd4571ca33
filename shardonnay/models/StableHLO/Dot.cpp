//===- Dot.cpp - contractions ---------------------------------------------===//
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

/// Result dims in their order (batching, free of lhs, free of rhs), then the
/// contracting pairs.
static std::optional<FactorRule> dotGeneralRule(DotGeneralOp op) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  int64_t lhsRank = lhs.size(), rhsRank = rhs.size();
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  FactorRuleBuilder builder(
      {lhsRank, rhsRank},
      {static_cast<int64_t>(shapeOf(op.getResult()).size())});

  int64_t next = 0;
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsBatchingDimensions(),
                                     numbers.getRhsBatchingDimensions()))
    builder.add(lhs[l], {l, r}, {next++});
  for (int64_t l = 0; l < lhsRank; ++l)
    if (!llvm::is_contained(numbers.getLhsBatchingDimensions(), l) &&
        !llvm::is_contained(numbers.getLhsContractingDimensions(), l))
      builder.add(lhs[l], {l, -1}, {next++});
  for (int64_t r = 0; r < rhsRank; ++r)
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), r) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), r))
      builder.add(rhs[r], {-1, r}, {next++});
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsContractingDimensions(),
                                     numbers.getRhsContractingDimensions()))
    builder.add(lhs[l], {l, r}, {-1}, FactorKind::Reduction);
  return builder.build();
}

static std::optional<FactorRule> dotRule(DotOp op) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  int64_t lhsRank = lhs.size(), rhsRank = rhs.size();
  FactorRuleBuilder builder({lhsRank, rhsRank}, {lhsRank + rhsRank - 2});
  if (lhsRank == 2)
    builder.add(lhs[0], {0, -1}, {0});
  if (rhsRank == 2)
    builder.add(rhs[1], {-1, 1}, {lhsRank - 1});
  builder.add(rhs[0], {lhsRank - 1, 0}, {-1}, FactorKind::Reduction);
  return builder.build();
}

void shardonnay::attachDotModels(MLIRContext &context) {
  attachContraction<DotGeneralOp, dotGeneralRule>(context);
  attachContraction<DotOp, dotRule>(context);
  attachClone<DotOp>(context);
  attachClone<DotGeneralOp>(context);
}
