//===- Diagnostics.h - notes at the other culprit ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_DIAGNOSTICS_H
#define SHARDONNAY_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"

namespace shardonnay {

/// `diag` with a note at `loc`, unless that is where the diagnostic is.
inline mlir::InFlightDiagnostic pointAt(mlir::InFlightDiagnostic diag,
                                        mlir::Location loc,
                                        const llvm::Twine &note) {
  if (diag.getUnderlyingDiagnostic()->getLocation() != loc)
    diag.attachNote(loc) << note;
  return diag;
}

/// `diag` on an operand, with a note at its producer.
inline mlir::InFlightDiagnostic
pointAtOperand(mlir::InFlightDiagnostic diag, mlir::Value operand,
               const llvm::Twine &note = "the operand is made here") {
  return pointAt(std::move(diag), operand.getLoc(), note);
}

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_DIAGNOSTICS_H
