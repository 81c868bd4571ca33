//===- AttributeSyntax.cpp - text of the sdy attributes -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text is the one that jaxlib's own sdy dialect prints and parses, the
// reduction kinds aside, which it does not know.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::ReductionKind;
using Delimiter = AsmParser::Delimiter;

//===----------------------------------------------------------------------===//
// Lists and kinds
//===----------------------------------------------------------------------===//

/// Parses attributes in their short form (without `#sdy.`), comma-separated.
template <typename AttrT>
static ParseResult parseList(AsmParser &parser, Delimiter delimiter,
                             SmallVectorImpl<AttrT> &list) {
  return parser.parseCommaSeparatedList(delimiter, [&] {
    return parser.parseCustomAttributeWithFallback(list.emplace_back());
  });
}

template <typename AttrT>
static void printList(AsmPrinter &printer, StringRef open, ArrayRef<AttrT> list,
                      StringRef close) {
  printer << open;
  llvm::interleaveComma(list, printer, [&](AttrT attr) {
    printer.printStrippedAttrOrType(attr);
  });
  printer << close;
}

/// Parses an optional `sum`, `max` or `min`.
static std::optional<ReductionKind> parseKind(AsmParser &parser) {
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword, {"sum", "max", "min"})))
    return std::nullopt;
  return llvm::StringSwitch<ReductionKind>(keyword)
      .Case("max", ReductionKind::Max)
      .Case("min", ReductionKind::Min)
      .Default(ReductionKind::Sum);
}

Attribute ReductionKindAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  std::optional<ReductionKind> kind = parseKind(parser);
  if (!kind) {
    parser.emitError(parser.getCurrentLocation(),
                     "expected 'sum', 'max' or 'min'");
    return {};
  }
  return parser.parseGreater() ? Attribute() : get(parser.getContext(), *kind);
}

void ReductionKindAttr::print(AsmPrinter &printer) const {
  printer << '<' << shardonnay::toString(getValue()) << '>';
}

ParseResult mlir::sdy::parseOptionalReductionKind(AsmParser &parser,
                                                  ReductionKindAttr &kind) {
  ReductionKind value = parseKind(parser).value_or(ReductionKind::Sum);
  if (value != ReductionKind::Sum)
    kind = ReductionKindAttr::get(parser.getContext(), value);
  return success();
}

void mlir::sdy::printOptionalReductionKind(AsmPrinter &printer, Operation *,
                                           ReductionKindAttr kind) {
  if (kind && kind.getValue() != ReductionKind::Sum)
    printer << ' ' << shardonnay::toString(kind.getValue());
}

//===----------------------------------------------------------------------===//
// Meshes and axes
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&name) || parser.parseEqual())
    return {};
  if (succeeded(parser.parseOptionalQuestion()))
    size = ShapedType::kDynamic;
  else if (parser.parseInteger(size))
    return {};
  return parser.getChecked<MeshAxisAttr>(loc, parser.getContext(),
                                         StringRef(name), size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << '=';
  if (hasSize())
    printer << getSize();
  else
    printer << '?';
}

/// The product of the sizes; 0 if it does not fit.
static int64_t countDevices(ArrayRef<MeshAxisAttr> axes) {
  int64_t product = 1;
  for (MeshAxisAttr axis : axes)
    if (llvm::MulOverflow(product, axis.getSize(), product))
      return 0;
  return product;
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  bool hasIds = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseList(parser, Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    hasIds = true;
    if (parser.parseKeyword("device_ids") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(Delimiter::Square, [&] {
          return parser.parseInteger(ids.emplace_back());
        }))
      return {};
  }
  if (hasIds && ids.empty()) { // C3
    parser.emitError(loc, "expected device ids, got none: leave the list out");
    return {};
  }
  if (parser.parseGreater())
    return {};
  // The identity may be written, and says nothing.
  if (!axes.empty() && llvm::equal(ids, llvm::seq<int64_t>(0, ids.size())) &&
      static_cast<int64_t>(ids.size()) == countDevices(axes))
    ids.clear();
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), ArrayRef(axes),
                                     ArrayRef(ids));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printList(printer, "<[", getAxes(), "]");
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << ']';
  }
  printer << '>';
}

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t pre, size;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseInteger(pre) ||
      parser.parseRParen() || parser.parseInteger(size))
    return {};
  return parser.getChecked<SubAxisInfoAttr>(loc, parser.getContext(), pre,
                                            size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << '(' << getPreSize() << ')' << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SubAxisInfoAttr subAxis;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon()) &&
      parser.parseCustomAttributeWithFallback(subAxis))
    return {};
  return get(parser.getContext(), name, subAxis);
}

std::string AxisRefAttr::toString() const {
  std::string text = "\"" + getName().str() + "\"";
  if (SubAxisInfoAttr part = getSubAxisInfo())
    text += ":(" + std::to_string(part.getPreSize()) + ")" +
            std::to_string(part.getSize());
  return text;
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (getSubAxisInfo()) {
    printer << ':';
    printer.printStrippedAttrOrType(getSubAxisInfo());
  }
}

