//===- Collectives.td - moves of whole tensors -------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_COLLECTIVES_TD
#define SHARDONNAY_DIALECT_SDY_COLLECTIVES_TD

include "shardonnay/dialect/sdy/CollectiveInterface.td"
include "shardonnay/dialect/sdy/Ops.td"

/// `own` is the text of the operation's own parameters, before the operand's.
class Sdy_CollectiveOp<string mnemonic, string own>
    : Sdy_Op<mnemonic, [Pure, SameOperandsAndResultType,
                        DeclareOpInterfaceMethods<CollectiveOpInterface>]> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = own # [{
    $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Sdy_AllGatherOp : Sdy_CollectiveOp<"all_gather", "$gathering_axes"> {
  let summary = "takes minor axes off dims";
  let description = [{
    ```mlir
    %1 = sdy.all_gather [{"y"}, {} ] %0
        out_sharding=<@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_ListOfAxisRefLists:$gathering_axes,
                       Sdy_TensorSharding:$out_sharding);
  let hasCanonicalizer = 1;
}

def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice", "$slicing_axes"> {
  let summary = "puts minor axes on dims, without communication";
  let description = [{
    ```mlir
    %1 = sdy.all_slice [{"y"}, {} ] %0
        out_sharding=<@mesh, [{"x", "y"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_ListOfAxisRefLists:$slicing_axes,
                       Sdy_TensorSharding:$out_sharding);
  let hasCanonicalizer = 1;
}

def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all", "$params"> {
  let summary = "moves minor axes from one dim to another";
  let description = [{
    ```mlir
    %1 = sdy.all_to_all [{"x"}: 0->1] %0
        out_sharding=<@mesh, [{}, {"x"} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_AllToAllParamList:$params,
                       Sdy_TensorSharding:$out_sharding);
  let hasCanonicalizer = 1;
}

def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute", ""> {
  let summary = "exchanges axes for others; no dim's number of shards changes";
  let description = [{
    The only collective whose meshes may differ, in the order of the devices.

    ```mlir
    %1 = sdy.collective_permute %0
        out_sharding=<@mesh, [{"y"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_TensorSharding:$out_sharding);
  let hasCanonicalizer = 1;
}

def Sdy_AllReduceOp : Sdy_CollectiveOp<"all_reduce", [{
      `` custom<OptionalReductionKind>($kind) $reduction_axes
    }]> {
  let summary = "combines partial values along axes";
  let description = [{
    ```mlir
    %1 = sdy.all_reduce {"y"} %0
        out_sharding=<@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    %2 = sdy.all_reduce max {"y"} %0
        out_sharding=<@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_AxisRefList:$reduction_axes,
                       Sdy_TensorSharding:$out_sharding,
                       DefaultValuedOptionalAttr<Sdy_ReductionKind,
                           "::shardonnay::ReductionKind::Sum">:$kind);
  let hasCanonicalizer = 1;
}

def Sdy_ReduceScatterOp : Sdy_CollectiveOp<"reduce_scatter", [{
      `` custom<OptionalReductionKind>($kind) $reduce_scatter_axes
    }]> {
  let summary = "combines partial values along axes and puts these on dims";
  let description = [{
    ```mlir
    %1 = sdy.reduce_scatter [{"y"}, {} ] %0
        out_sharding=<@mesh, [{"x", "y"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
                       Sdy_TensorSharding:$out_sharding,
                       DefaultValuedOptionalAttr<Sdy_ReductionKind,
                           "::shardonnay::ReductionKind::Sum">:$kind);
  let hasCanonicalizer = 1;
}

def Sdy_ShardedToUnreducedOp
    : Sdy_CollectiveOp<"sharded_to_unreduced", "$axes"> {
  let summary = "makes minor axes of dims unreduced (sum), for free";
  let description = [{
    ```mlir
    %1 = sdy.sharded_to_unreduced [{"y"}, {} ] %0
        out_sharding=<@mesh, [{"x"}, {} ], unreduced={"y"}> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_ListOfAxisRefLists:$axes,
                       Sdy_TensorSharding:$out_sharding);
  let hasCanonicalizer = 1;
}

def Sdy_ReplicatedToUnreducedOp
    : Sdy_CollectiveOp<"replicated_to_unreduced", "$axes"> {
  let summary = "makes unused axes unreduced (sum), for free";
  let description = [{
    ```mlir
    %1 = sdy.replicated_to_unreduced {"y"} %0
        out_sharding=<@mesh, [{"x"}, {} ], unreduced={"y"}> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Sdy_AxisRefList:$axes,
                       Sdy_TensorSharding:$out_sharding);
}

#endif // SHARDONNAY_DIALECT_SDY_COLLECTIVES_TD
