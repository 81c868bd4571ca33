//===- SourceLocationTest.cpp - where in the user's program ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/SourceLocation.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardonnay;

namespace {

struct SourceLocationTest : testing::Test {
  Location frame(llvm::StringRef file, unsigned line) {
    return FileLineColLoc::get(&context, file, line, 1);
  }
  MLIRContext context;
};

TEST_F(SourceLocationTest, UnknownSaysNothing) {
  SourceLocation source = getSourceLocation(UnknownLoc::get(&context));
  EXPECT_EQ(source.line, "");
  EXPECT_EQ(source.name, "");
}

TEST_F(SourceLocationTest, InnermostFrameOfTheUser) {
  Location library = frame("/v/site-packages/flax/linear.py", 9);
  Location layer = frame("model.py", 5), step = frame("train.py", 30);
  Location loc = CallSiteLoc::get(library, CallSiteLoc::get(layer, step));
  EXPECT_EQ(getSourceLocation(loc).line, "model.py:5:1");
}

TEST_F(SourceLocationTest, InnermostFrameIfNoneIsTheUsers) {
  Location inner = frame("/v/site-packages/flax/linear.py", 9);
  Location outer = frame("/v/dist-packages/optax/adam.py", 7);
  EXPECT_EQ(getSourceLocation(CallSiteLoc::get(inner, outer)).line,
            "/v/site-packages/flax/linear.py:9:1");
}

TEST_F(SourceLocationTest, OutermostName) {
  Location loc = NameLoc::get(
      StringAttr::get(&context, "jit(step)/dot_general"),
      NameLoc::get(StringAttr::get(&context, "inner"), frame("m.py", 2)));
  SourceLocation source = getSourceLocation(loc);
  EXPECT_EQ(source.name, "jit(step)/dot_general");
  EXPECT_EQ(source.line, "m.py:2:1");
}

TEST_F(SourceLocationTest, FusedReadsItsParts) {
  Location loc =
      FusedLoc::get(&context, {UnknownLoc::get(&context), frame("a.py", 1)});
  EXPECT_EQ(getSourceLocation(loc).line, "a.py:1:1");
}

} // namespace
