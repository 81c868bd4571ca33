//===- RuleTableTest.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/support/VerifiedAnalysis.h"
#include "gtest/gtest.h"

using namespace mlir;

static int timesAsked = 0;

/// As many factors of size 1 as operands.
static std::optional<shardonnay::FactorRule> countingRule(Operation *op) {
  ++timesAsked;
  if (op->hasAttr("no_rule"))
    return std::nullopt;
  shardonnay::FactorRule rule;
  rule.factors.resize(op->getNumOperands());
  return rule;
}

namespace {
struct RuleTableTest : testing::Test {
  RuleTableTest() {
    context.loadDialect<sdy::SdyDialect>();
    context.allowUnregisteredDialects();
    timesAsked = 0;
  }

  void SetUp() override {
    if (shardonnay::verifiesAnalyses())
      GTEST_SKIP() << "this build asks for every rule again, to compare";
  }

  /// The ops of `text` but for the constants.
  std::vector<Operation *> parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    std::vector<Operation *> ops;
    for (Operation &op : *module->getBody())
      if (!isa<sdy::ConstantOp>(op))
        ops.push_back(&op);
    return ops;
  }

  /// How often rules were asked for in all, after each of `ops`.
  void expectAsked(ArrayRef<Operation *> ops, ArrayRef<int> asked) {
    for (auto [op, times] : llvm::zip_equal(ops, asked)) {
      table.get(op);
      EXPECT_EQ(timesAsked, times);
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  sdy::RuleTable table{countingRule};
};
} // namespace

TEST_F(RuleTableTest, EqualOpsAreAskedOnce) {
  auto ops = parse(R"(
    %0 = "test.a"() : () -> tensor<4xf32>
    %1 = "test.b"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "test.b"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "test.b"(%2) : (tensor<4xf32>) -> tensor<2xf32>
    %4 = "test.b"(%3) {no_rule} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = "test.b"(%4) {no_rule} : (tensor<2xf32>) -> tensor<2xf32>
  )");
  EXPECT_EQ(table.get(ops[0])->factors.size(), 0u);
  const shardonnay::FactorRule *rule = table.get(ops[1]);
  EXPECT_EQ(rule->factors.size(), 1u);
  EXPECT_EQ(table.get(ops[2]), rule);
  EXPECT_EQ(timesAsked, 2);
  // Other types, but the same rule.
  EXPECT_EQ(table.get(ops[3]), rule);
  EXPECT_EQ(timesAsked, 3);
  EXPECT_EQ(table.get(ops[4]), nullptr);
  EXPECT_EQ(table.get(ops[5]), nullptr);
  EXPECT_EQ(timesAsked, 4);
}

TEST_F(RuleTableTest, ConstantsThatMayBePositionsAreTold) {
  auto ops = parse(R"(
    %c = sdy.constant dense<1> : tensor<1xi32>
    %d = sdy.constant dense<1> : tensor<1xi32>
    %e = sdy.constant dense<2> : tensor<1xi32>
    %f = sdy.constant dense<1.0> : tensor<1xf32>
    %g = sdy.constant dense<2.0> : tensor<1xf32>
    "test.of_positions"(%c) : (tensor<1xi32>) -> ()
    "test.of_positions"(%d) : (tensor<1xi32>) -> ()
    "test.of_positions"(%e) : (tensor<1xi32>) -> ()
    "test.of_numbers"(%f) : (tensor<1xf32>) -> ()
    "test.of_numbers"(%g) : (tensor<1xf32>) -> ()
  )");
  expectAsked(ops, {1, 1, 2, 3, 3});
}

TEST_F(RuleTableTest, RegionsAreTold) {
  auto ops = parse(R"(
    "test.reduce"() ({
    ^bb0(%a: i32, %b: i32):
      %0 = "test.x"(%a, %b) : (i32, i32) -> i32
      "test.return"(%0) : (i32) -> ()
    }) : () -> ()
    "test.reduce"() ({
    ^bb0(%a: i32, %b: i32):
      %0 = "test.x"(%a, %b) : (i32, i32) -> i32
      "test.return"(%0) : (i32) -> ()
    }) : () -> ()
    "test.reduce"() ({
    ^bb0(%a: i32, %b: i32):
      %0 = "test.x"(%b, %a) : (i32, i32) -> i32
      "test.return"(%0) : (i32) -> ()
    }) : () -> ()
    "test.reduce"() ({
    ^bb0(%a: i32, %b: i32):
      %0 = "test.y"(%a, %b) : (i32, i32) -> i32
      "test.return"(%0) : (i32) -> ()
    }) : () -> ()
  )");
  expectAsked(ops, {1, 1, 2, 3});
}

TEST_F(RuleTableTest, RegionsThatUseOtherValuesAreAskedEachTime) {
  auto ops = parse(R"(
    %c = sdy.constant dense<1> : tensor<1xi32>
    "test.captures"() ({ "test.return"(%c) : (tensor<1xi32>) -> () }) : () -> ()
    "test.captures"() ({ "test.return"(%c) : (tensor<1xi32>) -> () }) : () -> ()
    "test.nests"() ({ "test.nests"() ({}) : () -> () }) : () -> ()
    "test.nests"() ({ "test.nests"() ({}) : () -> () }) : () -> ()
  )");
  expectAsked(ops, {1, 2, 3, 4});
}

TEST_F(RuleTableTest, OutlivesTheOps) {
  auto ops = parse(
      R"("sdy.mesh"() {sym_name = "a", mesh = #sdy.mesh<["x"=2]>} : () -> ())");
  const shardonnay::FactorRule *rule = table.get(ops[0]);
  ops = parse(
      R"("sdy.mesh"() {sym_name = "b", mesh = #sdy.mesh<["x"=2]>} : () -> ())");
  EXPECT_EQ(table.get(ops[0]), rule);
  EXPECT_EQ(timesAsked, 2);
  ops = parse(
      R"("sdy.mesh"() {sym_name = "a", mesh = #sdy.mesh<["x"=2]>} : () -> ())");
  EXPECT_EQ(table.get(ops[0]), rule);
  EXPECT_EQ(timesAsked, 2);
}
