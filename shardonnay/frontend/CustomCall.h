//===- CustomCall.h - custom calls and tuples, by their names -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_CUSTOMCALL_H
#define SHARDONNAY_FRONTEND_CUSTOMCALL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

namespace shardonnay {

/// The target of a `stablehlo.custom_call`; "" for any other op.
llvm::StringRef customCallTarget(mlir::Operation *op);

/// A `stablehlo.custom_call` before the builder's place. `attributes` are
/// discardable ones and those of the op, the target aside.
mlir::Operation *createCustomCall(mlir::OpBuilder &builder, mlir::Location loc,
                                  llvm::StringRef target,
                                  mlir::TypeRange resultTypes,
                                  mlir::ValueRange operands,
                                  const mlir::NamedAttrList &attributes);

/// Takes `op`, a boundary of a manual computation or a call that only marks its
/// operands, out of the program and puts a cast of its operands there. A tuple
/// that `op` returns is taken apart: its readers read the cast. An error where
/// the tuple is used otherwise.
mlir::FailureOr<mlir::UnrealizedConversionCastOp>
replaceByCast(mlir::Operation *op);

/// A pass that runs an importer of texts on the module.
template <typename BaseT, typename ImporterT> struct ImporterPass : BaseT {
  void runOnOperation() override {
    ImporterT importer(this->getOperation());
    if (failed(importer.run()))
      return this->signalPassFailure();
    if (!importer.hasChanged())
      return this->markAllAnalysesPreserved();
    // Nobody has looked at what the texts say.
    if (failed(mlir::verify(this->getOperation())))
      this->signalPassFailure();
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_CUSTOMCALL_H
