//===- RuleSyntax.cpp - text of sharding rules ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sdy;
using Delimiter = AsmParser::Delimiter;

//===----------------------------------------------------------------------===//
// Factor symbols: i .. z, z_1, z_2, ...
//===----------------------------------------------------------------------===//

static void printFactor(AsmPrinter &printer, int64_t factor) {
  constexpr int64_t kLastLetter = 'z' - 'i';
  if (factor <= kLastLetter)
    printer << static_cast<char>('i' + factor);
  else
    printer << "z_" << factor - kLastLetter;
}

/// Takes one factor symbol off the front of `text`.
static std::optional<int64_t> takeFactor(StringRef &text) {
  constexpr int64_t kLastLetter = 'z' - 'i';
  if (text.empty() || text.front() < 'i' || text.front() > 'z')
    return std::nullopt;
  int64_t factor = text.front() - 'i';
  text = text.drop_front();
  if (factor != kLastLetter || !text.consume_front("_"))
    return factor;
  // 32 bits: more factors than there can be, and no sum overflows.
  uint32_t number;
  if (text.consumeInteger(10, number) || number < 1)
    return std::nullopt;
  return kLastLetter + number;
}

/// Parses one or more factor symbols without a space: `ijz_1`.
static ParseResult parseFactors(AsmParser &parser,
                                SmallVectorImpl<int64_t> &factors) {
  StringRef text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&text))
    return failure();
  while (!text.empty()) {
    StringRef rest = text;
    std::optional<int64_t> factor = takeFactor(text);
    if (!factor) // C45
      return parser.emitError(loc, "expected factors from i..z, z_1, z_2, .., "
                                   "got '")
             << rest << "'";
    factors.push_back(*factor);
  }
  return success();
}

/// Parses exactly one factor symbol.
static ParseResult parseFactor(AsmParser &parser, int64_t &factor) {
  SmallVector<int64_t> factors;
  SMLoc loc = parser.getCurrentLocation();
  if (parseFactors(parser, factors))
    return failure();
  if (factors.size() != 1) // C45
    return parser.emitError(loc, "expected one factor, got ") << factors.size();
  factor = factors.front();
  return success();
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

static void printFactors(AsmPrinter &printer, DimMappingAttr dim) {
  for (int64_t factor : dim.getFactorIndices())
    printFactor(printer, factor);
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  if (parser.parseLess() || parseFactors(parser, factors) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printFactors(printer, *this);
  printer << '>';
}

Attribute TensorMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimMappingAttr> dims;
  if (parser.parseCommaSeparatedList(Delimiter::Square, [&] {
        SmallVector<int64_t> factors;
        if (parseFactors(parser, factors))
          return failure();
        dims.push_back(DimMappingAttr::get(parser.getContext(), factors));
        return success();
      }))
    return {};
  return get(parser.getContext(), dims);
}

void TensorMappingAttr::print(AsmPrinter &printer) const {
  printer << '[';
  llvm::interleaveComma(getDimMappings(), printer, [&](DimMappingAttr dim) {
    printFactors(printer, dim);
  });
  printer << ']';
}

static ParseResult parseMappings(AsmParser &parser,
                                 SmallVectorImpl<TensorMappingAttr> &mappings) {
  return parser.parseCommaSeparatedList(Delimiter::Paren, [&] {
    return parser.parseCustomAttributeWithFallback(mappings.emplace_back());
  });
}

static void printMappings(AsmPrinter &printer,
                          ArrayRef<TensorMappingAttr> mappings) {
  printer << '(';
  llvm::interleaveComma(mappings, printer, [&](TensorMappingAttr mapping) {
    printer.printStrippedAttrOrType(mapping);
  });
  printer << ')';
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Parses `{i=2, j=4}`: every factor, in order.
static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(Delimiter::OptionalBraces, [&] {
    int64_t factor;
    SMLoc loc = parser.getCurrentLocation();
    if (parseFactor(parser, factor))
      return failure();
    if (factor != static_cast<int64_t>(sizes.size())) { // C53
      parser.emitError(loc, "expected the sizes of the factors in the order "
                            "i, j, .., z, z_1, ..");
      return failure();
    }
    if (parser.parseEqual() || parser.parseInteger(sizes.emplace_back()))
      return failure();
    return success();
  });
}

/// Parses an optional `name={i, j}`.
static ParseResult parseKind(AsmParser &parser, StringRef name,
                             SmallVectorImpl<int64_t> &factors) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  if (parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(Delimiter::Braces, [&] {
    return parseFactor(parser, factors.emplace_back());
  });
}

static void printKind(AsmPrinter &printer, StringRef name,
                      ArrayRef<int64_t> factors) {
  if (factors.empty())
    return;
  printer << ' ' << name << "={";
  llvm::interleaveComma(factors, printer,
                        [&](int64_t factor) { printFactor(printer, factor); });
  printer << '}';
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes, reduction, needReplication, permutation, blocked;
  bool isCustom = false;
  if (parser.parseLess() || parseMappings(parser, operands) ||
      parser.parseArrow() || parseMappings(parser, results) ||
      parseSizes(parser, sizes) || parseKind(parser, "reduction", reduction) ||
      parseKind(parser, "need_replication", needReplication) ||
      parseKind(parser, "permutation", permutation) ||
      parseKind(parser, "blocked_propagation", blocked))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("custom"))
      return {};
    isCustom = true;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, reduction,
             needReplication, permutation, blocked, isCustom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printMappings(printer, getOperandMappings());
  printer << "->";
  printMappings(printer, getResultMappings());
  if (!getFactorSizes().empty()) {
    printer << " {";
    llvm::interleaveComma(llvm::enumerate(getFactorSizes()), printer,
                          [&](auto factor) {
                            printFactor(printer, factor.index());
                            printer << '=' << factor.value();
                          });
    printer << '}';
  }
  printKind(printer, "reduction", getReductionFactors());
  printKind(printer, "need_replication", getNeedReplicationFactors());
  printKind(printer, "permutation", getPermutationFactors());
  printKind(printer, "blocked_propagation", getBlockedPropagationFactors());
  if (getIsCustom())
    printer << ", custom";
  printer << '>';
}
