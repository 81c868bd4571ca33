//===- HloShardingTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/Generators.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

HloSharding parse(llvm::StringRef text) {
  HloShardingError error;
  std::optional<HloSharding> sharding = parseHloSharding(text, error);
  EXPECT_TRUE(sharding) << text.str() << ": " << error.position << ": "
                        << error.message;
  return sharding.value_or(HloSharding());
}

TEST(HloSharding, printsWhatItParsed) {
  for (const char *text :
       {"{replicated}", "{manual}", "{unreduced}", "{unknown}",
        "{maximal device=3}", "{devices=[8,1,4]<=[32] last_tile_dim_replicate}",
        "{devices=[2,2]0,3,1,2}", "{devices=[4,2]<=[2,4]T(1,0)}",
        "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}",
        "{devices=[2,2,2]<=[2,2,2]T(2,1,0) last_tile_dims={unreduced}}", "{}",
        "{{replicated}, {{maximal device=0}, {}}, {devices=[2]<=[2]}}",
        "{unknown shard_as 0}", "{devices=[2,2]<=[4] shard_like 3}"})
    EXPECT_EQ(parse(text).str(), text);
}

TEST(HloSharding, readsOtherSpellings) {
  EXPECT_EQ(parse(" { devices = [2, 2] 0, 1,2,3 } ").str(),
            "{devices=[2,2]0,1,2,3}");
  EXPECT_EQ(parse("{devices=[2,2]<=[2,2]}").str(),
            "{devices=[2,2]<=[2,2]T(0,1)}");
  EXPECT_EQ(parse("{devices=[2,2]<=[4] last_tile_dims={replicated}}").str(),
            "{devices=[2,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(parse("{shard_as 7}").str(), "{unknown shard_as 7}");
  EXPECT_EQ(parse("{replicated metadata={op_name=\"a}\\\"b\"}}").str(),
            "{replicated}");
  EXPECT_EQ(parse("{metadata={{op_name=\"a\"}, {op_name=\"b\" line=3}} "
                  "devices=[2]<=[2]}")
                .str(),
            "{devices=[2]<=[2]}");
}

TEST(HloSharding, saysWhatIsWrong) {
  const std::pair<const char *, const char *> wrong[] = {
      {"replicated", "0: expected '{', got 'r'"},
      {"{replicated", "11: expected a word of a sharding or '}', got the end"},
      {"{replicated} x", "13: expected nothing after the sharding, got 'x'"},
      {"{{replicated}", "13: expected ',', got the end"},
      {"{foo}", "1: expected a word of a sharding, got 'foo'"},
      {"{replicated manual}",
       "18: expected one of replicated, manual, unreduced, unknown, maximal "
       "and devices, got two"},
      {"{last_tile_dim_replicate}",
       "1: expected one of replicated, manual, unreduced, unknown, maximal and "
       "devices"},
      {"{maximal}", "1: expected 'device=' with 'maximal' and nowhere else"},
      {"{replicated device=1}",
       "1: expected 'device=' with 'maximal' and nowhere else"},
      {"{shard_like 3 device=2}",
       "1: expected 'device=' with 'maximal' and nowhere else"},
      {"{shard_as 3 last_tile_dim_replicate}",
       "1: expected 'devices=' before the last tile dims"},
      {"{maximal device=-1}", "16: expected a number, got '-'"},
      {"{maximal device=9223372036854775808}",
       "16: expected a number below 2^63, got 9223372036854775808"},
      {"{manual last_tile_dim_replicate}",
       "1: expected 'devices=' before the last tile dims"},
      {"{devices=[2,2}", "13: expected ']', got '}'"},
      {"{devices=[2]0,1 last_tile_dims={manual} last_tile_dim_replicate}",
       "63: the last tile dims are said twice"},
      {"{devices=[2]<=[2] last_tile_dims={maximal}}",
       "34: expected manual, replicated or unreduced, got 'maximal'"},
      {"{devices=[2]<=[2] last_tile_dims={manual,manual}}",
       "1: more last tile dims than tile dims"},
      {"{devices=[0]<=[0]}",
       "1: expected tile dims of at least 1 and at most 2^24 tiles"},
      {"{devices=[4294967296,4294967296]<=[1]}",
       "1: expected tile dims of at least 1 and at most 2^24 tiles"},
      {"{devices=[2,2]<=[8]}",
       "1: the number of devices is not that of tiles, 4"},
      {"{devices=[2,2]<=[2,2]T(1,1)}", "1: expected a permutation of the dims"},
      {"{devices=[2,2]<=[2,2]T(0)}", "1: expected a permutation of the dims"},
      {"{devices=[2,2]0,1,2}",
       "1: expected 4 devices, one for each tile, got 3"},
      {"{devices=[2,2]0,1,2,1}", "1: device 1 stands twice"},
      {"{replicated metadata={{}",
       "24: expected '}' at the end of the metadata, got the end"},
      {"{replicated metadata={\"}",
       "24: expected '\"' at the end of the metadata's text, got the end"},
  };
  for (auto [text, expected] : wrong) {
    HloShardingError error;
    EXPECT_FALSE(parseHloSharding(text, error)) << text;
    EXPECT_EQ(std::to_string(error.position) + ": " + error.message, expected)
        << text;
  }
  HloShardingError error;
  EXPECT_FALSE(parseHloSharding(std::string(1000, '{'), error));
  EXPECT_EQ(error.message, "expected at most 64 tuples in one another");
}

TEST(HloSharding, theHeadersExample) {
  HloSharding sharding =
      parse("{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(sharding.rank(), 2);
  for (int64_t device = 0; device < 8; ++device) {
    Interval columns = device % 2 ? Interval{3, 5} : Interval{0, 3};
    llvm::SmallVector<Interval, 4> expected = {{0, 3}, columns};
    EXPECT_EQ(*sharding.slice({3, 5}, device), expected);
  }
  EXPECT_FALSE(sharding.slice({3, 5}, 8));
  EXPECT_FALSE(parse("{maximal device=1}").slice({3}, 0));
  EXPECT_TRUE(parse("{maximal device=1}").slice({3}, 1));
  EXPECT_FALSE(parse("{manual}").slice({3}, 0));
  llvm::SmallVector<Interval, 4> empty = {{3, 3}};
  EXPECT_EQ(*parse("{devices=[8]<=[8]}").slice({3}, 7), empty);
}

RC_GTEST_PROP(HloSharding, parseOfPrintIsTheSame, ()) {
  HloSharding sharding = gen::tiledSharding(
      *rc::gen::elementOf(std::vector<int64_t>{2, 8, 12}), gen::below(4));
  HloShardingError error;
  std::optional<HloSharding> again = parseHloSharding(sharding.str(), error);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == sharding);
}

} // namespace
