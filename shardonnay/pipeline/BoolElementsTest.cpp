//===- BoolElementsTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/BoolElements.h"
#include "llvm/ADT/StringRef.h"

#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr llvm::StringLiteral
    kBytes("%0 = c dense<\"0x01000001000000000101\"> : tensor<2x5xi1>\n"
           "%1 = c dense<\"0x0102\"> : tensor<2xi8>, #a");
constexpr llvm::StringLiteral
    kBits("%0 = c dense<\"0x0903\"> : tensor<2x5xi1>\n"
          "%1 = c dense<\"0x0102\"> : tensor<2xi8>, #a");

std::string packed(std::string text) {
  packBoolElements(text);
  return text;
}

std::string unpacked(std::string text) {
  unpackBoolElements(text);
  return text;
}

TEST(BoolElements, EightBitsAByteAndBack) {
  EXPECT_EQ(packed(kBytes.str()), kBits);
  EXPECT_EQ(unpacked(kBits.str()), kBytes);
}

TEST(BoolElements, WhatStandsSoAlreadyStays) {
  EXPECT_EQ(packed(kBits.str()), kBits);
  EXPECT_EQ(unpacked(kBytes.str()), kBytes);
}

TEST(BoolElements, OtherTextStays) {
  for (llvm::StringRef text :
       {"", "dense<\"0x", "dense<\"0x01\"> : tensor<", "dense<\"0xZZ\">",
        "dense<\"0x01\"> : tensor<99999999999999999999xi1>",
        "dense<\"0x01\"> : tensor<?xi1>", "dense<true> : tensor<200xi1>"}) {
    EXPECT_EQ(packed(text.str()), text);
    EXPECT_EQ(unpacked(text.str()), text);
  }
}

} // namespace
