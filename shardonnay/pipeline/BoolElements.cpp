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
#include <algorithm>
#include <optional>
#include <string_view>

using namespace llvm;

namespace shardonnay {

static constexpr std::string_view kDigitsBegin("dense<\"0x");

/// The number of elements in `"> : tensor<8x16xi1>...`; nothing if they are not
/// i1.
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
/// Most of a large text is digits, so both ends of them are looked for by
/// memchr.
static void recode(std::string &text, function_ref<uint64_t(uint64_t)> digitsOf,
                   function_ref<std::string(StringRef, uint64_t)> toDigits) {
  std::string_view all = text;
  std::string result;
  size_t numCopied = 0;
  for (size_t at = 0; (at = all.find(kDigitsBegin, at)) != all.npos;) {
    at += kDigitsBegin.size();
    size_t end = std::min(all.find('"', at), all.size());
    std::optional<uint64_t> count = countBools(all.substr(end));
    StringRef digits = all.substr(at, end - at);
    if (!count || digits.size() != digitsOf(*count) ||
        !all_of(digits, isHexDigit))
      continue;
    result += all.substr(numCopied, at - numCopied);
    result += toDigits(digits, *count);
    numCopied = end;
  }
  if (numCopied == 0)
    return;
  result += all.substr(numCopied);
  text = std::move(result);
}

static uint64_t digitsPacked(uint64_t count) {
  return 2 * divideCeil(count, 8);
}
static uint64_t digitsUnpacked(uint64_t count) { return 2 * count; }

void packBoolElements(std::string &text) {
  recode(text, digitsUnpacked, [](StringRef digits, uint64_t count) {
    std::string bytes(divideCeil(count, 8), 0);
    for (uint64_t i = 0; i < count; ++i)
      if (digits.substr(2 * i, 2) != "00")
        bytes[i / 8] |= 1 << (i % 8);
    return toHex(bytes);
  });
}

void unpackBoolElements(std::string &text) {
  recode(text, digitsPacked, [](StringRef digits, uint64_t count) {
    std::string bytes = fromHex(digits), result;
    for (uint64_t i = 0; i < count; ++i)
      result += bytes[i / 8] >> (i % 8) & 1 ? "01" : "00";
    return result;
  });
}

} // namespace shardonnay
