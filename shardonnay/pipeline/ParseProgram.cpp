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
#include "shardonnay/explain/SourceLocation.h"
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

} // namespace

OwningOpRef<ModuleOp> parseProgram(StringRef text, StringRef name,
                                   MLIRContext &context) {
  if (isBytecode(llvm::MemoryBufferRef(text, name)))
    return readBytecode(text, name, context);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(packBoolElements(text), name),
      SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return nullptr;
  OwningOpRef<ModuleOp> module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
          &block, &context, FileLineColLoc::get(&context, name, 1, 1));
  if (!module)
    return nullptr;
  // Once inlined, an op without a place is where it is called from.
  PlacesInText places(state, sources, name, context);
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

} // namespace shardonnay
