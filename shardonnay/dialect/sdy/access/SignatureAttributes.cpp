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

void SignatureAttributes::eraseAll(StringRef name) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    setArgument(i, name, nullptr);
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    setResult(i, name, nullptr);
}

SignatureAttributes::~SignatureAttributes() {
  if (arguments.isChanged)
    func.setAllArgAttrs(arguments.dicts);
  if (results.isChanged)
    func.setAllResultAttrs(results.dicts);
}
