//===- ConstantExpression.td - what constants pass through -*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_TD
#define SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_TD

include "mlir/IR/OpBase.td"

def ConstantExpressionOpInterface
    : OpInterface<"ConstantExpressionOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op that is cheap to compute again for each use if its operands are
    constants, or such expressions: iota (no operands), broadcast, reshape,
    slice, element-wise ops. Import clones it for each use, so that no sharding
    flows from one use to another. Only attached to ops without effects.
  }];
  let methods = [
    InterfaceMethod<[{
      This op, with its present attributes, may be cloned so.
    }], "bool", "isConstantExpression", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return true; }]>,
  ];
}

#endif // SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_TD
