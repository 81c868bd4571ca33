//===- ProjectionTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Projection.h"
#include "shardonnay/algebra/Generators.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

/// One tensor of rank 1 whose dim is made of factors of these sizes.
struct OneDim {
  explicit OneDim(std::vector<int64_t> sizes) {
    mapping.dims.emplace_back();
    for (auto [id, size] : llvm::enumerate(sizes)) {
      factors.push_back({size});
      mapping.dims[0].push_back(id);
    }
  }
  TensorProjection project(const AxisList &axes, bool closed = false) const {
    TensorSharding sharding = TensorSharding::fullyOpen(1);
    sharding.dims[0] = {axes, closed, 0};
    return shardonnay::project(sharding, mapping, factors);
  }
  DimSharding unproject(const TensorProjection &row) const {
    return shardonnay::unproject(row, mapping, factors,
                                 TensorSharding::fullyOpen(1))
        .dims[0];
  }

  TensorMapping mapping;
  std::vector<Factor> factors;
};

// The cases that follow were asked of the real propagation, as reshapes.

TEST(Projection, bigAxisIsSplit) {
  TensorProjection row = OneDim({2, 4}).project({{0, 1, 4}});
  EXPECT_EQ(row.factors[0].axes, (AxisList{{0, 1, 2}}));
  EXPECT_EQ(row.factors[1].axes, (AxisList{{0, 2, 2}}));
  EXPECT_FALSE(row.factors[0].minorMost);
  EXPECT_TRUE(row.factors[1].minorMost);
}

TEST(Projection, minorMostFactorTakesTheRest) {
  TensorProjection row = OneDim({2, 4}).project({{0, 1, 6}});
  EXPECT_EQ(row.factors[0].axes, (AxisList{{0, 1, 2}}));
  EXPECT_EQ(row.factors[1].axes, (AxisList{{0, 2, 3}}));
  row = OneDim({2, 4}).project({{0, 1, 16}});
  EXPECT_EQ(row.factors[1].axes, (AxisList{{0, 2, 8}}));
}

TEST(Projection, aRetiledFactorTakesAll) {
  OneDim dim({6, 8});
  dim.factors[0].retiled = true;
  AxisList by4 = {{0, 1, 4}};
  TensorProjection row = dim.project(by4);
  EXPECT_EQ(row.factors[0].axes, by4);
  EXPECT_TRUE(row.factors[1].present);
  EXPECT_TRUE(row.factors[1].axes.empty());
  EXPECT_EQ(dim.unproject(row).axes, by4);
  // Where it can be sharded evenly it is.
  row = dim.project({{0, 1, 12}});
  EXPECT_EQ(row.factors[0].axes, (AxisList{{0, 1, 6}}));
  EXPECT_EQ(row.factors[1].axes, (AxisList{{0, 6, 2}}));
}

TEST(Projection, coprimeAxisOverflows) {
  OneDim dim({2, 4});
  TensorProjection row = dim.project({{1, 1, 3}, {0, 1, 2}});
  EXPECT_TRUE(row.factors[0].axes.empty());
  EXPECT_EQ(row.factors[0].overflow, (AxisList{{1, 1, 3}, {0, 1, 2}}));
  EXPECT_FALSE(row.factors[0].closed);
  EXPECT_TRUE(row.factors[1].closed);
  EXPECT_TRUE(row.factors[1].axes.empty());
  EXPECT_FALSE(dim.unproject(row).closed);
}

TEST(Projection, overflowAfterAPart) {
  TensorProjection row = OneDim({6, 2}).project({{0, 1, 4}});
  EXPECT_EQ(row.factors[0].axes, (AxisList{{0, 1, 2}}));
  EXPECT_EQ(row.factors[0].overflow, (AxisList{{0, 2, 2}}));
}

