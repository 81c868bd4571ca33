//===- Structured.cpp - selections and contractions of CHLO ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/SameShape.h"

using namespace mlir;
using namespace mlir::chlo;
using namespace shardonnay;

static std::optional<FactorRule> topKRule(TopKOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank}, {rank, rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim}, {dim, dim},
                dim + 1 == rank ? FactorKind::NeedReplication
                                : FactorKind::PassThrough);
  return builder.build();
}

namespace {
/// The factors of a ragged_dot, by the roles of the dims.
class RaggedDotRule {
public:
  explicit RaggedDotRule(RaggedDotOp op)
      : numbers(op.getRaggedDotDimensionNumbers()), lhs(shapeOf(op.getLhs())),
        rhs(shapeOf(op.getRhs())), groups(shapeOf(op.getGroupSizes())),
        builder({rank(lhs), rank(rhs), rank(groups)},
                {rank(shapeOf(op.getResult()))}),
        ragged(numbers.getLhsRaggedDimensions()[0]) {}

  FactorRule build();

private:
  static int64_t rank(ArrayRef<int64_t> shape) { return shape.size(); }
  /// Where group_sizes has dim `l` of lhs; -1 if it has groups for all of it.
  int64_t dimOfGroups(int64_t l) const {
    const auto *at = llvm::find(outer, l);
    return rank(groups) == 1 || at == outer.end() ? -1 : at - outer.begin();
  }
  bool has(ArrayRef<int64_t> dims, int64_t dim) const {
    return llvm::is_contained(dims, dim);
  }
  void findOuterDims();
  void addFree(int64_t &next);

  RaggedDotDimensionNumbersAttr numbers;
  ArrayRef<int64_t> lhs, rhs, groups;
  FactorRuleBuilder builder;
  int64_t ragged;
  /// Dims of lhs that group_sizes has before the groups, if it has more.
  SmallVector<int64_t> outer;
};
} // namespace

void RaggedDotRule::findOuterDims() {
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getLhsContractingDimensions();
  SmallVector<int64_t> role(batching);
  if (!has(batching, ragged)) {
    outer = role;
    role.assign(contracting.begin(), contracting.end());
  }
  if (!has(batching, ragged) && !has(contracting, ragged)) {
    role.clear();
    for (int64_t dim = 0; dim < rank(lhs); ++dim)
      if (!has(batching, dim) && !has(contracting, dim))
        role.push_back(dim);
  }
  outer.append(role.begin(), llvm::find(role, ragged));
}

void RaggedDotRule::addFree(int64_t &next) {
  for (int64_t l = 0; l < rank(lhs); ++l)
    if (!has(numbers.getLhsBatchingDimensions(), l) &&
        !has(numbers.getLhsContractingDimensions(), l))
      // The groups of rows name positions of the whole.
      builder.add(lhs[l], {l, -1, dimOfGroups(l)}, {next++},
                  l == ragged ? FactorKind::NeedReplication
                              : FactorKind::PassThrough);
  for (int64_t r = 0; r < rank(rhs); ++r)
    if (!has(numbers.getRhsBatchingDimensions(), r) &&
        !has(numbers.getRhsContractingDimensions(), r) &&
        !has(numbers.getRhsGroupDimensions(), r))
      builder.add(rhs[r], {-1, r, -1}, {next++});
}

FactorRule RaggedDotRule::build() {
  findOuterDims();
  bool isContracted = has(numbers.getLhsContractingDimensions(), ragged);
  int64_t next = isContracted ? 1 : 0;
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsBatchingDimensions(),
                                     numbers.getRhsBatchingDimensions()))
    builder.add(lhs[l], {l, r, dimOfGroups(l)}, {next++},
                l == ragged ? FactorKind::NeedReplication
                            : FactorKind::PassThrough);
  addFree(next);
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsContractingDimensions(),
                                     numbers.getRhsContractingDimensions()))
    // A part of a ragged dim has groups of other sizes.
    builder.add(lhs[l], {l, r, dimOfGroups(l)}, {-1},
                isContracted ? FactorKind::NeedReplication
                             : FactorKind::Reduction);
  ArrayRef<int64_t> groupDims = numbers.getRhsGroupDimensions();
  builder.add(groups.back(),
              {-1, groupDims.empty() ? -1 : groupDims[0], rank(groups) - 1},
              {isContracted ? 0 : -1}, FactorKind::NeedReplication);
  return builder.build();
}

static std::optional<FactorRule> raggedDotRule(RaggedDotOp op) {
  return RaggedDotRule(op).build();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// The scanned dim is needed whole. The others pass through where the body has
/// no use for the places of elements; else there is no rule.
static std::optional<FactorRule> scanRule(ScanOp op) {
  std::optional<SmallVector<int64_t>> slice = commonShape(op.getBody().front());
  if (!slice || op.getInputs().empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
  int64_t rank = shape.size(), sliceRank = slice->size();
  auto rankOf = [](Value value) -> int64_t { return shapeOf(value).size(); };
  FactorRuleBuilder builder(llvm::map_to_vector(op->getOperands(), rankOf),
                            llvm::map_to_vector(op->getResults(), rankOf));
  int64_t scanned = op.getDimension();
  for (int64_t dim = 0; dim < rank; ++dim) {
    // Carries have the dims of a slice.
    auto dimOf = [&](Value value) -> int64_t {
      if (rankOf(value) != sliceRank)
        return dim;
      return dim == scanned ? -1 : dim - (dim > scanned);
    };
    builder.add(shape[dim], llvm::map_to_vector(op->getOperands(), dimOf),
                llvm::map_to_vector(op->getResults(), dimOf),
                dim == scanned ? FactorKind::NeedReplication
                               : FactorKind::PassThrough);
  }
  return builder.build();
}

static LocalResults scanLocally(ScanOp op, OpBuilder &builder,
                                ValueRange operands, LocalContext &context) {
  SmallVector<Value> results = cloneLocally(op, builder, operands, context);
  SmallVector<int64_t> local(shapeOf(operands.front()));
  local.erase(local.begin() + op.getDimension());
  auto made = results.front().getDefiningOp<ScanOp>();
  if (commonShape(made.getBody().front()))
    changeShape(made.getBody().front(), local);
  return results;
}

void shardonnay::attachChloStructuredModels(MLIRContext &context) {
  attachRule<ScanOp, scanRule>(context);
  attachLocal<ScanOp, scanLocally>(context);
  attachRule<TopKOp, topKRule>(context);
  attachClone<TopKOp>(context);
  attachRule<RaggedDotOp, raggedDotRule>(context);
  attachClone<RaggedDotOp>(context);
}
