//===- SealedBytecode.cpp - bytecode that shows damage --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/SealedBytecode.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/pipeline/ChildProcess.h"
#include "llvm/ADT/StringExtras.h"
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

/// What the reader says of bytes that are no program; else what follows is one,
/// sealed.
constexpr char kErrors = 'E', kProgram = 'P';

/// Reads `bytes`, of whoever wrote them, and writes what they are. The caller
/// verifies it.
void readAndSeal(StringRef bytes, StringRef name, MLIRContext &like,
                 llvm::raw_ostream &os) {
  MLIRContext context(like.getDialectRegistry(),
                      MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(like.allowsUnregisteredDialects());
  std::string errors, sealed;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + '\0';
  });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(bytes, config, name);
  if (module && succeeded(writeSealedBytecode(*module, sealed)))
    os << kProgram << sealed;
  else
    os << kErrors << errors;
}

/// MLIR's reader may hang or write where it must not, so another process reads
/// `bytes`, and what comes of it is written anew. Empty, with an error, if they
/// are no program.
std::string seal(StringRef bytes, StringRef name, MLIRContext &context) {
  Location location = FileLineColLoc::get(&context, name, 0, 0);
  ChildLimits limits{/*seconds=*/3 + (bytes.size() >> 20),
                     /*bytes=*/(uint64_t{1} << 30) + 100 * bytes.size()};
  std::optional<std::string> found = runInChild(
      [&](llvm::raw_ostream &os) { readAndSeal(bytes, name, context, os); },
      limits);
  if (!found || found->empty()) {
    emitError(location) << "the bytecode is damaged: MLIR's reader gave up; "
                           "write it again, or print the program as text";
    return "";
  }
  if (found->front() == kProgram)
    return found->substr(1);
  SmallVector<StringRef> errors;
  StringRef(*found).drop_front().split(errors, '\0', /*MaxSplit=*/-1,
                                       /*KeepEmpty=*/false);
  for (StringRef error : errors)
    emitError(location) << error;
  return "";
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
  size_t place = findChecksum(bytes);
  std::string sealed;
  if (place == StringRef::npos) {
    sealed = seal(bytes, name, context);
    bytes = sealed;
    place = findChecksum(bytes);
    if (place == StringRef::npos)
      return nullptr;
  }
  if (!isWhole(bytes, place)) {
    emitError(FileLineColLoc::get(&context, name, 0, 0))
        << "the bytecode is damaged: its checksum is wrong; copy or write it "
           "again";
    return nullptr;
  }
  return parseSourceString<ModuleOp>(bytes, ParserConfig(&context), name);
}

} // namespace shardonnay
