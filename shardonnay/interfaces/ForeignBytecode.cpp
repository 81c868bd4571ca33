//===- ForeignBytecode.cpp - bytecode that others wrote -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/ForeignBytecode.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Writes nothing itself, so MLIR writes text.
class TextOnly : public BytecodeDialectInterface {
public:
  explicit TextOnly(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    refuseForeignBytecode(reader, getDialect()->getNamespace());
    return nullptr;
  }

  Type readType(DialectBytecodeReader &reader) const override {
    refuseForeignBytecode(reader, getDialect()->getNamespace());
    return nullptr;
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    refuseForeignBytecode(reader, getDialect()->getNamespace());
    return nullptr;
  }
};

} // namespace

void refuseForeignBytecode(DialectBytecodeReader &reader,
                           llvm::StringRef dialect) {
  reader.emitError()
      << "bytecode of another producer's '" << dialect
      << "' dialect, expected Shardonnay's own; print the program as text "
         "where it comes from (in JAX: `lowered.as_text()`) and read that";
}

void addForeignBytecodeRefusal(Dialect &dialect) {
  dialect.addInterfaces<TextOnly>();
}

} // namespace shardonnay