TEST(Projection, unprojectStopsAtTheFirstFactorThatIsNotFull) {
  OneDim dim({4, 2});
  TensorProjection row = dim.project({});
  row.factors[0].axes = {{0, 1, 2}};
  row.factors[1].axes = {{1, 1, 2}};
  EXPECT_EQ(dim.unproject(row).axes, (AxisList{{0, 1, 2}}));
  row.factors[0].axes = {{0, 1, 4}};
  EXPECT_EQ(dim.unproject(row).axes, (AxisList{{0, 1, 4}, {1, 1, 2}}));
}

TEST(Projection, unprojectMergesAcrossFactors) {
  OneDim dim({2, 4});
  TensorProjection row = dim.project({});
  row.factors[0].axes = {{0, 1, 2}};
  row.factors[1].axes = {{0, 2, 4}};
  EXPECT_EQ(dim.unproject(row).axes, (AxisList{{0, 1, 8}}));
}

TEST(Projection, aDimIsClosedIfAnyFactorIs) {
  OneDim dim({2, 4});
  TensorProjection row = dim.project({}, /*closed=*/true);
  EXPECT_TRUE(row.factors[0].closed && row.factors[1].closed);
  row.factors[0].closed = false;
  EXPECT_TRUE(dim.unproject(row).closed);
}

TEST(Projection, absentFactors) {
  OneDim dim({2, 4});
  dim.factors.push_back({8});
  EXPECT_FALSE(dim.project({}).factors[2].present);
}

/// A dim of one to three factors of sizes > 1.
TensorMapping drawMapping(int64_t rank, std::vector<Factor> &factors) {
  TensorMapping mapping;
  for (int64_t d = 0; d < rank; ++d) {
    DimFactors &dim = mapping.dims.emplace_back();
    for (int i = 0, count = 1 + gen::below(3); i < count; ++i) {
      dim.push_back(factors.size());
      factors.push_back({*rc::gen::element<int64_t>(2, 3, 4, 6, 8, 12)});
    }
  }
  return mapping;
}

RC_GTEST_PROP(Projection, roundTrip, ()) {
  std::vector<AxisRef> parts = gen::splitting(gen::mesh());
  Layout layout = gen::unpadded(parts, 2, true);
  TensorSharding sharding = layout.toSharding();
  for (DimSharding &dim : sharding.dims) {
    dim.closed = *rc::gen::arbitrary<bool>();
    dim.priority = gen::below(2);
  }
  std::vector<Factor> factors;
  TensorMapping mapping = drawMapping(2, factors);
  TensorProjection row = project(sharding, mapping, factors);
  RC_ASSERT(unproject(row, mapping, factors, sharding) == sharding);

  for (const DimFactors &dim : mapping.dims) {
    for (int32_t factor : dim) {
      const FactorSharding &cell = row.factors[factor];
      if (factor != dim.back())
        RC_ASSERT(factors[factor].size % cell.axes.numShards() == 0);
      else
        RC_ASSERT(cell.overflow.empty());
    }
  }
}

/// What the factors say is what the dim says: on a dim that is sharded evenly,
/// the block of a device is the product of its blocks of the factors.
RC_GTEST_PROP(Projection, factorsDescribeTheSameSlices, ()) {
  Mesh mesh = gen::mesh();
  std::vector<Factor> factors;
  TensorMapping mapping = drawMapping(1, factors);
  int64_t size = 1;
  for (Factor factor : factors)
    size *= factor.size;
  TensorSharding sharding = TensorSharding::fullyOpen(1);
  sharding.dims[0].axes = gen::axisList(mesh).prefixDividing(size);
  TensorProjection row = project(sharding, mapping, factors);
  for (const FactorSharding &cell : row.factors)
    RC_PRE(cell.overflow.empty());
  Layout layout = Layout::get(sharding, {size});
  for (int64_t p = 0; p < mesh.numDevices(); ++p) {
    int64_t start = 0;
    for (auto [factor, cell] : llvm::zip(factors, row.factors)) {
      int64_t block = factor.size / cell.axes.numShards();
      start = start * factor.size + mesh.index(cell.axes, p) * block;
    }
    RC_ASSERT(layout.slice(mesh, p)[0].start == start);
  }
}

} // namespace
