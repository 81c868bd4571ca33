//===- SignatureAttributes.h - of a function's boundary ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR keeps the attributes of all arguments of a function in one list, makes
// it anew for each change, and keeps the old ones as long as its context lives:
// who changes n arguments one by one takes n^2 time and memory. Here they are
// changed together.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_SIGNATUREATTRIBUTES_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_SIGNATUREATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Attributes.h"

namespace mlir::sdy {

/// The attributes of the arguments and results of a function as they are to be.
class SignatureAttributes {
public:
  explicit SignatureAttributes(func::FuncOp func) : func(func) {}
  SignatureAttributes(const SignatureAttributes &) = delete;
  /// Writes what was changed.
  ~SignatureAttributes();

  /// Null takes it away.
  void setArgument(unsigned argument, StringRef name, Attribute value) {
    arguments.set(argument, name, value, func, /*ofResults=*/false);
  }
  void setResult(unsigned result, StringRef name, Attribute value) {
    results.set(result, name, value, func, /*ofResults=*/true);
  }
  /// Takes it away from all arguments and results.
  void eraseAll(StringRef name);
  /// Takes away all of theirs that `erases` says.
  void eraseIf(llvm::function_ref<bool(NamedAttribute)> erases);

private:
  struct Side {
    SmallVector<DictionaryAttr> dicts;
    bool isRead = false, isChanged = false;

    void read(func::FuncOp func, bool ofResults);
    void set(unsigned at, StringRef name, Attribute value, func::FuncOp func,
             bool ofResults);
    void eraseIf(llvm::function_ref<bool(NamedAttribute)> erases,
                 func::FuncOp func, bool ofResults);
  };

  func::FuncOp func;
  Side arguments, results;
};

/// Those of many functions, all written at the end.
class Signatures {
public:
  SignatureAttributes &of(func::FuncOp func) {
    std::unique_ptr<SignatureAttributes> &found = signatures[func];
    if (!found)
      found = std::make_unique<SignatureAttributes>(func);
    return *found;
  }
  /// Writes them now.
  void write() { signatures.clear(); }

private:
  llvm::DenseMap<Operation *, std::unique_ptr<SignatureAttributes>> signatures;
};

/// Takes away the discardable attributes of all ops in `module`, and of the
/// arguments and results of its functions, that `erases` says.
void eraseAttributesIf(ModuleOp module,
                       llvm::function_ref<bool(NamedAttribute)> erases);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_SIGNATUREATTRIBUTES_H
