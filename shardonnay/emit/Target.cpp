//===- Target.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/Target.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

bool Target::combines(mlir::Type element, ReductionKind kind) const {
  return kind == ReductionKind::Sum || ordersComplex ||
         !mlir::isa<mlir::ComplexType>(element);
}

bool Target::knowsCall(llvm::StringRef callTarget) const {
  // What compilers agree on.
  static constexpr llvm::StringLiteral kAgreed[] = {
      "annotate_device_placement",
      "ApproxTopK",
      "Cholesky",
      "CompactWyHelper",
      "CreateBuffer",
      "Eigh",
      "InspectSharding",
      "LayoutConstraint",
      "LuDecomposition",
      "mhlo.erf",
      "mhlo.topk",
      "MoveToDevice",
      "MoveToHost",
      "PartialReduce",
      "Pin",
      "ProductOfElementaryHouseholderReflectors",
      "Qr",
      "QrDecompositionBlock",
      "TopK",
      "Unpin",
      "X64Combine",
      "X64SplitHigh",
      "X64SplitLow",
      "xla.megascale.provide_metadata"};
  return llvm::is_contained(kAgreed, callTarget) ||
         llvm::any_of(calls, [&](llvm::StringRef prefix) {
           return callTarget.starts_with(prefix);
         });
}

} // namespace shardonnay
