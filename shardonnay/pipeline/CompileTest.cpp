//===- CompileTest.cpp - from a program's text to a device's --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Compile.h"

#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace shardonnay;
namespace json = llvm::json;

namespace {

/// A matmul sharded in the dim that it contracts, on two of four devices' axes.
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

const json::Object &entry(const json::Value &manifest, llvm::StringRef list,
                          size_t index) {
  return *(*manifest.getAsObject()->getArray(list))[index].getAsObject();
}

TEST(Compile, ManifestSaysWhatEachDeviceHolds) {
  CompileResult result = compile(kMatmul);
  ASSERT_TRUE(result.ok);
  json::Value manifest = result.manifest->toJson();
  const json::Object &a = entry(manifest, "inputs", 0);
  EXPECT_EQ(str(a.get("name")), R"("batch")");
  EXPECT_EQ(str(a.get("dtype")), R"("f32")");
  EXPECT_EQ(str(a.get("global_shape")), "[4,8]");
  EXPECT_EQ(str(a.get("local_shape")), "[2,4]");
  EXPECT_EQ(str(a.get("slices")), "[[[0,2],[0,4]],[[0,2],[4,8]],"
                                  "[[2,4],[0,4]],[[2,4],[4,8]]]");
  EXPECT_EQ(str(a.get("partial")), "null");
  // The result has other shards: 2x8.
  EXPECT_EQ(str(a.get("alias")), "null");
  const json::Object &out = entry(manifest, "outputs", 0);
  EXPECT_EQ(str(out.get("name")), R"("out")");
  EXPECT_EQ(str(out.get("slices")), "[[[0,2],[0,8]],[[0,2],[0,8]],"
                                    "[[2,4],[0,8]],[[2,4],[0,8]]]");
  EXPECT_EQ(str(manifest.getAsObject()->get("devices")), "4");
}

TEST(Compile, WholeArgumentsAndResultsAreInTheManifest) {
  CompileOptions options;
  options.arguments = options.results = "whole";
  CompileResult result = compile(kMatmul, options);
  ASSERT_TRUE(result.ok);
  json::Value manifest = result.manifest->toJson();
  EXPECT_EQ(str(manifest.getAsObject()->get("arguments")), R"("whole")");
  EXPECT_EQ(str(manifest.getAsObject()->get("results")), R"("whole")");
  EXPECT_EQ(str(entry(manifest, "inputs", 0).get("local_shape")), "[4,8]");
  EXPECT_EQ(str(entry(manifest, "outputs", 0).get("local_shape")), "[4,8]");
  EXPECT_EQ(str(entry(manifest, "outputs", 0).get("slices")),
            "[[[0,4],[0,8]],[[0,4],[0,8]],[[0,4],[0,8]],[[0,4],[0,8]]]");
}

TEST(Compile, ManifestOfManyDevicesListsEachSliceOnce) {
  CompileResult result = compile(R"mlir(
sdy.mesh @mesh = <["x"=2, "y"=64]>
func.func public @main(
    %a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<4x8xf32>
}
)mlir");
  ASSERT_TRUE(result.ok);
  json::Value manifest = result.manifest->toJson();
  const json::Object &a = entry(manifest, "inputs", 0);
  EXPECT_EQ(str(a.get("slices")), "missing");
  EXPECT_EQ(str(a.get("pieces")), "[[[0,2],[0,8]],[[2,4],[0,8]]]");
  const json::Array &shard = *a.getArray("piece");
  ASSERT_EQ(shard.size(), 128U);
  EXPECT_EQ(shard[63], json::Value(0));
  EXPECT_EQ(shard[64], json::Value(1));
}

TEST(Compile, ErrorsUnderLimitsNameThePass) {
  CompileOptions options;
  options.timeLimit = 1e-9;
  CompileResult result = compile(kMatmul, options);
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  llvm::StringRef message = result.diagnostics.front().message;
  EXPECT_TRUE(message.starts_with("the time limit of 1e-09 s is exceeded after "
                                  "pass 'sdy-import-encodings'"))
      << message.str();
  options.timeLimit = 0;
  options.hostMemoryLimit = 1;
  result = compile(kMatmul, options);
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_TRUE(
      llvm::StringRef(result.diagnostics.front().message)
          .starts_with("the memory limit of 1 MiB is exceeded after pass"));
  options.timeLimit = 1000;
  options.hostMemoryLimit = 100'000;
  EXPECT_TRUE(compile(kMatmul, options).ok);
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

TEST(Compile, WhatATextSaysIsVerifiedBeforeItIsUsed) {
  CompileResult result =
      compile("sdy.mesh @mesh = <[\"x\"=2]>\n"
              "func.func @main(%a: tensor<4xf32> {mhlo.frontend_attributes = "
              "{xla.sdy.sharding = \"#sdy.sharding<@mesh, [{\\22x\\22}, "
              "{}]>\"}}) {\n"
              "  return\n"
              "}\n",
              {}, "step.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].str(),
            "step.mlir:2:17: error: 'func.func' op argument 0: sharding has 2 "
            "dims, expected 1 as in 'tensor<4xf32>'");
}

TEST(Compile, ReportCountsProductsByGroups) {
  CompileOptions options;
  options.report = true;
  CompileResult result = compile(R"(
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %a: tensor<4x6xf32>,
        %b: tensor<3x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>},
        %sizes: tensor<3xi32>) -> tensor<4x8xf32> {
      %0 = "chlo.ragged_dot"(%a, %b, %sizes) <{
        ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
          lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> :
        (tensor<4x6xf32>, tensor<3x6x8xf32>, tensor<3xi32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    })",
                                 options);
  ASSERT_TRUE(result.ok);
  // 2 * 4 * 6 * 8, as each row meets one group, and a half of it.
  EXPECT_EQ(str(result.report.getAsObject()->get("contraction_flops")),
            R"({"global":384,"per_device":192})");
}

TEST(Compile, ReportCountsWhatIsInTheProgram) {
  CompileOptions options;
  options.report = true;
  CompileResult result = compile(kMatmul, options);
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
  // It is made when asked for, and the program is the same.
  CompileResult without = compile(kMatmul);
  EXPECT_EQ(without.report, nullptr);
  EXPECT_EQ(without.text, result.text);
}

TEST(Compile, StopsAfterTheStageAskedFor) {
  CompileOptions options;
  options.to = "collectives";
  options.report = true;
  CompileResult result = compile(kMatmul, options);
  ASSERT_TRUE(result.ok);
  EXPECT_NE(result.text.find("sdy.all_reduce"), std::string::npos);
  EXPECT_TRUE(result.manifest.has_value());
  EXPECT_EQ(result.report, nullptr);
}

TEST(Compile, BadTextIsADiagnosticWithItsPlace) {
  CompileResult result = compile("module { foo.bar }", {}, "model.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics[0].severity, "error");
  EXPECT_EQ(result.diagnostics[0].location, "model.mlir:1:10");
}

/// What `text` is in bytecode after the stage `to`.
CompileResult inBytecode(llvm::StringRef text, llvm::StringRef to) {
  CompileOptions options;
  options.to = to;
  options.bytecode = true;
  return compile(text, options);
}

TEST(Compile, AnUnknownDialectIsToldWhichAreKnown) {
  CompileResult result = compile("func.func @main() {\n"
                                 "  \"foo.bar\"() : () -> ()\n"
                                 "  return\n}",
                                 {}, "unknown.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  const CompileDiagnostic &error = result.diagnostics.front();
  EXPECT_EQ(error.location.substr(0, 14), "unknown.mlir:2");
  EXPECT_NE(error.message.find("a dialect that is not known, expected one of"),
            std::string::npos);
  EXPECT_NE(error.message.find("stablehlo"), std::string::npos);
}

TEST(Compile, BytecodeIsReadAndWritten) {
  // Every stage's program, stages of all dialects among them.
  for (Stage stage : allStages()) {
    CompileResult bytecode = inBytecode(kMatmul, toString(stage));
    ASSERT_TRUE(bytecode.ok);
    EXPECT_TRUE(llvm::StringRef(bytecode.text).starts_with("ML\xefR"));
    CompileOptions onlyPrint, upTo;
    onlyPrint.to = "parse";
    upTo.to = toString(stage);
    CompileResult read = compile(bytecode.text, onlyPrint);
    ASSERT_TRUE(read.ok);
    EXPECT_EQ(read.text, compile(kMatmul, upTo).text);
  }
}

TEST(Compile, TruncatedBytecodeIsADiagnostic) {
  CompileResult whole = inBytecode(kMatmul, "parse");
  ASSERT_TRUE(whole.ok);
  for (size_t length = 1; length < whole.text.size(); ++length) {
    CompileResult result =
        compile(llvm::StringRef(whole.text).take_front(length));
    EXPECT_FALSE(result.ok) << "truncated to " << length;
    EXPECT_FALSE(result.diagnostics.empty()) << "truncated to " << length;
  }
}

TEST(Compile, DamagedBytecodeIsADiagnostic) {
  CompileOptions onlyParse;
  onlyParse.to = "parse";
  CompileResult whole = inBytecode(kMatmul, "parse");
  ASSERT_TRUE(whole.ok);
  // From behind the version on: MLIR refuses most changes before itself.
  for (size_t place = 5 + sizeof("Shardonnay"); place < whole.text.size();
       ++place)
    for (int flip : {1, 16, 128, 255}) {
      std::string damaged = whole.text;
      damaged[place] = static_cast<char>(damaged[place] ^ flip);
      CompileResult result = compile(damaged, onlyParse);
      ASSERT_FALSE(result.ok);
      ASSERT_EQ(result.diagnostics.size(), 1u);
      EXPECT_EQ(result.diagnostics.front().message,
                "the bytecode is damaged: its checksum is wrong; copy or write "
                "it again");
    }
}

TEST(Compile, BytecodeWithoutAChecksumIsReadWithCare) {
  CompileResult whole = inBytecode(kMatmul, "parse");
  ASSERT_TRUE(whole.ok);
  // As any other MLIR would call itself.
  std::string foreign = whole.text;
  foreign.replace(5, sizeof("Shardonnay") - 1, "Cabernet22");
  EXPECT_TRUE(compile(foreign).ok);
  // Empty sections, and one of 2^63 - 1 strings: LLVM aborts over the memory
  // for these, and we come back.
  std::string damaged = foreign.substr(0, foreign.find('\0', 5) + 1);
  for (char section : {1, 2, 3, 4, 8})
    damaged += {section, /*length 0*/ 1};
  damaged += {0, /*length 9*/ 19, /*eight bytes*/ 0};
  damaged += std::string(7, '\xff') + '\x7f';
  CompileResult result = compile(damaged);
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics.front().message,
            "the bytecode is damaged: MLIR's reader gave up; write it again, "
            "or print the program as text");
}

TEST(Compile, DamagedBytecodeWithoutAChecksumComesToAnEnd) {
  CompileOptions onlyParse;
  onlyParse.to = "parse";
  std::string foreign = inBytecode(kMatmul, "parse").text;
  foreign.replace(5, sizeof("Shardonnay") - 1, "Cabernet22");
  // A sample of places; all of them take minutes.
  for (size_t place = 4; place < foreign.size(); place += 7) {
    std::string damaged = foreign;
    damaged[place] = static_cast<char>(damaged[place] ^ 255);
    CompileResult result = compile(damaged, onlyParse);
    EXPECT_TRUE(result.ok || !result.diagnostics.empty()) << place;
  }
}

TEST(Options, StagesAreThoseThatThereAre) {
  const OptionInfo &to = allOptions().front();
  llvm::SmallVector<llvm::StringRef> stages{"parse"};
  for (Stage stage : allStages())
    stages.push_back(toString(stage));
  EXPECT_EQ(to.name, "to");
  EXPECT_EQ(to.choices(), stages);
}

TEST(Options, MistakesAreNamed) {
  EXPECT_EQ(findMistake(Options()), "");
  CompileOptions options;
  options.searchMode = "fast";
  EXPECT_EQ(findMistake(options),
            "search-mode: expected one of graph, greedy, got 'fast'");
  options = {};
  options.timeLimit = std::nan("");
  EXPECT_EQ(findMistake(options),
            "time-limit: expected 0 (none) or more, got nan");
  options = {};
  options.memoryLimit = -1;
  CompileResult result = compile(kMatmul, options, "step.mlir");
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(
      result.diagnostics[0].str(),
      "step.mlir: error: memory-limit: expected 0 (none) or more, got -1");
}

TEST(Compile, EndsWhereItIsAskedTo) {
  CompileOptions options;
  std::vector<Stage> seen;
  options.goesOn = [&](Stage stage) {
    seen.push_back(stage);
    return stage != Stage::Reshard;
  };
  CompileResult result = compile(kMatmul, options);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(seen, allStages().take_front(4).vec());
}

/// The bias, element by element, and the batch compete for the rows of the
/// products: both orders of propagation are planned. And what no device can
/// compute on shards warns.
constexpr llvm::StringLiteral kContested = R"mlir(
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<32x32xf32>,
    %c: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %d: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<16x32xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.add %0, %c : tensor<16x32xf32>
  %2 = stablehlo.dot %1, %b : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %2, %c : tensor<16x32xf32>
  %4 = stablehlo.dot %3, %b : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %5 = stablehlo.custom_call @unknown(%d) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %4, %5 : tensor<16x32xf32>, tensor<16x32xf32>
}
)mlir";

