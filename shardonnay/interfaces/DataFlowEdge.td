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
    An op whose results and block arguments are copies of other values:
    optimisation barrier, loops, branches, computations with a body. Its values
    fall into classes of equal sharding. A class has
      * one owner, a result or a block argument, which keeps the sharding;
      * sources: the operands, of the op or of its regions' terminators, whose
        values flow into the class;
      * targets: the results and block arguments that are copies, the owner
        first.

    A loop `%r = while(%arg = %init) cond {..} do {.. return %next}` has one
    class: owner %r, sources %init and %next, targets %r and both regions' %arg.

    The defaults read RegionBranchOpInterface: an op that has it needs only the
    empty external model.
  }];
  let methods =
      [InterfaceMethod<[{
      The values that own a class: results, then block arguments.
    }],
                       "::llvm::SmallVector<::mlir::Value>", "getEdgeOwners",
                       (ins),
                       /*methodBody=*/"", /*defaultImplementation=*/[{
      return ::shardonnay::regionBranchOwners($_op);
    }]>,
       InterfaceMethod<[{
      Every result owns a class, and nothing else does.
    }],
                       "bool", "resultsOwnClasses", (ins),
                       /*methodBody=*/"",
                       /*defaultImplementation=*/[{ return false; }]>,
       InterfaceMethod<[{
      The operands whose values flow into the class of `owner`.
    }],
                       "::llvm::SmallVector<::mlir::OpOperand *>",
                       "getEdgeSources", (ins "::mlir::Value":$owner),
                       /*methodBody=*/"",
                       /*defaultImplementation=*/[{
      return ::shardonnay::regionBranchSources($_op, owner);
    }]>,
       InterfaceMethod<[{
      The copies, `owner` first.
    }],
                       "::llvm::SmallVector<::mlir::Value>", "getEdgeTargets",
                       (ins "::mlir::Value":$owner), /*methodBody=*/"",
                       /*defaultImplementation=*/[{
      if ($_op->getNumRegions() == 0)
        return ::llvm::SmallVector<::mlir::Value>{owner};
      return ::shardonnay::regionBranchTargets($_op, owner);
    }]>,
       InterfaceMethod<[{
      The body sees one device's part along some axes. Where these stand in the
      sharding on the outer side: of a result, its own, of a block argument, its
      sources'. Nothing if both sides see the same tensor.
    }],
                       "std::optional<::shardonnay::ManualBoundary>",
                       "getManualBoundary", (ins "::mlir::Value":$owner),
                       /*methodBody=*/"",
                       /*defaultImplementation=*/[{ return std::nullopt; }]>,
       InterfaceMethod<[{
      How often the regions run each time the op does; nothing if that is not
      known. `constantOf` reads the integer that a value is.
    }],
                       "std::optional<int64_t>", "getTripCount",
                       (ins "::shardonnay::ConstantReader":$constantOf),
                       /*methodBody=*/"",
                       /*defaultImplementation=*/[{
      return ::shardonnay::defaultTripCount($_op);
    }]>,
  ];
}

#endif // SHARDONNAY_INTERFACES_DATAFLOWEDGE_TD
