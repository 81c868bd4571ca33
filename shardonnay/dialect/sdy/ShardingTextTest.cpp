//===- ShardingTextTest.cpp - what is printed is what was said ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::sdy;

namespace {

/// Random meshes and shardings, built without their text. They need not fit:
/// text holds any.
class Random {
public:
  explicit Random(MLIRContext *context) : context(context) {}

  MeshAttr mesh() {
    SmallVector<MeshAxisAttr> axes;
    int64_t devices = 1;
    for (size_t i = 0, n = below(4); i < n; ++i) {
      int64_t size = 1 + below(4);
      devices *= size;
      axes.push_back(MeshAxisAttr::get(context, kNames[i], size));
    }
    if (axes.empty()) // empty or maximal
      return MeshAttr::get(context, {},
                           below(2) ? ArrayRef<int64_t>()
                                    : ArrayRef<int64_t>{below(100)});
    SmallVector<int64_t> ids = llvm::to_vector(llvm::seq<int64_t>(0, devices));
    if (devices == 1 || below(2))
      return MeshAttr::get(context, axes, {});
    do
      std::shuffle(ids.begin(), ids.end(), engine);
    while (llvm::is_sorted(ids));
    return MeshAttr::get(context, axes, ids);
  }

  TensorShardingAttr sharding() {
    SmallVector<DimensionShardingAttr> dims;
    for (size_t i = 0, n = below(5); i < n; ++i)
      dims.push_back(DimensionShardingAttr::get(
          context, axes(), below(2) == 0,
          below(3) ? std::nullopt : std::optional<int64_t>(below(12))));
    Attribute mesh = FlatSymbolRefAttr::get(context, kNames[below(5)]);
    if (below(3) == 0)
      mesh = this->mesh();
    SmallVector<AxisRefAttr> unreduced = axes();
    auto kind = unreduced.empty()
                    ? shardonnay::ReductionKind::Sum
                    : static_cast<shardonnay::ReductionKind>(below(3));
    return TensorShardingAttr::get(context, mesh, dims, axes(), unreduced,
                                   kind);
  }

  TensorShardingPerValueAttr perValue() {
    SmallVector<TensorShardingAttr> list;
    for (size_t i = 0, n = below(4); i < n; ++i)
      list.push_back(sharding());
    return TensorShardingPerValueAttr::get(context, list);
  }

private:
  static constexpr llvm::StringLiteral kNames[] = {"x", "data", "a b\"c", "p1",
                                                   "replicated"};

  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(engine);
  }
  SmallVector<AxisRefAttr> axes() {
    SmallVector<AxisRefAttr> list;
    for (size_t i = 0, n = below(4); i < n; ++i)
      list.push_back(AxisRefAttr::get(
          context, kNames[below(5)],
          below(2)
              ? nullptr
              : SubAxisInfoAttr::get(context, 1 + below(64), 2 + below(64))));
    return list;
  }

  MLIRContext *context;
  std::mt19937 engine; // the same numbers in every run
};

template <typename AttrT> void expectRoundTrip(AttrT attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  ASSERT_EQ(parseAttribute(text, attr.getContext()), attr) << text;
}

TEST(ShardingTextTest, HundredThousandShardingsAndMeshes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<SdyDialect>();
  Random random(&context);
  for (int i = 0; i < 80000 && !HasFatalFailure(); ++i)
    expectRoundTrip(random.sharding());
  for (int i = 0; i < 10000 && !HasFatalFailure(); ++i) {
    expectRoundTrip(random.perValue());
    expectRoundTrip(random.mesh());
  }
}

} // namespace
