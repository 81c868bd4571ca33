//===- BytecodeTest.cpp - attributes through bytecode ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::ReductionKind;

namespace {

template <typename... AttrTs> constexpr size_t countTypes() {
  return sizeof...(AttrTs);
}
constexpr size_t kNumAttributes = countTypes<
#define GET_ATTRDEF_LIST
#include "shardonnay/dialect/sdy/Attributes.cpp.inc"
    >();

class BytecodeTest : public ::testing::Test {
protected:
  BytecodeTest() {
    context.loadDialect<SdyDialect>();
    context.allowUnregisteredDialects();
  }

  /// A module that holds `attr`, in bytecode.
  std::string write(Attribute attr) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    (*module)->setAttr("test.attr", attr);
    return write(*module);
  }
  static std::string write(ModuleOp module) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(module, os)));
    return bytes;
  }

  /// Null if there was an error; what it said is in `errors`.
  OwningOpRef<ModuleOp> read(StringRef bytes) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      return success();
    });
    return parseSourceString<ModuleOp>(bytes, ParserConfig(&context));
  }

  static std::string text(Attribute attr) {
    std::string text;
    llvm::raw_string_ostream(text) << attr;
    return text;
  }

  AxisRefAttr axis(StringRef name) {
    return AxisRefAttr::get(&context, name, {});
  }
  AxisRefAttr axis(StringRef name, int64_t preSize, int64_t size) {
    return AxisRefAttr::get(&context, name,
                            SubAxisInfoAttr::get(&context, preSize, size));
  }
  DimensionShardingAttr dim(ArrayRef<AxisRefAttr> axes, bool isClosed,
                            std::optional<int64_t> priority = {}) {
    return DimensionShardingAttr::get(&context, axes, isClosed, priority);
  }
  FlatSymbolRefAttr mesh() { return FlatSymbolRefAttr::get(&context, "mesh"); }
  TensorShardingAttr partial(ReductionKind kind, ArrayRef<AxisRefAttr> axes) {
    return TensorShardingAttr::get(&context, mesh(),
                                   {dim({axis("x"), axis("z", 2, 4)}, false)},
                                   {axis("w")}, axes, kind);
  }
  TensorMappingAttr mapping(ArrayRef<int64_t> factors) {
    return TensorMappingAttr::get(&context,
                                  {DimMappingAttr::get(&context, factors),
                                   DimMappingAttr::get(&context, {})});
  }

  SmallVector<Attribute> meshesAndAxes() {
    auto x = MeshAxisAttr::get(&context, "x", 2);
    auto long2 = MeshAxisAttr::get(&context, "a long \"name\"\n", 1LL << 40);
    return {x,
            long2,
            MeshAttr::get(&context, {}, {}),
            MeshAttr::get(&context, {}, {7}),
            MeshAttr::get(&context, {x, long2}, {}),
            MeshAttr::get(&context, {x}, {1, 0}),
            SubAxisInfoAttr::get(&context, 2, 4),
            axis("x"),
            axis("x", 1, 2),
            AxisRefListAttr::get(&context, {}),
            AxisRefListAttr::get(&context, {axis("x"), axis("y", 1, 4)}),
            ListOfAxisRefListsAttr::get(
                &context, {AxisRefListAttr::get(&context, {axis("x")}),
                           AxisRefListAttr::get(&context, {})}),
            ManualAxesAttr::get(&context, {StringAttr::get(&context, "x"),
                                           StringAttr::get(&context, "y")})};
  }

  SmallVector<Attribute> shardings() {
    SmallVector<Attribute> all = {
        dim({}, true),
        dim({}, false, 0),
        dim({axis("x")}, true, 1LL << 50),
        dim({axis("x"), axis("y", 2, 2)}, false, 3),
        TensorShardingAttr::get(&context, mesh(), {}),
        TensorShardingAttr::get(&context, MeshAttr::get(&context, {}, {1}),
                                {})};
    SmallVector<TensorShardingAttr> perValue;
    for (ReductionKind kind :
         {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min}) {
      all.push_back(ReductionKindAttr::get(&context, kind));
      perValue.push_back(partial(kind, {axis("y"), axis("v", 1, 2)}));
      perValue.push_back(partial(kind, {}));
    }
    all.append(perValue.begin(), perValue.end());
    all.push_back(TensorShardingPerValueAttr::get(&context, perValue));
    all.push_back(TensorShardingPerValueAttr::get(&context, {}));
    return all;
  }

  SmallVector<Attribute> rulesAndParameters() {
    auto param =
        AllToAllParamAttr::get(&context, {axis("x"), axis("y", 1, 2)}, 0, 300);
    return {DimMappingAttr::get(&context, {0, 40}),
            mapping({0, 1}),
            OpShardingRuleAttr::get(
                &context, {2, 3, 5, -1}, {mapping({0, 1}), mapping({2})},
                {mapping({0}), mapping({})}, {1}, {2}, {3}, {0, 1}, false),
            OpShardingRuleAttr::get(&context, {}, {}, {}, {}, {}, {}, {}, true),
            param,
            AllToAllParamListAttr::get(&context, {param, param}),
            AllToAllParamListAttr::get(&context, {})};
  }

  SmallVector<Attribute> records() {
    auto operand = EdgeValueRefAttr::get(&context, EdgeNodeType::OPERAND, 300);
    auto result = EdgeValueRefAttr::get(&context, EdgeNodeType::RESULT, 0);
    auto details = AxisToPropagationDetailsAttr::get(&context, axis("x", 1, 2),
                                                     operand, {result, result});
    auto step = PropagationOneStepAttr::get(&context, 7, {details});
    return {operand,
            result,
            details,
            step,
            PropagationEdgesAttr::get(&context, {step}),
            PropagationEdgesAttr::get(&context, {})};
  }

  SmallVector<Attribute> all() {
    SmallVector<Attribute> all = meshesAndAxes();
    all.append(shardings());
    all.append(rulesAndParameters());
    all.append(records());
    return all;
  }

  MLIRContext context;
  std::vector<std::string> errors;
};

