//===- Options.cpp - what a user may choose about a compilation -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <sstream>

namespace shardonnay {

llvm::ArrayRef<OptionInfo> allOptions() {
  static const OptionInfo all[] = {
#define SHARDONNAY_OPTION(type, field, name, initial, value, help)             \
  {name, &Options::field, value, help},
#include "shardonnay/pipeline/Options.def"
  };
  return all;
}

llvm::SmallVector<llvm::StringRef> OptionInfo::choices() const {
  llvm::SmallVector<llvm::StringRef> all;
  if (value.contains('|'))
    value.split(all, '|');
  return all;
}

std::string findMistake(const OptionInfo &option, const Options &options) {
  auto ofNumber = [](auto number) -> std::string {
    if (number >= 0) // Not so of NaN.
      return "";
    std::ostringstream text;
    text << "expected 0 (none) or more, got " << number;
    return text.str();
  };
  if (const auto *field = std::get_if<int64_t Options::*>(&option.field))
    return ofNumber(options.**field);
  if (const auto *field = std::get_if<double Options::*>(&option.field))
    return ofNumber(options.**field);
  const auto *field = std::get_if<std::string Options::*>(&option.field);
  llvm::SmallVector<llvm::StringRef> choices = option.choices();
  if (!field || choices.empty() || llvm::is_contained(choices, options.**field))
    return "";
  return llvm::formatv("expected one of {0}, got '{1}'",
                       llvm::join(choices, ", "), options.**field);
}

std::string findMistake(const Options &options) {
  for (const OptionInfo &option : allOptions())
    if (std::string mistake = findMistake(option, options); !mistake.empty())
      return option.name.str() + ": " + mistake;
  return "";
}

} // namespace shardonnay
