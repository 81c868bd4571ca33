//===- ImportDonations.cpp - donations that a module states ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each entry of `mhlo.input_output_alias` whose parameter and output are whole
// tensors becomes `tf.aliasing_output` of the argument; the others, and the
// attribute, go: a donation changes no number.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/frontend/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTDONATIONSPASS
#include "shardonnay/frontend/Passes.h.inc"

static constexpr llvm::StringLiteral kAliases("mhlo.input_output_alias");
static constexpr llvm::StringLiteral kAliasingOutput("tf.aliasing_output");

/// The argument and the result of an entry; nothing if it is of parts of
/// tuples.
static std::optional<std::pair<int64_t, int64_t>> readEntry(Attribute entry) {
  auto dictionary = dyn_cast<DictionaryAttr>(entry);
  auto alias =
      dictionary ? dictionary.getAs<DictionaryAttr>("alias") : DictionaryAttr();
  if (!alias)
    return std::nullopt;
  auto parameter = alias.getAs<IntegerAttr>("parameter_number");
  auto inside = alias.getAs<DenseI64ArrayAttr>("parameter_index");
  auto output = dictionary.getAs<DenseI64ArrayAttr>("output_index");
  if (!parameter || !inside || !inside.empty() || !output || output.size() > 1)
    return std::nullopt;
  // A single result has no index.
  return std::pair(parameter.getInt(), output.empty() ? 0 : output[0]);
}

namespace {

struct ImportDonationsPass
    : impl::ImportDonationsPassBase<ImportDonationsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    auto entries = module->getAttrOfType<ArrayAttr>(kAliases);
    if (!entries)
      return;
    module->removeAttr(kAliases);
    for (auto func : module.getOps<func::FuncOp>())
      if (func.isPublic())
        importInto(func, entries);
  }

private:
  void importInto(func::FuncOp func, ArrayAttr entries) {
    sdy::SignatureAttributes signature(func);
    Builder builder(func.getContext());
    for (Attribute entry : entries)
      if (auto found = readEntry(entry);
          found && found->first >= 0 && found->first < func.getNumArguments() &&
          !func.getArgAttr(found->first, kAliasingOutput))
        signature.setArgument(found->first, kAliasingOutput,
                              builder.getI32IntegerAttr(found->second));
  }
};

} // namespace
} // namespace shardonnay
