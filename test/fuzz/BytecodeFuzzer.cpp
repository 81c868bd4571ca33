//===- BytecodeFuzzer.cpp - sdy attributes in bytecode --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes give an attribute or an error; what an attribute is written as is
// read as that attribute. An input that begins with '#' is the text of an
// attribute to write and read, any other is what to read.
//
// The dialect's reader is asked directly: MLIR's own reader of the file around
// it overruns its memory on damaged files (docs/design/bytecode.md), and those
// faults would hide ours.
//
//===----------------------------------------------------------------------===//

#include "Fuzzing.h"
#include "mlir/AsmParser/AsmParser.h"
#include "shardonnay/dialect/sdy/BytecodeForm.h"

using namespace mlir;

namespace {

/// References to attributes stand as indices into `attributes`.
class Writer : public DialectBytecodeWriter {
public:
  explicit Writer(std::vector<Attribute> &attributes)
      : attributes(attributes) {}

  std::string bytes;

  void writeAttribute(Attribute attr) override {
    auto found = llvm::find(attributes, attr);
    writeVarInt(found - attributes.begin());
    if (found == attributes.end())
      attributes.push_back(attr);
  }
  void writeVarInt(uint64_t value) override {
    for (; value >= 128; value >>= 7)
      bytes.push_back(static_cast<char>(value | 128));
    bytes.push_back(static_cast<char>(value));
  }
  void writeOwnedString(StringRef text) override {
    writeVarInt(text.size());
    bytes += text;
  }

  // No attribute of the dialect needs these.
  void writeOptionalAttribute(Attribute) override { __builtin_trap(); }
  void writeType(Type) override { __builtin_trap(); }
  void writeResourceHandle(const AsmDialectResourceHandle &) override {
    __builtin_trap();
  }
  void writeSignedVarInt(int64_t) override { __builtin_trap(); }
  void writeAPIntWithKnownWidth(const APInt &) override { __builtin_trap(); }
  void writeAPFloatWithKnownSemantics(const APFloat &) override {
    __builtin_trap();
  }
  void writeOwnedBlob(ArrayRef<char>) override { __builtin_trap(); }
  void writeOwnedBool(bool) override { __builtin_trap(); }
  int64_t getBytecodeVersion() const override { return 6; }
  FailureOr<const DialectVersion *>
  getDialectVersion(StringRef) const override {
    return failure();
  }

private:
  std::vector<Attribute> &attributes;
};

class Reader : public DialectBytecodeReader {
public:
  Reader(StringRef bytes, ArrayRef<Attribute> attributes, MLIRContext &context)
      : bytes(bytes), attributes(attributes), context(context) {}

  InFlightDiagnostic emitError(const Twine &message) const override {
    return mlir::emitError(UnknownLoc::get(&context), message);
  }
  MLIRContext *getContext() const override { return &context; }
  uint64_t getBytecodeVersion() const override { return 6; }
  FailureOr<const DialectVersion *>
  getDialectVersion(StringRef) const override {
    return failure();
  }
  LogicalResult readAttribute(Attribute &attr) override {
    uint64_t index = 0;
    if (failed(readVarInt(index)))
      return failure();
    if (index >= attributes.size())
      return emitError("no such attribute");
    attr = attributes[index];
    return success();
  }
  LogicalResult readVarInt(uint64_t &value) override {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes.empty())
        return emitError("the end");
      uint64_t byte = static_cast<uint8_t>(bytes.front());
      bytes = bytes.drop_front();
      value |= (byte & 127) << shift;
      if (byte < 128)
        return success();
    }
    return emitError("too long");
  }
  LogicalResult readString(StringRef &text) override {
    uint64_t size = 0;
    if (failed(readVarInt(size)))
      return failure();
    if (size > bytes.size())
      return emitError("the end");
    text = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    return success();
  }

  LogicalResult readOptionalAttribute(Attribute &) override {
    return emitError("not written");
  }
  LogicalResult readType(Type &) override { return emitError("not written"); }
  LogicalResult readSignedVarInt(int64_t &) override {
    return emitError("not written");
  }
  FailureOr<APInt> readAPIntWithKnownWidth(unsigned) override {
    return failure();
  }
  FailureOr<APFloat>
  readAPFloatWithKnownSemantics(const llvm::fltSemantics &) override {
    return failure();
  }
  LogicalResult readBlob(ArrayRef<char> &) override {
    return emitError("not written");
  }
  LogicalResult readBool(bool &) override { return emitError("not written"); }

private:
  FailureOr<AsmDialectResourceHandle> readResourceHandle() override {
    return failure();
  }

  StringRef bytes;
  ArrayRef<Attribute> attributes;
  MLIRContext &context;
};

/// Written and read, `attr` is itself.
void roundTrip(Attribute attr, MLIRContext &context) {
  std::vector<Attribute> references;
  Writer writer(references);
  if (failed(sdy::bytecode::write(attr, writer)))
    return;
  Reader reader(writer.bytes, references, context);
  fuzzing::require(sdy::bytecode::read(reader) == attr,
                   "another attribute in bytecode", fuzzing::print(attr));
}

/// What damaged bytes may refer to.
std::vector<Attribute> examples(MLIRContext &context) {
  return {FlatSymbolRefAttr::get(&context, "mesh"),
          StringAttr::get(&context, "x"),
          parseAttribute("#sdy.mesh<[\"x\"=2]>", &context),
          parseAttribute("#sdy.sharding<@mesh, [{\"x\"}]>", &context),
          UnitAttr::get(&context)};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzzing::context<sdy::SdyDialect>();
  fuzzing::Errors errors(context);
  if (size && *data == '#') {
    Attribute attr = parseAttribute(fuzzing::toText(data, size), &context);
    if (attr)
      roundTrip(attr, context);
    return 0;
  }
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  std::vector<Attribute> references = examples(context);
  Reader reader(bytes, references, context);
  Attribute attr = sdy::bytecode::read(reader);
  fuzzing::require(attr || errors.any(), "no attribute and no error", "");
  if (attr)
    roundTrip(attr, context);
  return 0;
}