TEST_F(BytecodeTest, EveryAttributeComesBack) {
  llvm::DenseSet<TypeID> kinds;
  for (Attribute attr : all()) {
    kinds.insert(attr.getTypeID());
    std::string bytes = write(attr);
    OwningOpRef<ModuleOp> module = read(bytes);
    ASSERT_TRUE(module) << (errors.empty() ? "" : errors.front());
    EXPECT_EQ((*module)->getAttr("test.attr"), attr) << text(attr);
    EXPECT_EQ(bytes.find(text(attr)), std::string::npos)
        << text(attr) << " is written as text";
  }
  EXPECT_EQ(kinds.size(), kNumAttributes)
      << "an attribute has no form in bytecode, or no example here; see "
         "Bytecode.h for how to add one";
}

TEST_F(BytecodeTest, FormIsCompact) {
  auto size = [&](Attribute attr) { return write(attr).size(); };
  // What a module with any attribute takes.
  size_t empty = size(TensorShardingPerValueAttr::get(&context, {}));
  auto sharding = TensorShardingAttr::get(
      &context, mesh(), {dim({axis("x")}, true), dim({}, true)});
  auto list = TensorShardingPerValueAttr::get(
      &context, SmallVector<TensorShardingAttr>(100, sharding));
  // The sharding and its mesh stand once, and then a byte for each value.
  EXPECT_LT(size(list), empty + 100 + 50);
}

TEST_F(BytecodeTest, TruncatedBytecodeIsAnError) {
  for (Attribute attr : all()) {
    std::string bytes = write(attr);
    for (size_t length = 4; length < bytes.size(); ++length) {
      OwningOpRef<ModuleOp> module = read(StringRef(bytes).take_front(length));
      EXPECT_FALSE(module) << text(attr) << " truncated to " << length;
      EXPECT_FALSE(errors.empty()) << text(attr) << " truncated to " << length;
    }
  }
}

TEST_F(BytecodeTest, WhatIsReadIsVerified) {
  std::string bytes =
      write(AllToAllParamAttr::get(&context, {axis("x")}, 0, 1));
  // The code and the number of axes, each n << 1 | 1: none instead of one. The
  // same two bytes may stand elsewhere, where others complain.
  std::vector<std::string> first;
  for (size_t place = bytes.find("\x1d\x05"); place != std::string::npos;
       place = bytes.find("\x1d\x05", place + 1)) {
    std::string damaged = bytes;
    damaged[place + 1] = '\x01';
    EXPECT_FALSE(read(damaged));
    ASSERT_FALSE(errors.empty());
    first.push_back(errors.front());
  }
  EXPECT_TRUE(llvm::is_contained(first, "expected axes in each move"));
}

} // namespace
