//===- ModelsTest.cpp - every op of the dialects has a model or a reason --===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Models.h"
#include "mlir/IR/MLIRContext.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace shardonnay {
namespace {

class Models : public testing::Test {
protected:
  Models() {
    DialectRegistry registry;
    registry.insert<stablehlo::StablehloDialect, chlo::ChloDialect>();
    registerStablehloModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// MLIR 22's getRegisteredOperationsByDialect leaves out some.
  std::vector<RegisteredOperationName> ops() {
    std::vector<RegisteredOperationName> all;
    for (RegisteredOperationName op : context.getRegisteredOperations())
      if (StringRef dialect = op.getDialectNamespace();
          dialect == "stablehlo" || dialect == "chlo")
        all.push_back(op);
    return all;
  }

  static bool hasModel(RegisteredOperationName op) {
    return op.hasInterface<ShardingRuleOpInterface>() ||
           op.hasInterface<ShardableDataFlowOpInterface>() ||
           op.hasTrait<OpTrait::ConstantLike>() ||
           op.hasTrait<OpTrait::IsTerminator>();
  }

  MLIRContext context;
};

/// The names in the first column of the table "Ops without a rule".
llvm::StringSet<> documentedOps() {
  auto file = llvm::MemoryBuffer::getFile(SHARDONNAY_PROPAGATION_DOCUMENT);
  EXPECT_TRUE(file) << SHARDONNAY_PROPAGATION_DOCUMENT;
  llvm::StringSet<> names;
  if (!file)
    return names;
  StringRef table = (*file)->getBuffer().split("## Ops without a rule").second;
  table = table.take_until([](char c) { return c == '#'; });
  SmallVector<StringRef> lines;
  table.split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.starts_with("| `"))
      continue;
    SmallVector<StringRef> quoted;
    line.drop_front().split('|').first.split(quoted, '`');
    for (size_t i = 1; i < quoted.size(); i += 2)
      names.insert(quoted[i]);
  }
  return names;
}

TEST_F(Models, EveryOpHasOneOrAReason) {
  llvm::StringSet<> reasons = documentedOps();
  std::vector<RegisteredOperationName> all = ops();
  EXPECT_GT(all.size(), 150u);
  for (RegisteredOperationName op : all)
    EXPECT_NE(hasModel(op), reasons.contains(op.getStringRef()))
        << op.getStringRef().str()
        << " has neither a rule nor a row in docs/design/propagation.md, or "
           "both";
}

TEST_F(Models, EveryReasonIsOfAnOp) {
  for (const auto &entry : documentedOps())
    EXPECT_TRUE(
        RegisteredOperationName::lookup(entry.getKey(), &context).has_value())
        << entry.getKey().str();
}

TEST_F(Models, WhatHasARuleCanBeComputed) {
  for (RegisteredOperationName op : ops())
    if (op.hasInterface<ShardingRuleOpInterface>())
      EXPECT_TRUE(op.hasInterface<LocalComputeOpInterface>())
          << op.getStringRef().str();
}

} // namespace
} // namespace shardonnay
