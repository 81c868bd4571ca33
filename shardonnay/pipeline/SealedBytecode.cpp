//===- SealedBytecode.cpp - bytecode that shows damage --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/SealedBytecode.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace shardonnay {

namespace {

constexpr llvm::StringLiteral kProducer("Shardonnay ");
constexpr size_t kDigits = 16;

/// What follows the magic number, the version (one byte up to 127) and the
/// zero-terminated name of the producer.
constexpr size_t kProducerStart = 5;

std::string checksum(StringRef bytes) {
  return llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true, kDigits);
}

/// The place of the checksum in our own bytecode; npos in others'.
size_t findChecksum(StringRef bytes) {
  StringRef producer = bytes.drop_front(std::min(kProducerStart, bytes.size()));
  return producer.starts_with(kProducer) ? kProducerStart + kProducer.size()
                                         : StringRef::npos;
}

bool isWhole(StringRef bytes, size_t place) {
  StringRef rest = bytes.drop_front(place);
  return rest.size() > kDigits && rest[kDigits] == '\0' &&
         rest.take_front(kDigits) == checksum(rest.drop_front(kDigits));
}

/// Whether MLIR's reader returns when it reads `bytes`. If it does not, its
/// context is in no state to be used, or destroyed: so it is one of its own.
bool comesBack(StringRef bytes, StringRef name, MLIRContext &like) {
  auto trial = std::make_unique<MLIRContext>(like.getDialectRegistry(),
                                             MLIRContext::Threading::DISABLED);
  trial->allowUnregisteredDialects(like.allowsUnregisteredDialects());
  trial->getDiagEngine().registerHandler([](Diagnostic &) {});
  llvm::CrashRecoveryContext recovery;
  llvm::CrashRecoveryContext::Enable();
  bool returned = recovery.RunSafely([&] {
    parseSourceString<ModuleOp>(bytes, ParserConfig(trial.get()), name);
  });
  llvm::CrashRecoveryContext::Disable();
  if (!returned)
    static_cast<void>(trial.release());
  return returned;
}

} // namespace

LogicalResult writeSealedBytecode(ModuleOp module, std::string &bytes) {
  std::string producer = (kProducer + std::string(kDigits, '0')).str();
  BytecodeWriterConfig config(producer);
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os, config)))
    return failure();
  size_t place = findChecksum(bytes);
  if (place == StringRef::npos)
    return module.emitError("MLIR's bytecode has another header than expected");
  bytes.replace(place, kDigits,
                checksum(StringRef(bytes).drop_front(place + kDigits)));
  return success();
}

OwningOpRef<ModuleOp> readBytecode(StringRef bytes, StringRef name,
                                   MLIRContext &context) {
  Location location = FileLineColLoc::get(&context, name, 0, 0);
  size_t place = findChecksum(bytes);
  if (place != StringRef::npos && !isWhole(bytes, place)) {
    emitError(location) << "the bytecode is damaged: its checksum is wrong; "
                           "copy or write it again";
    return nullptr;
  }
  if (place == StringRef::npos && !comesBack(bytes, name, context)) {
    emitError(location) << "the bytecode is damaged: MLIR's reader gave up; "
                           "write it again, or print the program as text";
    return nullptr;
  }
  return parseSourceString<ModuleOp>(bytes, ParserConfig(&context), name);
}

} // namespace shardonnay
