//===- FrontendAttributes.cpp - sdy attributes as text --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/FrontendAttributes.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;

namespace shardonnay {

static constexpr llvm::StringLiteral kPrefix("xla.sdy.");

SdyTexts::SdyTexts(NamedAttrList &attributes, Location loc) : loc(loc) {
  auto all =
      dyn_cast_or_null<DictionaryAttr>(attributes.get(kFrontendAttributes));
  if (!all)
    return;
  NamedAttrList others;
  for (NamedAttribute entry : all) {
    StringRef name = entry.getName();
    if (name.consume_front(kPrefix))
      entries.set(name, entry.getValue());
    else
      others.push_back(entry);
  }
  if (others.empty())
    attributes.erase(kFrontendAttributes);
  else
    attributes.set(kFrontendAttributes, others.getDictionary(loc.getContext()));
}

FailureOr<Attribute> SdyTexts::parse(StringRef name, StringRef expected) {
  Attribute entry = entries.get(name);
  if (!entry)
    return Attribute();
  auto text = dyn_cast<StringAttr>(entry);
  if (!text)
    return fail(name, expected, "it is not text");
  std::string reason;
  Attribute attribute = parseSdyText(text, loc.getContext(), reason);
  if (!attribute)
    return fail(name, expected, reason);
  return attribute;
}

LogicalResult SdyTexts::fail(StringRef name, StringRef expected,
                             StringRef reason) {
  InFlightDiagnostic diag = emitError(loc)
                            << kPrefix << name << ": expected " << expected
                            << " as text, got " << entries.get(name);
  if (!reason.empty())
    diag << ": " << reason;
  return diag;
}

Attribute parseSdyText(StringRef text, MLIRContext *context,
                       std::string &reason) {
  // The parser's complaints have no location; the caller's has one.
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (Attribute attribute = parseAttribute(text, context))
    return attribute;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\\' || i + 1 == text.size() || text[i + 1] != '"')
      plain += text[i];
  return plain == text ? Attribute() : parseAttribute(plain, context);
}

} // namespace shardonnay
