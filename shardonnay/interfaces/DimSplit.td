//===- DimSplit.td - ops on dims that are split ------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_DIMSPLIT_TD
#define SHARDONNAY_INTERFACES_DIMSPLIT_TD

include "mlir/IR/OpBase.td"

def DimSplitOpInterface : OpInterface<"DimSplitOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op that can be written on tensors of which dims are split into several:
    [32, 8] becomes [4, 8, 8], with the same elements in the same order. Only
    dims are split whose factor passes through or is reduced, in all tensors
    that have it (ShardingRuleOpInterface); of a reshape also dims that are made
    of several factors, into these.
  }];
  let methods = [
    InterfaceMethod<[{
      The op on `operands`, with results of the types `results`. What speaks of
      dims has to follow; without an own method nothing does.
    }], "::mlir::Operation *", "splitDims",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
         "::mlir::TypeRange":$results,
         "const ::shardonnay::DimSplits &":$splits),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return ::shardonnay::cloneWithTypes($_op, builder, operands, results);
    }]>,
    InterfaceMethod<[{
      The op has a form with its dims split so.
    }], "bool", "maySplitDims", (ins "const ::shardonnay::DimSplits &":$splits),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return true; }]>,
    InterfaceMethod<[{
      A reshape: a copy of it with other types of as many elements is one too.
    }], "bool", "isReshape", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
  ];
}

#endif // SHARDONNAY_INTERFACES_DIMSPLIT_TD
