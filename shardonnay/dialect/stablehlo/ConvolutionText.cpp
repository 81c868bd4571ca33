//===- ConvolutionText.cpp - the text of a convolution's attributes -------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: each dim's role, for the input,
// the kernel and the output
//===----------------------------------------------------------------------===//

namespace {
/// The dims of one tensor by role: those named by a letter, then the spatial.
struct Roles {
  std::array<int64_t, 2> named;
  SmallVector<int64_t> spatial;
};
} // namespace

/// `[b, 0, 1, f]` with the letters `names`.
static FailureOr<Roles> parseRoles(AsmParser &parser,
                                   std::array<StringRef, 2> names) {
  Roles roles = {{-1, -1}, {}};
  SmallVector<std::pair<int64_t, int64_t>> spatial; // number, dim
  int64_t dim = 0;
  SMLoc loc = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      if (number < 0 ||
          llvm::is_contained(llvm::make_first_range(spatial), number))
        return parser.emitError(at, "spatial dim ")
               << number << " is negative or comes twice";
      spatial.push_back({number, dim++});
      return success();
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const auto *found = llvm::find(names, name);
    if (found == names.end() || roles.named[found - names.begin()] >= 0)
      return parser.emitError(at, "expected '")
             << names[0] << "' and '" << names[1]
             << "' once each and the numbers of spatial dims, got '" << name
             << "'";
    roles.named[found - names.begin()] = dim++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  for (auto [name, at] : llvm::zip(names, roles.named))
    if (at < 0)
      return parser.emitError(loc, "expected a dim '") << name << "'";
  llvm::sort(spatial);
  for (auto [i, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(i))
      return parser.emitError(loc, "expected a spatial dim ") << i;
    roles.spatial.push_back(entry.second);
  }
  return roles;
}

static ConvDimensionNumbersAttr parseShortNumbers(AsmParser &parser) {
  FailureOr<Roles> input = parseRoles(parser, {"b", "f"});
  if (failed(input) || parser.parseKeyword("x"))
    return {};
  FailureOr<Roles> kernel = parseRoles(parser, {"i", "o"});
  if (failed(kernel) || parser.parseArrow())
    return {};
  FailureOr<Roles> output = parseRoles(parser, {"b", "f"});
  if (failed(output))
    return {};
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), input->named[0], input->named[1], input->spatial,
      kernel->named[0], kernel->named[1], kernel->spatial, output->named[0],
      output->named[1], output->spatial);
}

static Roles inputRoles(ConvDimensionNumbersAttr numbers) {
  return {
      {numbers.getInputBatchDimension(), numbers.getInputFeatureDimension()},
      llvm::to_vector(numbers.getInputSpatialDimensions())};
}
static Roles kernelRoles(ConvDimensionNumbersAttr numbers) {
  return {{numbers.getKernelInputFeatureDimension(),
           numbers.getKernelOutputFeatureDimension()},
          llvm::to_vector(numbers.getKernelSpatialDimensions())};
}
static Roles outputRoles(ConvDimensionNumbersAttr numbers) {
  return {
      {numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension()},
      llvm::to_vector(numbers.getOutputSpatialDimensions())};
}

/// Every dim below their number has one role.
static bool isPermutation(const Roles &roles) {
  SmallVector<int64_t> dims = roles.spatial;
  dims.append(roles.named.begin(), roles.named.end());
  llvm::sort(dims);
  return llvm::equal(dims, llvm::seq<int64_t>(0, dims.size()));
}

static void printRoles(AsmPrinter &printer, const Roles &roles,
                       std::array<StringRef, 2> names) {
  SmallVector<std::string> text(roles.spatial.size() + 2);
  for (auto [name, dim] : llvm::zip(names, roles.named))
    text[dim] = name;
  for (auto [i, dim] : llvm::enumerate(roles.spatial))
    text[dim] = std::to_string(i);
  printer << '[';
  llvm::interleaveComma(text, printer);
  printer << ']';
}

