//===- Ops.td - the program of one device ------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SPMD_OPS_TD
#define SHARDONNAY_DIALECT_SPMD_OPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardonnay/dialect/sdy/Attributes.td"
include "shardonnay/interfaces/LocalCompute.td"
include "shardonnay/interfaces/ShardingRule.td"

def Spmd_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::mlir::spmd";
  let summary = "The program that every device runs.";
  let description = [{
    Communication and the device's own place, on local types, over axes of a
    mesh. A *group* is the devices that differ along the operation's axes only;
    inside it a device's *index* counts along the axes, the first one major.
    Between the devices of a group nothing else is shared.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

class Spmd_Op<string mnemonic, list<Trait> traits = []>
    : Op<Spmd_Dialect, mnemonic, [Pure]#traits> {
  let hasVerifier = 1;
}

def Spmd_DeviceIndexOp : Spmd_Op<"device_index"> {
  let summary = "this device's index in its group";
  let description = [{
    ```mlir
    %0 = spmd.device_index @mesh {"x", "y"} : tensor<i32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, Sdy_AxisRefList:$axes);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let assemblyFormat = "$mesh $axes attr-dict `:` type($result)";
}

def Spmd_AllSliceOp : Spmd_Op<"all_slice"> {
  let summary = "this device's shard of a tensor that its group has whole";
  let description = [{
    Without communication. Dim `dim` is divided into as many shards as the group
    has devices; a device takes the shard of its index.

    ```mlir
    %1 = spmd.all_slice %0 dim=0 @mesh {"x"}
        : (tensor<8x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, I64Attr:$dim,
      FlatSymbolRefAttr:$mesh, Sdy_AxisRefList:$axes);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `dim` `` `=` `` $dim $mesh $axes attr-dict
    `:` functional-type($tensor, $result)
  }];
}

def Spmd_AllGatherOp : Spmd_Op<"all_gather"> {
  let summary = "the group's shards, concatenated along a dim in index order";
  let description = [{
    ```mlir
    %1 = spmd.all_gather %0 dim=0 @mesh {"x"}
        : (tensor<4x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, I64Attr:$dim,
      FlatSymbolRefAttr:$mesh, Sdy_AxisRefList:$axes);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `dim` `` `=` `` $dim $mesh $axes attr-dict
    `:` functional-type($tensor, $result)
  }];
}

def Spmd_AllToAllOp : Spmd_Op<"all_to_all"> {
  let summary = "shard i goes to device i of the group";
  let description = [{
    Dim `split_dim` is divided into shards, shard i goes to the device of index
    i, and the shards that arrive are concatenated along `concat_dim` in the
    order of their senders.

    ```mlir
    %1 = spmd.all_to_all %0 split_dim=0 concat_dim=1 @mesh {"x"}
        : (tensor<8x4xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, I64Attr:$split_dim,
      I64Attr:$concat_dim, FlatSymbolRefAttr:$mesh, Sdy_AxisRefList:$axes);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `split_dim` `` `=` `` $split_dim `concat_dim` `` `=` `` $concat_dim
    $mesh $axes attr-dict `:` functional-type($tensor, $result)
  }];
}

def Spmd_CollectivePermuteOp
    : Spmd_Op<"collective_permute", [SameOperandsAndResultType]> {
  let summary = "the shard that other axes name, of a device that has it";
  let description = [{
    A device holds the shard of a tensor that its indices along `source` name,
    axes per dim, and gets the one that its indices along `target` name: itself
    where it has it, else from a device that does and sends to no other.
    `source_mesh`: the axes of `source` are on another mesh of the same devices.
    Where a shard is in parts (partial sums), or one of a manual computation,
    one more list behind those of the dims has the axes that name the part.

    ```mlir
    %1 = spmd.collective_permute %0 [{"x"}, {"y"} ] -> [{"y"}, {"x"} ] @mesh
        : tensor<4x4xf32>
    %2 = spmd.collective_permute %1 [{"y"}, {"x"} ] of @reversed
        -> [{"y"}, {"x"} ] @mesh : tensor<4x4xf32>
    %3 = spmd.collective_permute %2 [{"y"}, {}, {"x"} ] of @reversed
        -> [{"y"}, {}, {"x"} ] @mesh : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor,
      Sdy_ListOfAxisRefLists:$source, Sdy_ListOfAxisRefLists:$target,
      FlatSymbolRefAttr:$mesh, OptionalAttr<FlatSymbolRefAttr>:$source_mesh);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor $source (`of` $source_mesh^)? `->` $target $mesh attr-dict
    `:` type($result)
  }];
}

def Spmd_AllReduceOp : Spmd_Op<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "the element-wise reduction of the group's tensors";
  let description = [{
    ```mlir
    %1 = spmd.all_reduce %0 @mesh {"x"} : tensor<4x4xf32>
    %2 = spmd.all_reduce max %0 @mesh {"x"} : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, FlatSymbolRefAttr:$mesh,
      Sdy_AxisRefList:$axes,
      DefaultValuedOptionalAttr<Sdy_ReductionKind,
                                "::shardonnay::ReductionKind::Sum">:$kind);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    `` custom<OptionalReductionKind>($kind) $tensor $mesh $axes attr-dict
    `:` type($result)
  }];
}

