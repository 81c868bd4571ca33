//===- BoolElements.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/BoolElements.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace llvm;

namespace shardonnay {

static constexpr StringLiteral kDigitsBegin("dense<\"0x");

/// Of `"> : tensor<8x16xi1>...`; nothing if the elements are not i1.
static std::optional<uint64_t> countBools(StringRef text) {
  if (!text.consume_front("\"> : tensor<") &&
      !text.consume_front("\"> : vector<"))
    return std::nullopt;
  uint64_t count = 1, size = 0;
  while (!text.consumeInteger(10, size)) {
    if (!text.consume_front("x"))
      return std::nullopt;
    count *= size;
  }
  bool isBool = text.starts_with("i1>") || text.starts_with("i1,");
  return isBool ? std::optional(count) : std::nullopt;
}

/// With other digits for the i1 constants that have `digitsOf(count)` of them.
static std::string
recode(StringRef text, function_ref<uint64_t(uint64_t)> digitsOf,
       function_ref<std::string(StringRef, uint64_t)> toDigits) {
  std::string result;
  for (size_t at = 0; (at = text.find(kDigitsBegin)) != StringRef::npos;) {
    StringRef before = text.take_front(at + kDigitsBegin.size());
    text = text.drop_front(before.size());
    StringRef digits = text.take_while(isHexDigit);
    std::optional<uint64_t> count = countBools(text.substr(digits.size()));
    result += before;
    if (!count || digits.size() != digitsOf(*count))
      continue;
    result += toDigits(digits, *count);
    text = text.drop_front(digits.size());
  }
  result += text;
  return result;
}

static uint64_t digitsPacked(uint64_t count) {
  return 2 * divideCeil(count, 8);
}
static uint64_t digitsUnpacked(uint64_t count) { return 2 * count; }

std::string packBoolElements(StringRef text) {
  return recode(text, digitsUnpacked, [](StringRef digits, uint64_t count) {
    std::string bytes(divideCeil(count, 8), 0);
    for (uint64_t i = 0; i < count; ++i)
      if (digits.substr(2 * i, 2) != "00")
        bytes[i / 8] |= 1 << (i % 8);
    return toHex(bytes);
  });
}

std::string unpackBoolElements(StringRef text) {
  return recode(text, digitsPacked, [](StringRef digits, uint64_t count) {
    std::string bytes = fromHex(digits), result;
    for (uint64_t i = 0; i < count; ++i)
      result += bytes[i / 8] >> (i % 8) & 1 ? "01" : "00";
    return result;
  });
}

} // namespace shardonnay
