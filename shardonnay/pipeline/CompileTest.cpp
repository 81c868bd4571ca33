//===- CompileTest.cpp - from a program's text to a device's --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Compile.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace shardonnay;
namespace json = llvm::json;

namespace {

/// A matmul cut in the dim that it contracts, on two of four devices' axes.
constexpr llvm::StringLiteral kMatmul = R"mlir(
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, tf.aliasing_output = 0 : i32} loc("batch"),
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.result_info = "out"}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("model.py":7:3)
  return %0 : tensor<4x8xf32>
}
)mlir";

std::string str(const json::Value *value) {
  return value ? llvm::formatv("{0}", *value).str() : "missing";
}

const json::Object &entry(const CompileResult &result, llvm::StringRef list,
                          size_t index) {
  return *(*result.manifest.getAsObject()->getArray(list))[index].getAsObject();
}

TEST(Compile, ManifestSaysWhatEachDeviceHolds) {
  CompileResult result = compile(kMatmul);
  ASSERT_TRUE(result.ok);
  const json::Object &a = entry(result, "inputs", 0);
  EXPECT_EQ(str(a.get("name")), R"("batch")");
  EXPECT_EQ(str(a.get("dtype")), R"("f32")");
  EXPECT_EQ(str(a.get("global_shape")), "[4,8]");
  EXPECT_EQ(str(a.get("local_shape")), "[2,4]");
  EXPECT_EQ(str(a.get("slices")), "[[[0,2],[0,4]],[[0,2],[4,8]],"
                                  "[[2,4],[0,4]],[[2,4],[4,8]]]");
  EXPECT_EQ(str(a.get("partial")), "null");
  // The result has other pieces: 2x8.
  EXPECT_EQ(str(a.get("alias")), "null");
  const json::Object &out = entry(result, "outputs", 0);
  EXPECT_EQ(str(out.get("name")), R"("out")");
  EXPECT_EQ(str(out.get("slices")), "[[[0,2],[0,8]],[[0,2],[0,8]],"
                                    "[[2,4],[0,8]],[[2,4],[0,8]]]");
  EXPECT_EQ(str(result.manifest.getAsObject()->get("devices")), "4");
}

TEST(Compile, AnOpOfUnknownLocationIsFoundInTheText) {
  CompileResult result = compile("func.func @main(%a: tensor<4xf32>) {\n"
                                 "  \"stablehlo.sort\"(%a) : (tensor<4xf32>) "
                                 "-> () loc(unknown)\n"
                                 "  return\n"
                                 "}\n",
                                 {}, "step.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].location, "step.mlir:2:3");
}

TEST(Compile, ReportCountsWhatIsInTheProgram) {
  CompileResult result = compile(kMatmul);
  ASSERT_TRUE(result.ok);
  const json::Object &report = *result.report.getAsObject();
  const json::Array &collectives = *report.getArray("collectives");
  ASSERT_EQ(collectives.size(), 1u);
  const json::Object &sum = *collectives[0].getAsObject();
  EXPECT_EQ(str(sum.get("kind")), R"("all_reduce")");
  EXPECT_EQ(str(sum.get("axes")), R"(["y"])");
  EXPECT_EQ(str(sum.get("reduction")), R"("sum")");
  EXPECT_EQ(str(sum.get("source")), R"("model.py:7:3")");
  EXPECT_EQ(str(sum.get("count")), "1");
  // A ring of two: each device sends the whole of its 2x8 floats.
  EXPECT_EQ(str(sum.get("bytes")), "64");
  // 2 * 4 * 8 * 8, and a quarter of it.
  EXPECT_EQ(str(report.get("contraction_flops")),
            R"({"global":512,"per_device":128})");
  EXPECT_EQ(str(report.get("argument_bytes")),
            R"({"global":384,"per_device":160})");
}

TEST(Compile, StopsAfterTheStageAskedFor) {
  CompileOptions options;
  options.toStage = Stage::Collectives;
  CompileResult result = compile(kMatmul, options);
  ASSERT_TRUE(result.ok);
  EXPECT_NE(result.text.find("sdy.all_reduce"), std::string::npos);
  EXPECT_NE(result.manifest, nullptr);
  EXPECT_EQ(result.report, nullptr);
}

TEST(Compile, BadTextIsADiagnosticWithItsPlace) {
  CompileResult result = compile("module { foo.bar }", {}, "model.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics[0].severity, "error");
  EXPECT_EQ(result.diagnostics[0].location, "model.mlir:1:10");
}

TEST(Stages, NamesRoundTrip) {
  for (Stage stage : allStages())
    EXPECT_EQ(parseStage(toString(stage)), stage);
  EXPECT_EQ(parseStage("nothing"), std::nullopt);
}

} // namespace
