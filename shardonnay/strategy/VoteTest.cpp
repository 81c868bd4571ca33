//===- VoteTest.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/Vote.h"
#include "shardonnay/strategy/FactorStrategy.h"
#include "gtest/gtest.h"
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

// The mesh of all tests: d of size 2, m of size 4.
const AxisList none, d{AxisRef{0, 1, 2}}, m{AxisRef{1, 1, 4}},
    dm{AxisRef{0, 1, 2}, AxisRef{1, 1, 4}},
    md{AxisRef{1, 1, 4}, AxisRef{0, 1, 2}}, m2{AxisRef{1, 1, 2}};

using Dims = std::vector<AxisList>;

TensorProjection rowOf(const FactorRule &rule, int64_t tensor,
                       const Dims &dims) {
  TensorSharding sharding = TensorSharding::fullyClosed(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    sharding.dims[i].axes = dims[i];
  return project(sharding, rule.tensor(tensor), rule.factors);
}

/// Four bytes an element.
int64_t bytesOf(const FactorRule &rule, int64_t tensor) {
  int64_t bytes = 4;
  for (const DimFactors &factors : rule.tensor(tensor).dims)
    for (int32_t factor : factors)
      bytes *= rule.factors[factor].size;
  return bytes;
}

FactorStrategy assign(const FactorRule &rule, const std::vector<Dims> &tensors,
                      bool contraction = false,
                      std::vector<int64_t> free = {}) {
  std::vector<VoteTensor> problem;
  for (size_t i = 0; i < tensors.size(); ++i)
    problem.push_back({rowOf(rule, i, tensors[i]), bytesOf(rule, i), false});
  for (int64_t i : free)
    problem[i].free = true;
  return voteStrategy({rule, problem, contraction});
}

FactorStrategy axes(std::initializer_list<AxisList> lists) { return lists; }

/// ([i, k], [k, j]) -> ([i, j])
FactorRule matmul(int64_t i, int64_t k, int64_t j) {
  FactorRuleBuilder builder({2, 2}, {2});
  builder.add(i, {0, -1}, {0});
  builder.add(k, {1, 0}, {-1}, FactorKind::Reduction);
  builder.add(j, {-1, 1}, {1});
  return builder.build();
}

/// ([i, j]) -> ([i, j]), with `kind` on j.
FactorRule unary(int64_t i, int64_t j,
                 FactorKind kind = FactorKind::PassThrough) {
  FactorRuleBuilder builder({2}, {2});
  builder.add(i, {0}, {0});
  builder.add(j, {1}, {1}, kind);
  return builder.build();
}

TEST(Vote, AgreementIsKept) {
  EXPECT_EQ(assign(matmul(8, 16, 32), {{d, m}, {m, none}, {d, none}}),
            axes({d, m, none}));
}

TEST(Vote, MegatronColumnThenRow) {
  EXPECT_EQ(assign(matmul(8, 16, 32), {{d, none}, {none, m}, {d, m}}, true),
            axes({d, none, m}));
  EXPECT_EQ(assign(matmul(8, 32, 16), {{d, m}, {m, none}, {d, none}}, true),
            axes({d, m, none}));
}

TEST(Vote, FullyShardedWeightIsGathered) {
  // The weight is the largest tensor, and still the one that moves.
  EXPECT_EQ(assign(matmul(8, 64, 64), {{d, none}, {d, none}, {d, none}}, true),
            axes({d, none, none}));
}

TEST(Vote, FullyShardedGradientIsPartial) {
  // dw = xT dy: the batch is the contracting factor.
  FactorRule rule = matmul(64, 8, 64);
  FactorStrategy result = assign(rule, {{none, d}, {d, none}, {d, none}}, true);
  EXPECT_EQ(result, axes({none, d, none}));
  TensorSharding gradient = shardingUnder(result, rule, 2);
  EXPECT_EQ(gradient.unreduced, d);
  EXPECT_EQ(gradient.dims[0].axes, none);
  EXPECT_TRUE(shardingUnder(result, rule, 1).unreduced.empty());
}

TEST(Vote, SequenceParallelInputIsGathered) {
  EXPECT_EQ(assign(matmul(8, 16, 32), {{m, none}, {none, m}, {none, m}}, true),
            axes({none, none, m}));
}

TEST(Vote, LongerPrefixOfOneTensorIsTaken) {
  EXPECT_EQ(assign(matmul(8, 16, 32), {{dm, none}, {none, none}, {d, none}}),
            axes({dm, none, none}));
}

TEST(Vote, CollidingProposalIsTrimmed) {
  // i:d has two votes; then k takes the part of [m, d] that is left.
  EXPECT_EQ(assign(matmul(8, 16, 32), {{d, none}, {md, none}, {d, none}}),
            axes({d, m, none}));
}

TEST(Vote, UnaryKeepsTheMoreSharded) {
  EXPECT_EQ(assign(unary(8, 8), {{d, none}, {m, d}}), axes({m, d}));
  EXPECT_EQ(assign(unary(8, 8), {{d, none}, {none, m}}), axes({d, m}));
}

TEST(Vote, UnaryKeepsTheLarger) {
  FactorRuleBuilder builder({2}, {1});
  builder.add(8, {0}, {-1}, FactorKind::Reduction, ReductionKind::Max);
  builder.add(8, {1}, {0});
  FactorRule rule = builder.build();
  FactorStrategy result = assign(rule, {{m, none}, {m}});
  EXPECT_EQ(result, axes({m, none}));
  EXPECT_EQ(shardingUnder(result, rule, 1).kind, ReductionKind::Max);
}

TEST(Vote, AxesOfUncuttableFactorsMove) {
  EXPECT_EQ(assign(unary(8, 8, FactorKind::NeedReplication), {{d, m}, {d, m}}),
            axes({dm, none}));
  // 6 rows: m does not divide what d leaves of them.
  EXPECT_EQ(assign(unary(6, 8, FactorKind::NeedReplication), {{d, m}, {d, m}}),
            axes({d, none}));
}

TEST(Vote, AFactorThatIsADimMayBeShardedUnevenly) {
  EXPECT_EQ(assign(unary(6, 8), {{m, none}, {m, none}}), axes({m, none}));
  EXPECT_EQ(assign(unary(1, 8), {{m, none}, {m, none}}), axes({m, none}));
  EXPECT_EQ(assign(unary(8, 7, FactorKind::Windowed), {{m, d}, {m, d}}),
            axes({m, d}));
}

TEST(Vote, AFactorBesideOthersIsShardedEvenly) {
  // [i, j] -> [i j].
  FactorRuleBuilder builder({2}, {1});
  builder.add(6, {0}, {0});
  builder.add(4, {1}, {0});
  FactorRule rule = builder.build();
  EXPECT_EQ(assign(rule, {{m, none}, {m2}}), axes({m2, none}));
}

TEST(Vote, ARetiledFactorIsShardedUnevenlyWhereAllAgree) {
  FactorRuleBuilder builder({2}, {1});
  builder.add(6, {0}, {0});
  builder.add(4, {1}, {0});
  FactorRule rule = builder.build();
  EXPECT_FALSE(rule.mayBeUneven(0));
  rule.factors[0].retiled = true;
  EXPECT_TRUE(rule.mayBeUneven(0));
  EXPECT_FALSE(rule.mayBeUneven(1));
  EXPECT_EQ(assign(rule, {{m, none}, {m}}), axes({m, none}));
  EXPECT_EQ(assign(rule, {{m, none}, {m2}}), axes({m2, none}));
}

TEST(Vote, AConstantThatCannotFollowIsNoAgreement) {
  // Two rows on four devices; of their sixteen elements in one dim each device
  // would have four.
  FactorRuleBuilder builder({2}, {1});
  builder.add(2, {0}, {0});
  builder.add(8, {1}, {0});
  FactorRule rule = builder.build();
  rule.factors[0].retiled = true;
  EXPECT_EQ(assign(rule, {{m, none}, {none}}, false, {1}), axes({m2, none}));
}

TEST(Vote, ConstantsHaveNoVote) {
  EXPECT_EQ(assign(matmul(8, 16, 32), {{none, d}, {d, none}, {d, none}}, true,
                   {0, 1}),
            axes({d, none, none}));
}

TEST(Vote, LookupsAreShardedUnlessTheyCopyTheTable) {
  // Rows of a table [v, j] at positions [i].
  FactorRuleBuilder builder({2, 1}, {2});
  builder.add(16, {-1, 0}, {0});
  builder.add(8, {1, -1}, {1});
  builder.add(16, {0, -1}, {-1}, FactorKind::Indexed);
  FactorRule rule = builder.build();
  const std::vector<Dims> vocabulary = {{m, none}, {none}, {none, none}};
  EXPECT_EQ(assign(rule, vocabulary), axes({none, none, m}));
  EXPECT_EQ(assign(rule, vocabulary, false, {1}), axes({none, none, none}));
}

TEST(Vote, NoStridedShards) {
  // The reshape ([i j]) -> ([i, j]): j can be sharded only where i is sharded
  // up.
  FactorRuleBuilder builder({1}, {2});
  builder.add(8, {0}, {0});
  builder.add(4, {0}, {1});
  FactorRule rule = builder.build();
  EXPECT_EQ(assign(rule, {{none}, {d, m}}), axes({d, none}));
  EXPECT_EQ(assign(rule, {{d}, {d, m}}), axes({d, none}));
}

TEST(Vote, CompoundDimIsShardedThrough) {
  FactorRuleBuilder builder({1}, {2});
  builder.add(2, {0}, {0});
  builder.add(4, {0}, {1});
  FactorRule rule = builder.build();
  FactorStrategy result = assign(rule, {{none}, {d, m}});
  EXPECT_EQ(result, axes({d, m}));
  EXPECT_EQ(shardingUnder(result, rule, 0).dims[0].axes, dm);
}

TEST(Vote, PartialResultsHaveOneKind) {
  FactorRuleBuilder builder({3}, {1});
  builder.add(8, {0}, {0});
  builder.add(8, {1}, {-1}, FactorKind::Reduction, ReductionKind::Sum);
  builder.add(8, {2}, {-1}, FactorKind::Reduction, ReductionKind::Max);
  EXPECT_EQ(assign(builder.build(), {{none, d, m}, {none}}),
            axes({none, d, none}));
}

/// The laws of FactorStrategy.h.
void checkLaws(const FactorRule &rule, const FactorStrategy &strategy) {
  for (size_t f = 0; f < strategy.size(); ++f) {
    RC_ASSERT(rule.factors[f].size % strategy[f].numShards() == 0);
    RC_ASSERT(strategy[f].empty() || canBeSharded(rule.factors[f]));
    for (size_t g = 0; g < f; ++g)
      RC_ASSERT(!strategy[f].excludes(strategy[g]));
  }
  for (int64_t i = 0; i < rule.numTensors(); ++i) {
    TensorProjection row =
        project(shardingUnder(strategy, rule, i), rule.tensor(i), rule.factors);
    for (size_t f = 0; f < strategy.size(); ++f)
      if (row.factors[f].present)
        RC_ASSERT(row.factors[f].axes == strategy[f]);
  }
}

RC_GTEST_PROP(FactorStrategyLaws, HoldOnRandomRows, ()) {
  auto kinds = rc::gen::element(
      FactorKind::PassThrough, FactorKind::PassThrough, FactorKind::Windowed,
      FactorKind::NeedReplication, FactorKind::Indexed);
  auto size = [] { return *rc::gen::element<int64_t>(1, 2, 3, 4, 8, 12); };
  FactorRuleBuilder builder({2, 2}, {2});
  for (int64_t dim : {0, 0, 1})
    builder.add(size(), {dim, dim}, {dim}, *kinds);
  builder.add(size(), {1, -1}, {-1}, FactorKind::Reduction);
  FactorRule rule = builder.build();

  std::vector<VoteTensor> tensors;
  const std::vector<Dims> shardings = {{none, none}, {d, none},  {d, m},
                                       {m, d},       {none, dm}, {md, none},
                                       {m2, d},      {none, m}};
  for (int64_t i = 0; i < rule.numTensors(); ++i)
    tensors.push_back({rowOf(rule, i, *rc::gen::elementOf(shardings)),
                       bytesOf(rule, i), *rc::gen::arbitrary<bool>()});
  checkLaws(rule, voteStrategy({rule, tensors, *rc::gen::arbitrary<bool>()}));
}

} // namespace
