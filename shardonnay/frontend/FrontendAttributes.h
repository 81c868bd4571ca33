//===- FrontendAttributes.h - sdy attributes as text ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HLO knows no `sdy`. There its attributes are text, in a dictionary that HLO
// carries along unread:
//
//   mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, ...>"}
//
// Older programs have a backslash before every quote in the text.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_FRONTENDATTRIBUTES_H
#define SHARDONNAY_FRONTEND_FRONTENDATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"

namespace shardonnay {

inline constexpr llvm::StringLiteral
    kFrontendAttributes("mhlo.frontend_attributes");

/// The entries `xla.sdy.*` of one dictionary of frontend attributes.
class SdyTexts {
public:
  /// Takes them out of `attributes`, which are those of an op, of an argument
  /// or of a result at `loc`; other frontend attributes stay.
  SdyTexts(mlir::NamedAttrList &attributes, mlir::Location loc);

  bool empty() const { return entries.empty(); }
  bool has(llvm::StringRef name) const { return bool(entries.get(name)); }
  /// What the text of `xla.sdy.<name>` says; null if there is none. An error if
  /// it is no text, or not that of an `AttrT`, which `expected` describes.
  template <typename AttrT>
  mlir::FailureOr<AttrT> get(llvm::StringRef name, llvm::StringRef expected) {
    mlir::FailureOr<mlir::Attribute> found = parse(name, expected);
    if (failed(found) || !*found)
      return failed(found) ? mlir::FailureOr<AttrT>() : AttrT();
    if (auto wanted = llvm::dyn_cast<AttrT>(*found))
      return wanted;
    return fail(name, expected, "");
  }

private:
  mlir::FailureOr<mlir::Attribute> parse(llvm::StringRef name,
                                         llvm::StringRef expected);
  mlir::LogicalResult fail(llvm::StringRef name, llvm::StringRef expected,
                           llvm::StringRef reason);

  mlir::Location loc;
  /// Without the prefix.
  mlir::NamedAttrList entries;
};

/// The attribute that `text` spells, with or without backslashes before its
/// quotes; null, and what the parser says, if it spells none.
mlir::Attribute parseSdyText(llvm::StringRef text, mlir::MLIRContext *context,
                             std::string &reason);

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_FRONTENDATTRIBUTES_H
