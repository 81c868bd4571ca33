//===- VerifiedAnalysis.h - what passes hand to each other ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that preserves an analysis promises that it holds of the program as
// the pass left it. Where SHARDONNAY_VERIFY_ANALYSES is set (preset `dev`) that
// is checked whenever a pass ends: what the analysis says is found out anew and
// compared. A difference ends the process, as a bug of the pass.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_VERIFIEDANALYSIS_H
#define SHARDONNAY_SUPPORT_VERIFIEDANALYSIS_H

#include "mlir/Pass/AnalysisManager.h"
#include "llvm/Support/TypeName.h"
#include <optional>
#include <string>

namespace shardonnay {

/// This build checks what is kept.
bool verifiesAnalyses();

/// Ends the process: what `analysis` keeps is wrong as `difference` says.
[[noreturn]] void failVerification(llvm::StringRef analysis,
                                   llvm::StringRef difference);

/// The base of an analysis that several passes share. `DerivedT` has a
/// `std::optional<std::string> findDifference() const`: where what it says is
/// not so.
template <typename DerivedT> class VerifiedAnalysis {
public:
  /// Called by MLIR when a pass has ended.
  bool
  isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &preserved) {
    if (!preserved.isPreserved<DerivedT>())
      return true;
    if (verifiesAnalyses())
      if (auto difference =
              static_cast<const DerivedT *>(this)->findDifference())
        failVerification(llvm::getTypeName<DerivedT>(), *difference);
    return false;
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_VERIFIEDANALYSIS_H