/// False, and nothing printed, of numbers that the short form can't say.
static bool printShortNumbers(AsmPrinter &printer,
                              ConvDimensionNumbersAttr numbers) {
  Roles input = inputRoles(numbers), kernel = kernelRoles(numbers);
  Roles output = outputRoles(numbers);
  if (!isPermutation(input) || !isPermutation(kernel) || !isPermutation(output))
    return false;
  printRoles(printer, input, {"b", "f"});
  printer << 'x';
  printRoles(printer, kernel, {"i", "o"});
  printer << "->";
  printRoles(printer, output, {"b", "f"});
  return true;
}

//===----------------------------------------------------------------------===//
// `raw` and every field by its name
//===----------------------------------------------------------------------===//

static ConvDimensionNumbersAttr parseRawNumbers(AsmParser &parser) {
  std::array<int64_t, 6> single = {0, 0, 0, 0, 0, 0};
  std::array<SmallVector<int64_t>, 3> lists;
  static constexpr std::array<StringRef, 6> singleNames = {
      "input_batch_dimension",          "input_feature_dimension",
      "kernel_input_feature_dimension", "kernel_output_feature_dimension",
      "output_batch_dimension",         "output_feature_dimension"};
  static constexpr std::array<StringRef, 3> listNames = {
      "input_spatial_dimensions", "kernel_spatial_dimensions",
      "output_spatial_dimensions"};
  SmallVector<StringRef> seen;
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    bool again = llvm::is_contained(seen, name);
    seen.push_back(name);
    if (const auto *found = llvm::find(singleNames, name);
        found != singleNames.end() && !again)
      return parser.parseInteger(single[found - singleNames.begin()]);
    const auto *found = llvm::find(listNames, name);
    if (found == listNames.end() || again)
      return parser.emitError(at, "unknown or repeated field '") << name << "'";
    FailureOr<SmallVector<int64_t>> dims = parseDims(parser);
    if (failed(dims))
      return failure();
    lists[found - listNames.begin()] = std::move(*dims);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseField))
    return {};
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), single[0], single[1], lists[0], single[2], single[3],
      lists[1], single[4], single[5], lists[2]);
}

