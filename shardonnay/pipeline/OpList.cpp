//===- OpList.cpp - a program's ops as plain values -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/OpList.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Base64.h"

using namespace mlir;
namespace json = llvm::json;

namespace shardonnay {

namespace {

bool isPlain(RankedTensorType type) {
  return type && type.hasStaticShape() && !type.getEncoding();
}

/// The elements, each of i1 in a byte of its own.
std::string bytesOf(DenseElementsAttr elements) {
  if (elements.getElementType().isInteger(1)) {
    if (elements.isSplat())
      return std::string(1, elements.getSplatValue<bool>() ? '\1' : '\0');
    std::string bytes;
    for (bool element : elements.getValues<bool>())
      bytes += element ? '\1' : '\0';
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  return std::string(raw.begin(), raw.end());
}

json::Object listElements(ShapedType type, bool isSplat, StringRef bytes) {
  return json::Object{{"shape", json::Array(type.getShape())},
                      {"element", debugString(type.getElementType())},
                      {"splat", isSplat},
                      {"data", llvm::encodeBase64(bytes)}};
}

json::Value listAttribute(Attribute attribute);

json::Object listDictionary(DictionaryAttr attributes) {
  json::Object entries;
  if (attributes)
    for (NamedAttribute entry : attributes)
      entries[entry.getName().str()] = listAttribute(entry.getValue());
  return entries;
}

/// An attribute without plain form is its text.
json::Value listAttribute(Attribute attribute) {
  auto text = [](Attribute other) -> json::Value {
    return json::Object{{"text", debugString(other)}};
  };
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](UnitAttr) { return json::Value(true); })
      .Case([](BoolAttr flag) { return json::Value(flag.getValue()); })
      .Case([&](IntegerAttr number) -> json::Value {
        if (std::optional<int64_t> value = number.getValue().trySExtValue())
          return *value;
        return text(number);
      })
      .Case([](FloatAttr number) {
        return json::Value(number.getValueAsDouble());
      })
      .Case([](StringAttr string) {
        return json::Value(string.getValue().str());
      })
      .Case([](FlatSymbolRefAttr symbol) {
        return json::Value(symbol.getValue().str());
      })
      .Case([](ArrayAttr array) {
        json::Array items;
        for (Attribute item : array)
          items.push_back(listAttribute(item));
        return json::Value(std::move(items));
      })
      .Case([](DenseI64ArrayAttr array) {
        return json::Value(json::Array(array.asArrayRef()));
      })
      .Case([](DenseBoolArrayAttr array) {
        return json::Value(json::Array(array.asArrayRef()));
      })
      .Case([](DictionaryAttr entries) {
        return json::Value(listDictionary(entries));
      })
      .Case([](DenseElementsAttr elements) {
        return json::Value(listElements(elements.getType(), elements.isSplat(),
                                        bytesOf(elements)));
      })
      .Case([&](DenseResourceElementsAttr elements) -> json::Value {
        AsmResourceBlob *blob = elements.getRawHandle().getBlob();
        if (!blob)
          return text(elements);
        ArrayRef<char> data = blob->getData();
        return listElements(elements.getType(), /*isSplat=*/false,
                            StringRef(data.data(), data.size()));
      })
      .Default(text);
}

class Lister {
public:
  FailureOr<json::Value> list(ModuleOp module) {
    json::Array functions;
    for (auto function : module.getOps<func::FuncOp>()) {
      FailureOr<json::Value> body = list(function.getBody());
      if (failed(body))
        return failure();
      functions.push_back(json::Object{
          {"name", function.getName().str()},
          {"body", std::move(*body)},
          {"argument_attributes",
           list(function.getArgAttrsAttr(), function.getNumArguments())},
          {"result_attributes",
           list(function.getResAttrsAttr(), function.getNumResults())}});
    }
    return json::Value(json::Object{
        {"attributes", listDictionary(module->getAttrDictionary())},
        {"functions", std::move(functions)}});
  }

private:
  static json::Array list(ArrayAttr dictionaries, unsigned count) {
    json::Array all;
    for (unsigned i = 0; i < count; ++i)
      all.push_back(listDictionary(
          dictionaries ? cast<DictionaryAttr>(dictionaries[i]) : nullptr));
    return all;
  }

  json::Array list(ValueRange values) {
    json::Array all;
    for (Value value : values) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      json::Array entry{numberOf(value)};
      if (isPlain(tensor)) {
        entry.push_back(json::Array(tensor.getShape()));
        entry.push_back(debugString(tensor.getElementType()));
      } else {
        entry.push_back(debugString(value.getType()));
      }
      all.push_back(std::move(entry));
    }
    return all;
  }

  FailureOr<json::Value> list(Region &region) {
    json::Array ops;
    if (region.empty())
      return json::Value(
          json::Object{{"arguments", json::Array()}, {"ops", json::Array()}});
    if (!region.hasOneBlock())
      return region.getParentOp()->emitError(
          "has a region of several blocks, expected one block; write its "
          "control flow as 'stablehlo.while', 'stablehlo.case' or "
          "'stablehlo.if'");
    json::Array arguments = list(region.getArguments());
    for (Operation &op : region.front()) {
      FailureOr<json::Value> entry = list(op);
      if (failed(entry))
        return failure();
      ops.push_back(std::move(*entry));
    }
    return json::Value(json::Object{{"arguments", std::move(arguments)},
                                    {"ops", std::move(ops)}});
  }

  FailureOr<json::Value> list(Operation &op) {
    json::Array operands, regions;
    for (Value operand : op.getOperands())
      operands.push_back(numberOf(operand));
    for (Region &region : op.getRegions()) {
      FailureOr<json::Value> block = list(region);
      if (failed(block))
        return failure();
      regions.push_back(std::move(*block));
    }
    return json::Value(json::Array{
        op.getName().getStringRef().str(), std::move(operands),
        list(op.getResults()), listDictionary(op.getAttrDictionary()),
        std::move(regions), getSourceLocation(op.getLoc()).line});
  }

  int64_t numberOf(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

  DenseMap<Value, int64_t> numbers;
};

} // namespace

FailureOr<json::Value> listOps(ModuleOp module) {
  return Lister().list(module);
}

} // namespace shardonnay