def Spmd_ReduceScatterOp : Spmd_Op<"reduce_scatter"> {
  let summary = "this device's shard of the reduction of the group's tensors";
  let description = [{
    ```mlir
    %1 = spmd.reduce_scatter %0 dim=0 @mesh {"x"}
        : (tensor<8x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, I64Attr:$dim,
      FlatSymbolRefAttr:$mesh, Sdy_AxisRefList:$axes,
      DefaultValuedOptionalAttr<Sdy_ReductionKind,
                                "::shardonnay::ReductionKind::Sum">:$kind);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    `` custom<OptionalReductionKind>($kind) $tensor `dim` `` `=` `` $dim $mesh
    $axes attr-dict `:` functional-type($tensor, $result)
  }];
}

def Spmd_PackOp : Spmd_Op<"pack"> {
  let summary = "the elements of several tensors, one tensor after the other";
  let description = [{
    Each in row-major order, in one dim. So that they can be sent together. Of one
    element type, or of numbers of as many bits, which stay as they are.

    With `pieces`, tensor i is `pieces` equal ones along its dim `dims[i]`: the
    first piece of each tensor comes first, then the second of each, and so on. So
    a reduce_scatter of what is packed gives each device its piece of every tensor.

    ```mlir
    %2 = spmd.pack %0, %1 : (tensor<4x4xf32>, tensor<f32>) -> tensor<17xf32>
    %5 = spmd.pack %3, %4 pieces=2 dims=[1, 0]
        : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<14xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$tensors,
      OptionalAttr<I64Attr>:$pieces, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensors (`pieces` `` `=` `` $pieces^ `dims` `` `=` `` $dims)? attr-dict
    `:` functional-type($tensors, $result)
  }];
}