static void printRawNumbers(AsmPrinter &printer,
                            ConvDimensionNumbersAttr numbers) {
  auto list = [&](StringRef name, ArrayRef<int64_t> dims) {
    printer << ", " << name << " = ";
    printDims(printer, dims);
  };
  printer << "raw input_batch_dimension = " << numbers.getInputBatchDimension()
          << ", input_feature_dimension = "
          << numbers.getInputFeatureDimension();
  list("input_spatial_dimensions", numbers.getInputSpatialDimensions());
  printer << ", kernel_input_feature_dimension = "
          << numbers.getKernelInputFeatureDimension()
          << ", kernel_output_feature_dimension = "
          << numbers.getKernelOutputFeatureDimension();
  list("kernel_spatial_dimensions", numbers.getKernelSpatialDimensions());
  printer << ", output_batch_dimension = " << numbers.getOutputBatchDimension()
          << ", output_feature_dimension = "
          << numbers.getOutputFeatureDimension();
  list("output_spatial_dimensions", numbers.getOutputSpatialDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  ConvDimensionNumbersAttr numbers =
      succeeded(parser.parseOptionalKeyword("raw")) ? parseRawNumbers(parser)
                                                    : parseShortNumbers(parser);
  if (!numbers || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!printShortNumbers(printer, *this))
    printRawNumbers(printer, *this);
  printer << '>';
}

ParseResult stablehlo::parseConvolutionDims(OpAsmParser &parser,
                                            ConvDimensionNumbersAttr &numbers) {
  numbers = parseShortNumbers(parser);
  return success(numbers != nullptr);
}

// A verified op's numbers have a short form.
void stablehlo::printConvolutionDims(OpAsmPrinter &printer, Operation *,
                                     ConvDimensionNumbersAttr numbers) {
  if (!printShortNumbers(printer, numbers))
    printRawNumbers(printer, numbers);
}

//===----------------------------------------------------------------------===//
// `stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1],
//  rhs_dilate = [1, 1], reverse = [false, false]`
//===----------------------------------------------------------------------===//

static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> flat;
  int64_t pairs = 0;
  auto parsePair = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    FailureOr<SmallVector<int64_t>> pair = parseDims(parser);
    if (failed(pair))
      return failure();
    if (pair->size() != 2)
      return parser.emitError(loc, "expected a low and a high padding, got ")
             << pair->size() << " numbers";
    flat.append(*pair);
    ++pairs;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  auto type =
      RankedTensorType::get({pairs, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, flat);
  return success();
}

/// `[true, 0]`
static ParseResult parseFlags(OpAsmParser &parser, DenseBoolArrayAttr &flags) {
  SmallVector<bool> values;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            int64_t number = 0;
            OptionalParseResult isNumber = parser.parseOptionalInteger(number);
            if (isNumber.has_value()) {
              values.push_back(number != 0);
              return *isNumber;
            }
            FailureOr<bool> flag = parseFlag(parser);
            if (failed(flag))
              return failure();
            values.push_back(*flag);
            return success();
          }))
    return failure();
  flags = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult stablehlo::parseWindowFields(OpAsmParser &parser,
                                         DenseI64ArrayAttr &strides,
                                         DenseIntElementsAttr &padding,
                                         DenseI64ArrayAttr &lhsDilation,
                                         DenseI64ArrayAttr &rhsDilation,
                                         DenseBoolArrayAttr &reversal) {
  auto parseArray = [&](DenseI64ArrayAttr &array) -> ParseResult {
    FailureOr<SmallVector<int64_t>> values = parseDims(parser);
    if (failed(values))
      return failure();
    array = parser.getBuilder().getDenseI64ArrayAttr(*values);
    return success();
  };
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(&name))) {
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = failure();
    if (name == "stride" && !strides)
      parsed = parseArray(strides);
    else if (name == "pad" && !padding)
      parsed = parsePadding(parser, padding);
    else if (name == "lhs_dilate" && !lhsDilation)
      parsed = parseArray(lhsDilation);
    else if (name == "rhs_dilate" && !rhsDilation)
      parsed = parseArray(rhsDilation);
    else if (name == "reverse" && !reversal)
      parsed = parseFlags(parser, reversal);
    else
      return parser.emitError(loc, "expected stride, pad, lhs_dilate, "
                                   "rhs_dilate or reverse, once each, got '")
             << name << "'";
    if (failed(parsed))
      return failure();
    if (failed(parser.parseOptionalComma()))
      break;
    loc = parser.getCurrentLocation();
  }
  return success();
}

void stablehlo::printWindowFields(OpAsmPrinter &printer, Operation *,
                                  DenseI64ArrayAttr strides,
                                  DenseIntElementsAttr padding,
                                  DenseI64ArrayAttr lhsDilation,
                                  DenseI64ArrayAttr rhsDilation,
                                  DenseBoolArrayAttr reversal) {
  StringRef separator;
  auto field = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  auto array = [&](StringRef name, DenseI64ArrayAttr values) {
    if (!values)
      return;
    field(name);
    printDims(printer, values);
  };
  array("stride", strides);
  if (padding) {
    field("pad");
    auto values = llvm::to_vector(padding.getValues<int64_t>());
    printer << '[';
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      printer << (i ? ", " : "");
      printDims(printer, {values[i], values[i + 1]});
    }
    printer << ']';
  }
  array("lhs_dilate", lhsDilation);
  array("rhs_dilate", rhsDilation);
  if (reversal) {
    field("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) {
      printer << (flag ? "true" : "false");
    });
    printer << ']';
  }
}
