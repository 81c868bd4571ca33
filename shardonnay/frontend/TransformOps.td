//===- TransformOps.td - scripts that edit shardings -------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_TRANSFORMOPS_TD
#define SHARDONNAY_FRONTEND_TRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"
include "shardonnay/dialect/sdy/Attributes.td"

class SdyTransform_Op<string mnemonic>
    : Op<Transform_Dialect, "sdy." # mnemonic,
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
          ReportTrackingListenerFailuresOpTrait]>;

def SetOpShardingOp : SdyTransform_Op<"set_op_sharding"> {
  let summary = "gives ops a sharding of their factors";
  let description = [{
    Each op of the handle gets `sdy.op_sharding`, in place of the one that it
    has. The program is to be propagated after it:

    ```mlir
    transform.sdy.set_op_sharding %matmul <@mesh, [{"x"}, {}, {"y"} ]> : !transform.any_op
    transform.apply_registered_pass "sdy-propagation-pipeline" to %module
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Sdy_TensorSharding:$sharding);
  let assemblyFormat = "$target $sharding attr-dict `:` type($target)";
}

def SetShardingOp : SdyTransform_Op<"set_sharding"> {
  let summary = "gives values a sharding";
  let description = [{
    In place of the one that they have: of arguments of functions and of results
    of ops. A value of another kind is an error.

    ```mlir
    %weight = transform.get_operand %matmul[1] : (!transform.any_op) -> !transform.any_value
    transform.sdy.set_sharding %weight <@mesh, [{}, {"x"} ]> : !transform.any_value
    ```
  }];
  let arguments = (ins TransformValueHandleTypeInterface:$target,
                       Sdy_TensorSharding:$sharding);
  let assemblyFormat = "$target $sharding attr-dict `:` type($target)";
}

#endif // SHARDONNAY_FRONTEND_TRANSFORMOPS_TD
