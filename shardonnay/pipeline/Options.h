//===- Options.h - what a user may choose about a compilation ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options as a struct, and the same as a table to be read by whoever offers
// them: a pass pipeline, Python, a command line. Declared in Options.def only.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_OPTIONS_H
#define SHARDONNAY_PIPELINE_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <variant>

namespace shardonnay {

/// How the program is called: each argument (result) as the shards that its
/// sharding says, or whole on every device.
struct BoundaryMode {
  bool wholeArguments = false;
  bool wholeResults = false;
};

/// Options.def says what each is.
struct Options {
#define SHARDONNAY_OPTION(type, field, name, initial, value, help)             \
  type field = initial; // NOLINT(bugprone-macro-parentheses): a declaration
#include "shardonnay/pipeline/Options.def"

  BoundaryMode boundary() const {
    return {arguments == "whole", results == "whole"};
  }
};

/// A row of the table.
struct OptionInfo {
  using Field = std::variant<bool Options::*, int64_t Options::*,
                             double Options::*, std::string Options::*>;

  llvm::StringLiteral name;
  Field field;
  /// In a usage line; "" for a flag.
  llvm::StringLiteral value;
  llvm::StringLiteral help;

  /// The values that there are; none if there are others than these.
  llvm::SmallVector<llvm::StringRef> choices() const;
};

/// In the order of Options.def.
llvm::ArrayRef<OptionInfo> allOptions();

/// "expected ..., got ..." of an option's value; "" if it is one.
std::string findMistake(const OptionInfo &option, const Options &options);
/// Likewise of the first option with a mistake, which it names.
std::string findMistake(const Options &options);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_OPTIONS_H