def Spmd_UnpackOp : Spmd_Op<"unpack"> {
  let summary = "the tensors that a pack was made of";
  let description = [{
    With `pieces` and `dims` as `pack` has them: what is packed is an all_gather
    of so many packed tensors, and each result all pieces along its dim.

    ```mlir
    %3:2 = spmd.unpack %2 : (tensor<17xf32>) -> (tensor<4x4xf32>, tensor<f32>)
    %6:2 = spmd.unpack %5 pieces=2 dims=[1, 0]
        : (tensor<14xf32>) -> (tensor<3x4xf32>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor,
      OptionalAttr<I64Attr>:$pieces, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $tensor (`pieces` `` `=` `` $pieces^ `dims` `` `=` `` $dims)? attr-dict
    `:` functional-type($tensor, $results)
  }];
}

def Spmd_FetchWindowOp : Spmd_Op<"fetch_window"> {
  let summary = "this device's window of a dim that is sharded";
  let description = [{
    Dim `dim` of a tensor is sharded by `axes`: the device of index i along them
    holds, L being the dim's size in `tensor`, the positions
    [i * L, (i + 1) * L), of which those below `global_size` exist and the others
    have any content. A device of index w along `window_axes` (without them:
    along `axes`) gets in that dim

        result[j] = whole[start + step * w + j],   0 <= j < size,

    where whole[p] is `fill` (without it: anything) for p < 0 and for
    p >= global_size. Other dims are as they are. `step` is in positions: it is
    L for windows around the own shard (a halo), another one where the dim is
    sharded anew or the op has strides, negative where the dim is turned around.
    Without axes, on both sides, this is a slice with padding. Without
    communication where every window is in the own shard. A `periodic` dim goes
    on with its first position after its last: then p is p modulo global_size,
    and nothing is outside.

    ```mlir
    // A dim of 10 on x of size 4: 3, 3, 3 and 1. One neighbour on each side.
    %1 = spmd.fetch_window %0 dim=0 global_size=10 start=-1 step=3 size=5
        @mesh {"x"} fill %zero : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x4xf32>
    // The same dim, sharded by half of x into 5 and 5, by all of it.
    %3 = spmd.fetch_window %2 dim=0 global_size=10 start=0 step=3 size=3
        @mesh {"x":(1)2} to {"x"} : (tensor<5xf32>) -> tensor<3xf32>
    // A rotation by one: from one neighbour, and the first from the last.
    %5 = spmd.fetch_window %4 dim=0 global_size=12 start=-1 step=3 size=3
        @mesh {"x"} periodic : (tensor<3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor,
      Optional<AnyStaticShapeTensor>:$fill, I64Attr:$dim, I64Attr:$global_size,
      I64Attr:$start, I64Attr:$step, I64Attr:$size,
      OptionalAttr<FlatSymbolRefAttr>:$mesh,
      OptionalAttr<Sdy_AxisRefList>:$axes,
      OptionalAttr<Sdy_AxisRefList>:$window_axes, UnitAttr:$periodic);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `dim` `` `=` `` $dim `global_size` `` `=` `` $global_size
    `start` `` `=` `` $start `step` `` `=` `` $step `size` `` `=` `` $size
    custom<WindowAxes>($mesh, $axes, $window_axes) (`periodic` $periodic^)?
    (`fill` $fill^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The axes that shard the dim.
    ::llvm::ArrayRef<::mlir::sdy::AxisRefAttr> shardingAxes();
    /// The axes that count the windows.
    ::llvm::ArrayRef<::mlir::sdy::AxisRefAttr> countingAxes();
  }];
}

def Spmd_PeriodicWindowOp : Spmd_Op<"periodic_window", [
    DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["isLinear"]>,
    DeclareOpInterfaceMethods<LocalComputeOpInterface,
                              ["mayShard", "computeLocally"]>]> {
  let summary = "a window of a dim that goes on periodically";
  let description = [{
    On global types, until `partition` makes a `fetch_window` of it:

        result[j] = tensor[(start + j) mod n],   0 <= j < size,

    n being the size of dim `dim`, in the others as it is. A rotation, or padding
    with what is at the other end.

    ```mlir
    %1 = spmd.periodic_window %0 dim=0 start=-1 size=8
        : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, I64Attr:$dim,
      I64Attr:$start, I64Attr:$size);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $tensor `dim` `` `=` `` $dim `start` `` `=` `` $start `size` `` `=` ``
    $size attr-dict `:` functional-type($tensor, $result)
  }];
}

def Spmd_BarrierOp : Op<Spmd_Dialect, "barrier", [
    Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "its operand, of which nothing is known";
  let description = [{
    What is computed from it is not merged with what is computed from the
    operand, and not before `after` is: it is rematerialized on purpose.

    ```mlir
    %2 = spmd.barrier %0 after %1 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor,
                       Optional<AnyRankedTensor>:$after);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $tensor (`after` $after^)? attr-dict `:` functional-type(operands, $result)
  }];
}

def Spmd_OnDeviceOp : Op<Spmd_Dialect, "on_device", [
    AttrSizedOperandSegments, IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "what one device computes";
  let description = [{
    Device `device` of the mesh runs the body on its `inputs`, with its effects,
    and has what it returns; the others run nothing and have `otherwise`.
    Nothing is communicated, inside neither.

    ```mlir
    %1 = spmd.on_device 3 @mesh(%x) else(%zero) {
    ^bb0(%a: tensor<4xf32>):
      %2 = stablehlo.sine %a : tensor<4xf32>
      spmd.return %2 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$device, FlatSymbolRefAttr:$mesh,
      Variadic<AnyType>:$inputs, Variadic<AnyType>:$otherwise);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $device $mesh `(` $inputs `)` `else` `(` $otherwise `)` $body attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Spmd_ReturnOp : Op<Spmd_Dialect, "return", [
    Pure, Terminator, ReturnLike, HasParent<"OnDeviceOp">]> {
  let summary = "what the device that runs a body has of it";
  let description = [{
    ```mlir
    spmd.return %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, {}); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // SHARDONNAY_DIALECT_SPMD_OPS_TD
