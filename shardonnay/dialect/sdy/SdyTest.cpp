//===- SdyTest.cpp - conversion and access --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

class SdyTest : public ::testing::Test {
protected:
  SdyTest() {
    context.loadDialect<SdyDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
    mesh = parse<MeshAttr>(R"(#sdy.mesh<["x"=2, "y"=8, "z"=4]>)");
  }

  template <typename AttrT> AttrT parse(StringRef text) {
    return cast<AttrT>(parseAttribute(text, &context));
  }
  TensorShardingAttr sharding(StringRef body) {
    return parse<TensorShardingAttr>(
        ("#sdy.sharding<@mesh, " + body + ">").str());
  }
  /// Parses a module with @mesh and `text`.
  void parseModule(StringRef text) {
    module = parseSourceString<ModuleOp>(
        (R"(sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]>)" + text).str(), &context);
    ASSERT_TRUE(module);
  }
  /// The first operation of that name.
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name && !found)
        found = op;
    });
    return found;
  }

  MLIRContext context;
  MeshAttr mesh;
  OwningOpRef<ModuleOp> module;
};

TEST_F(SdyTest, ShardingsSurviveTheRoundTrip) {
  for (StringRef text : {R"([{"x", "y":(2)2}, {?}p2, {"z", ?}p1, {}])",
                         R"([{}], replicated={"x", "y":(1)2}, unreduced={"z"})",
                         R"([], unreduced=max{"x", "y":(4)2})"}) {
    TensorShardingAttr attr = sharding(text);
    NamedMesh named{mesh, attr.getMeshOrRef()};
    EXPECT_EQ(named.write(named.read(attr)), attr);
  }
}

TEST_F(SdyTest, AxesAreIndices) {
  shardonnay::TensorSharding value =
      toSharding(sharding(R"([{"y":(2)4, "x"}])"), mesh);
  EXPECT_EQ(value.dims[0].axes, (shardonnay::AxisList{{1, 2, 4}, {0, 1, 2}}));
  EXPECT_TRUE(value.dims[0].closed);
}

TEST_F(SdyTest, MaximalMeshHasNoAxes) {
  auto maximal = parse<MeshAttr>("#sdy.mesh<[], device_ids=[3]>");
  EXPECT_EQ(toMesh(maximal), shardonnay::Mesh());
}

TEST_F(SdyTest, RulesSurviveTheRoundTrip) {
  for (StringRef text :
       {"([ij, k], [])->([i, jk]) {i=2, j=4, k=8}, custom",
        "([i, l], [l, j], [k])->([i, j, k]) {i=2, j=4, k=8, l=2} reduction={l} "
        "need_replication={i} permutation={k} blocked_propagation={i, l}"}) {
    auto attr = parse<OpShardingRuleAttr>(
        ("#sdy.op_sharding_rule<" + text + ">").str());
    EXPECT_EQ(fromRule(&context, toRule(attr)), attr);
  }
}

TEST_F(SdyTest, IndexedFactorsPrintByWhereTheyAre) {
  shardonnay::FactorRuleBuilder builder({2}, {1});
  builder.add(8, {0}, {-1}, shardonnay::FactorKind::Indexed);
  builder.add(4, {1}, {0}, shardonnay::FactorKind::Indexed);
  EXPECT_EQ(fromRule(&context, builder.build()),
            parse<OpShardingRuleAttr>("#sdy.op_sharding_rule<([i, j])->([j]) "
                                      "{i=8, j=4} reduction={i}>"));
}

/// Text cannot say these; other builders of attributes can.
TEST_F(SdyTest, WhatTextCannotSayIsRefusedToo) {
  std::string found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    found = diag.str();
    return success();
  });
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  auto axis = MeshAxisAttr::get(&context, "x", 2);
  // C4
  EXPECT_TRUE(failed(MeshAttr::verify(emitError, axis, {0, 1})));
  EXPECT_EQ(found, "device ids are in their own order: leave them out");
  // C7
  EXPECT_FALSE(succeeded(
      TensorShardingAttr::verify(emitError, UnitAttr::get(&context), {}, {}, {},
                                 shardonnay::ReductionKind::Sum)));
  EXPECT_EQ(found, "expected a mesh or the name of one, got unit");
  // C46
  parseModule(R"(
    func.func @f(%arg0: tensor<8xf32>) {
      "test.op"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
      return
    })");
  auto empty =
      TensorMappingAttr::get(&context, DimMappingAttr::get(&context, {}));
  find("test.op")->setAttr(kShardingRuleAttr,
                           OpShardingRuleAttr::get(&context, {}, empty, empty,
                                                   {}, {}, {}, {},
                                                   /*is_custom=*/false));
  EXPECT_TRUE(failed(mlir::verify(*module)));
  EXPECT_EQ(found,
            "'test.op' op sharding rule, operand 0: dim 0 has no factor, "
            "expected at least one");
}

TEST_F(SdyTest, EachValueHasItsPlace) {
  parseModule(R"(
    func.func @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
      %0:2 = "test.two"(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, !test.token)
      %1 = sdy.sharding_constraint %0#0 <@mesh, [{}]> : tensor<8xf32>
      return %1 : tensor<8xf32>
    })");
  auto func = cast<func::FuncOp>(find("func.func"));
  Operation *two = find("test.two"), *one = find("sdy.sharding_constraint");
  TensorShardingAttr onX = sharding(R"([{"x"}])");
  for (Value value : std::initializer_list<Value>{
           func.getArgument(0), two->getResult(0), one->getResult(0)}) {
    setSharding(value, onX);
    EXPECT_EQ(getSharding(value), onX);
  }
  setFuncResultSharding(func, 0, onX);
  EXPECT_EQ(getFuncResultSharding(func, 0), onX);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  // The other result got one that says nothing.
  EXPECT_EQ(getSharding(two->getResult(1)), sharding("[]"));

  setSharding(func.getArgument(0), nullptr);
  setFuncResultSharding(func, 0, nullptr);
  EXPECT_FALSE(getSharding(func.getArgument(0)));
  EXPECT_FALSE(getFuncResultSharding(func, 0));
  EXPECT_EQ(getMesh(two, onX), mesh);
}

} // namespace
