//===- ParseProgram.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/ParseProgram.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/pipeline/BoolElements.h"
#include "shardonnay/pipeline/SealedBytecode.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// While it lives, every op whose location names no file has its place in the
/// text instead.
class PlacesInText {
public:
  PlacesInText(const AsmParserState &state, const llvm::SourceMgr &sources,
               StringRef name, MLIRContext &context) {
    for (const AsmParserState::OperationDefinition &definition :
         state.getOpDefs()) {
      Location own = definition.op->getLoc();
      if (!getSourceLocation(own).line.empty())
        continue;
      auto [line, column] = sources.getLineAndColumn(definition.loc.Start);
      changed.emplace_back(definition.op, own);
      definition.op->setLoc(FileLineColLoc::get(&context, name, line, column));
    }
  }
  ~PlacesInText() {
    for (auto [op, location] : changed)
      op->setLoc(location);
  }

private:
  SmallVector<std::pair<Operation *, Location>> changed;
};

/// The parser's advice for what is of no known dialect is an option of MLIR's
/// own tools, or a page on how to write such.
LogicalResult explainUnknownDialect(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (!StringRef(text).contains("-allow-unregistered-dialect") &&
      !StringRef(text).contains("not found for custom op"))
    return failure();
  auto error = emitError(diagnostic.getLocation());
  error << "found an op, attribute or type of a dialect that is not known, "
           "expected one of ";
  llvm::interleaveComma(
      diagnostic.getLocation()->getContext()->getAvailableDialects(), error);
  error << ": lower it to one of these first";
  return success();
}

/// The op of StableHLO that one of MHLO's is called after, or the registered op
/// whose name differs in the fewest letters.
std::string adviceOnOp(StringRef name, MLIRContext &context) {
  StringRef own = name;
  if (own.consume_front("mhlo."))
    if (std::string there = ("stablehlo." + own).str();
        RegisteredOperationName::lookup(there, &context))
      return "; expected '" + there + "': lower MHLO to StableHLO first";
  constexpr unsigned kLetters = 2;
  StringRef nearest;
  unsigned fewest = kLetters + 1;
  for (RegisteredOperationName known : context.getRegisteredOperations())
    if (unsigned distance = name.edit_distance(known.getStringRef(), true,
                                               /*MaxEditDistance=*/kLetters);
        distance < fewest) {
      nearest = known.getStringRef();
      fewest = distance;
    }
  return nearest.empty() ? "" : "; did you mean '" + nearest.str() + "'?";
}

LogicalResult explainUnknownOp(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  StringRef name = text;
  if (!name.consume_front("custom op '") || !name.consume_back("' is unknown"))
    return failure();
  std::string advice =
      adviceOnOp(name, *diagnostic.getLocation()->getContext());
  if (advice.empty())
    return failure();
  emitError(diagnostic.getLocation()) << text << advice;
  return success();
}

/// Does not verify it. `state`, if any, gets the places in the text.
OwningOpRef<ModuleOp> parseText(const llvm::SourceMgr &sources, StringRef name,
                                MLIRContext &context,
                                AsmParserState *state = nullptr) {
  ScopedDiagnosticHandler unknownDialect(&context, explainUnknownDialect);
  ScopedDiagnosticHandler unknownOp(&context, explainUnknownOp);
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, state)))
    return nullptr;
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(&context, name, 1, 1));
}

/// The parser takes time and memory to keep the places in the text, and only
/// what is wrong is told with them: then the text is parsed again.
bool verifySilently(ModuleOp module) {
  ScopedDiagnosticHandler errors(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Error);
      });
  return succeeded(verify(module));
}

} // namespace

OwningOpRef<ModuleOp> parseProgram(StringRef text, StringRef name,
                                   MLIRContext &context) {
  if (isBytecode(llvm::MemoryBufferRef(text, name)))
    return readBytecode(text, name, context);

  std::string packed = text.str();
  packBoolElements(packed);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(packed, name),
                             SMLoc());
  OwningOpRef<ModuleOp> module = parseText(sources, name, context);
  if (!module || verifySilently(*module))
    return module;
  AsmParserState state;
  module = parseText(sources, name, context, &state);
  // Once inlined, an op without a place is where it is called from.
  PlacesInText places(state, sources, name, context);
  [[maybe_unused]] LogicalResult verified = verify(*module);
  assert(failed(verified) && "it failed before");
  return nullptr;
}

} // namespace shardonnay
