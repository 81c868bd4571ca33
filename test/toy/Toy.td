//===- Toy.td - the least that propagation asks for --------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TEST_TOY_TOY_TD
#define SHARDONNAY_TEST_TOY_TOY_TD

include "mlir/Dialect/Shard/Interfaces/ShardingInterface.td"
include "mlir/IR/OpBase.td"
include "shardonnay/interfaces/ShardingRule.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

// docs/add-a-dialect.md, begin
def Toy_MatmulOp : Op<Toy_Dialect, "matmul", [
    DeclareOpInterfaceMethods<ShardingInterface,
        ["getLoopIteratorTypes", "getIndexingMaps"]>]> {
  let summary = "lhs [m, k] times rhs [k, n]";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}
// docs/add-a-dialect.md, end

def Toy_ForwardOp : Op<Toy_Dialect, "forward", [
    AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
        ["getPropagationClass"]>]> {
  let summary = "its operand, where axes go forward first";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Toy_EitherOp : Op<Toy_Dialect, "either", [
    AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface>]> {
  let summary = "its operand, with the default class: after all that only pass";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // SHARDONNAY_TEST_TOY_TOY_TD