TEST(Compile, APlanThatWasPricedIsTakenAsItIs) {
  CompileOptions options;
  options.deviceModel = "bytes";
  options.report = true;
  std::vector<Stage> seen;
  options.goesOn = [&](Stage stage) {
    seen.push_back(stage);
    return true;
  };
  CompileResult result = compile(kContested, options);
  ASSERT_TRUE(result.ok);
  EXPECT_EQ(seen, allStages().vec());
  ASSERT_TRUE(result.manifest);
  EXPECT_EQ(result.manifest->inputs.size(), 4u);
  const json::Object &report = *result.report.getAsObject();
  const json::Object &price = *report.getObject("price");
  EXPECT_DOUBLE_EQ(*report.getObject("order")->getNumber("price"),
                   *price.getNumber("emitted") + *price.getNumber("compute"));
  EXPECT_GT(*price.getNumber("planned"), 0);
  // The plan's warning and its note, once, and the one of the last stage.
  ASSERT_EQ(result.diagnostics.size(), 3u);
  EXPECT_NE(result.diagnostics[0].message.find("cannot be computed sharded"),
            std::string::npos);
  // Without a report it is the same program.
  options.report = false;
  EXPECT_EQ(compile(kContested, options).text, result.text);
}

TEST(Compile, ALimitThatATriedPlanExceedsIsSaid) {
  CompileOptions options;
  options.deviceModel = "bytes";
  options.timeLimit = 0.2;
  options.goesOn = [&](Stage stage) {
    if (stage == Stage::Propagate)
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return true;
  };
  CompileResult result = compile(kContested, options);
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].message.find("the time limit of 0.2 s is "),
            0u);
}

TEST(Stages, NamesRoundTrip) {
  for (Stage stage : allStages())
    EXPECT_EQ(parseStage(toString(stage)), stage);
  EXPECT_EQ(parseStage("nothing"), std::nullopt);
}

} // namespace