Attribute AxisRefListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  if (parseList(parser, Delimiter::Braces, axes))
    return {};
  return get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter &printer) const {
  printList(printer, "{", getValue(), "}");
}

Attribute ListOfAxisRefListsAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefListAttr> lists;
  if (parseList(parser, Delimiter::Square, lists))
    return {};
  return get(parser.getContext(), lists);
}

void ListOfAxisRefListsAttr::print(AsmPrinter &printer) const {
  printList(printer, "[", getValue(), "]");
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  if (parser.parseCommaSeparatedList(Delimiter::Braces, [&] {
        std::string name;
        if (parser.parseString(&name))
          return failure();
        names.push_back(StringAttr::get(parser.getContext(), name));
        return success();
      }))
    return {};
  return get(parser.getContext(), names);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getValue(), printer, [&](StringAttr name) {
    printer.printString(name.getValue());
  });
  printer << '}';
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// Parses an optional `p<N>`.
static ParseResult parsePriority(AsmParser &parser,
                                 std::optional<int64_t> &priority) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return success();
  int64_t value;
  if (keyword == "p" && succeeded(parser.parseOptionalMinus())) {
    if (parser.parseInteger(value))
      return failure();
    if (value < 0) // C21
      return parser.emitError(loc, "expected a priority 'p<number>'");
    priority = -value; // for the verifier to refuse
    return success();
  }
  if (!keyword.consume_front("p") || keyword.getAsInteger(10, value)) // C21
    return parser.emitError(loc, "expected a priority 'p<number>'");
  priority = value;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  std::optional<int64_t> priority;
  if (parser.parseLBrace())
    return {};
  if (failed(parser.parseOptionalRBrace())) {
    do {
      if (succeeded(parser.parseOptionalQuestion())) {
        isClosed = false;
        break;
      }
      if (parser.parseCustomAttributeWithFallback(axes.emplace_back()))
        return {};
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRBrace())
      return {};
  }
  if (parsePriority(parser, priority))
    return {};
  return get(parser.getContext(), axes, isClosed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printList(printer, "{", getAxes(), "");
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

/// A mesh's name, or `mesh<[...]>`.
static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &meshOrRef) {
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    MeshAttr mesh;
    if (parser.parseCustomAttributeWithFallback(mesh))
      return failure();
    meshOrRef = mesh;
    return success();
  }
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  meshOrRef = FlatSymbolRefAttr::get(name);
  return success();
}

/// Parses the list of `name`, which is not written without axes, nor twice.
static ParseResult parseAxes(AsmParser &parser, StringRef name,
                             SmallVectorImpl<AxisRefAttr> &axes) {
  SMLoc loc = parser.getCurrentLocation();
  if (!axes.empty()) // C25
    return parser.emitError(loc) << "the " << name << " axes are given twice";
  if (parseList(parser, Delimiter::Braces, axes))
    return failure();
  if (axes.empty()) // C25
    return parser.emitError(loc)
           << "expected " << name << " axes, got none: leave the list out";
  return success();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute meshOrRef;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionKind kind = ReductionKind::Sum;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseMeshOrRef(parser, meshOrRef) ||
      parser.parseComma() || parseList(parser, Delimiter::Square, dims))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual() || parseAxes(parser, "replicated", replicated))
        return {};
      continue;
    }
    if (parser.parseKeyword("unreduced") || parser.parseEqual())
      return {};
    kind = parseKind(parser).value_or(ReductionKind::Sum);
    if (parseAxes(parser, "unreduced", unreduced))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorShardingAttr>(
      loc, parser.getContext(), meshOrRef, ArrayRef(dims), ArrayRef(replicated),
      ArrayRef(unreduced), kind);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    printer.printStrippedAttrOrType(mesh);
  } else {
    printer.printAttribute(getMeshOrRef());
  }
  printList(printer, ", [", getDimShardings(), "]");
  if (!getReplicatedAxes().empty())
    printList(printer, ", replicated={", getReplicatedAxes(), "}");
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getReductionKind() != ReductionKind::Sum)
      printer << shardonnay::toString(getReductionKind());
    printList(printer, "{", getUnreducedAxes(), "}");
  }
  printer << '>';
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, shardings) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printList(printer, "<[", getShardings(), "]>");
}

//===----------------------------------------------------------------------===//
// Parameters of collectives
//===----------------------------------------------------------------------===//

Attribute AllToAllParamAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  int64_t source, target;
  SMLoc loc = parser.getCurrentLocation();
  if (parseList(parser, Delimiter::Braces, axes) || parser.parseColon() ||
      parser.parseInteger(source) || parser.parseArrow() ||
      parser.parseInteger(target))
    return {};
  return parser.getChecked<AllToAllParamAttr>(loc, parser.getContext(),
                                              ArrayRef(axes), source, target);
}

void AllToAllParamAttr::print(AsmPrinter &printer) const {
  printList(printer, "{", getAxes(), "}: ");
  printer << getSrcDim() << "->" << getTgtDim();
}

Attribute AllToAllParamListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AllToAllParamAttr> params;
  if (parseList(parser, Delimiter::Square, params))
    return {};
  return get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter &printer) const {
  printList(printer, "[", getValue(), "]");
}
