//===- DataFlowEdge.td - ops that only pass values on ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_DATAFLOWEDGE_TD
#define SHARDONNAY_INTERFACES_DATAFLOWEDGE_TD

include "mlir/IR/OpBase.td"

def ShardableDataFlowOpInterface : OpInterface<"ShardableDataFlowOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op whose results (and block arguments) are copies of other values:
    optimisation barrier, loops, branches. All values of one such class must
    have one sharding; an edge op stands for the class during propagation.
  }];
  let methods = [
    InterfaceMethod<[{
      The values that own an edge: one per class of values.
    }], "::llvm::SmallVector<::mlir::Value>", "getEdgeOwners">,
    InterfaceMethod<[{
      The operands whose values flow into the class of `owner`.
    }], "::llvm::SmallVector<::mlir::OpOperand *>", "getEdgeSources",
    (ins "::mlir::Value":$owner)>,
  ];
}

#endif // SHARDONNAY_INTERFACES_DATAFLOWEDGE_TD
