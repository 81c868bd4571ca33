//===- AttributeFuzzer.cpp - text of sdy attributes -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text gives an attribute or an error; what an attribute prints is that
// attribute.
//
//===----------------------------------------------------------------------===//

#include "Fuzzing.h"
#include "mlir/AsmParser/AsmParser.h"
#include "shardonnay/dialect/sdy/Attributes.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzzing::context<sdy::SdyDialect>();
  fuzzing::Errors errors(context);
  std::string text = fuzzing::toText(data, size);
  Attribute attr = parseAttribute(text, &context);
  fuzzing::require(attr || errors.any(), "no attribute and no error", text);
  if (!attr)
    return 0;
  std::string printed = fuzzing::print(attr);
  fuzzing::require(parseAttribute(printed, &context) == attr,
                   "printed as another attribute", printed);
  return 0;
}
