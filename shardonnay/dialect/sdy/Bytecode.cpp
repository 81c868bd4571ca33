//===- Bytecode.cpp - the sdy dialect in bytecode -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Bytecode.h"
#include "shardonnay/dialect/sdy/BytecodeForm.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/ForeignBytecode.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

/// "SDY" as a number, before the version: no other producer begins with it.
constexpr uint64_t kMagic = 0x594453;

struct Version : DialectVersion {
  explicit Version(uint64_t number) : number(number) {}
  uint64_t number;
};

class BytecodeInterface : public BytecodeDialectInterface {
public:
  explicit BytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attr,
                               DialectBytecodeWriter &writer) const override {
    return bytecode::write(attr, writer);
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    if (failed(reader.getDialectVersion<SdyDialect>())) {
      shardonnay::refuseForeignBytecode(reader, "sdy");
      return nullptr;
    }
    return bytecode::read(reader);
  }

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(kMagic);
    writer.writeVarInt(kBytecodeVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t magic = 0, number = 0;
    if (failed(reader.readVarInt(magic)) || magic != kMagic) {
      shardonnay::refuseForeignBytecode(reader, "sdy");
      return nullptr;
    }
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number < 1 || number > kBytecodeVersion) {
      reader.emitError() << "bytecode of version " << number
                         << " of the 'sdy' dialect, expected 1 to "
                         << kBytecodeVersion
                         << "; read it with the Shardonnay that wrote it, or "
                            "a newer one, and print it as text";
      return nullptr;
    }
    return std::make_unique<Version>(number);
  }
};

} // namespace

void mlir::sdy::addBytecodeInterface(SdyDialect &dialect) {
  dialect.addInterfaces<BytecodeInterface>();
}
