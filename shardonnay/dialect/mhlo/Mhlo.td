//===- Mhlo.td - what StableHLO's text keeps of HLO --------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_MHLO_MHLO_TD
#define SHARDONNAY_DIALECT_MHLO_MHLO_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MhloDialect : Dialect {
  let name = "mhlo";
  let cppNamespace = "::mlir::mhlo";
  let summary = "ops of HLO for which StableHLO has none";
  let description = [{
    XLA leaves them where it writes HLO as StableHLO, which is how TensorFlow
    exports a function. Each has a canonical form in StableHLO or CHLO. Other
    ops of this name, and its attributes, are kept as those of any dialect that
    is not known.
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect"];
  let extraClassDeclaration = [{
    Attribute parseAttribute(DialectAsmParser &parser,
                             Type type) const override;
  }];
}

class UnaryOp<string mnemonic, Type tensor>
  : Op<MhloDialect, mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasCanonicalizeMethod = 1;
}

def CopyOp : UnaryOp<"copy", AnyRankedTensor> {
  let summary = "the operand in a buffer of its own";
}

def ErfOp : UnaryOp<"erf", RankedTensorOf<[AnyFloat]>> {
  let summary = "the error function";
}

#endif // SHARDONNAY_DIALECT_MHLO_MHLO_TD
