//===- SignatureAttributes.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"

using namespace mlir;
using namespace mlir::sdy;

void SignatureAttributes::Side::read(func::FuncOp func, bool ofResults) {
  if (std::exchange(isRead, true))
    return;
  if (ofResults)
    func.getAllResultAttrs(dicts);
  else
    func.getAllArgAttrs(dicts);
}

void SignatureAttributes::Side::set(unsigned at, StringRef name,
                                    Attribute value, func::FuncOp func,
                                    bool ofResults) {
  read(func, ofResults);
  DictionaryAttr &dict = dicts[at];
  if ((dict ? dict.get(name) : Attribute()) == value)
    return;
  NamedAttrList list(dict);
  if (value)
    list.set(name, value);
  else
    list.erase(name);
  dict = list.getDictionary(func.getContext());
  isChanged = true;
}

void SignatureAttributes::Side::eraseIf(
    llvm::function_ref<bool(NamedAttribute)> erases, func::FuncOp func,
    bool ofResults) {
  read(func, ofResults);
  for (DictionaryAttr &dict : dicts) {
    if (!dict || llvm::none_of(dict, erases))
      continue;
    SmallVector<NamedAttribute> kept;
    llvm::copy_if(dict, std::back_inserter(kept), std::not_fn(erases));
    dict = DictionaryAttr::get(func.getContext(), kept);
    isChanged = true;
  }
}

void SignatureAttributes::eraseIf(
    llvm::function_ref<bool(NamedAttribute)> erases) {
  arguments.eraseIf(erases, func, /*ofResults=*/false);
  results.eraseIf(erases, func, /*ofResults=*/true);
}

void SignatureAttributes::eraseAll(StringRef name) {
  eraseIf(
      [&](NamedAttribute attribute) { return attribute.getName() == name; });
}

SignatureAttributes::~SignatureAttributes() {
  if (arguments.isChanged)
    func.setAllArgAttrs(arguments.dicts);
  if (results.isChanged)
    func.setAllResultAttrs(results.dicts);
}

void mlir::sdy::eraseAttributesIf(
    ModuleOp module, llvm::function_ref<bool(NamedAttribute)> erases) {
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute :
         llvm::to_vector(op->getDiscardableAttrDictionary()))
      if (erases(attribute))
        op->removeDiscardableAttr(attribute.getName());
    if (auto func = dyn_cast<func::FuncOp>(op))
      SignatureAttributes(func).eraseIf(erases);
  });
}
