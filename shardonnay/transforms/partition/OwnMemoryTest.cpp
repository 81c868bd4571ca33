//===- OwnMemoryTest.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OwnMemory.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;

namespace shardonnay {
namespace {

class OwnMemoryTest : public ::testing::TestWithParam<size_t> {
protected:
  OwnMemoryTest() { context.loadDialect<func::FuncDialect>(); }

  /// Two functions of so many ops.
  OwningOpRef<ModuleOp> make(size_t numOps) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
    for (StringRef name : {"a", "b"}) {
      builder.setInsertionPointToEnd(module->getBody());
      auto func = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType({}, {}));
      builder.setInsertionPointToStart(func.addEntryBlock());
      for (size_t i = 0; i < numOps; ++i)
        func::ReturnOp::create(builder, loc);
    }
    return module;
  }

  MLIRContext context;
  std::thread::id mainThread = std::this_thread::get_id();
};

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, OwnMemoryTest,
                         ::testing::Values(1, 70000));

TEST_P(OwnMemoryTest, RemakesEachFunction) {
  OwningOpRef<ModuleOp> module = make(GetParam());
  std::string names;
  LogicalResult result = remakeInOwnMemory(*module, [&](func::FuncOp func) {
    names += func.getSymName();
    EXPECT_EQ(std::this_thread::get_id() == mainThread, GetParam() == 1);
    return success();
  });
  EXPECT_TRUE(succeeded(result));
  EXPECT_EQ(names, "ab");
}

TEST_P(OwnMemoryTest, StopsAtAnErrorAndSaysItInTheCallingThread) {
  OwningOpRef<ModuleOp> module = make(GetParam());
  std::string said, names;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    EXPECT_EQ(std::this_thread::get_id(), mainThread);
    said += diagnostic.str();
    return success();
  });
  LogicalResult result = remakeInOwnMemory(*module, [&](func::FuncOp func) {
    names += func.getSymName();
    return func.emitError("is wrong");
  });
  EXPECT_TRUE(failed(result));
  EXPECT_EQ(names, "a");
  EXPECT_EQ(said, "is wrong");
}

} // namespace
} // namespace shardonnay
