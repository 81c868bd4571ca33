//===- VerifiedAnalysis.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/support/VerifiedAnalysis.h"
#include "llvm/Support/ErrorHandling.h"

bool shardonnay::verifiesAnalyses() {
#ifdef SHARDONNAY_VERIFY_ANALYSES
  return true;
#else
  return false;
#endif
}

void shardonnay::failVerification(llvm::StringRef analysis,
                                  llvm::StringRef difference) {
  llvm::report_fatal_error("a pass preserved " + analysis +
                           ", which does not hold: " + difference);
}
