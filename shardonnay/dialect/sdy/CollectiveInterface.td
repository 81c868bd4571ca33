//===- CollectiveInterface.td - what collectives do --------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_COLLECTIVEINTERFACE_TD
#define SHARDONNAY_DIALECT_SDY_COLLECTIVEINTERFACE_TD

include "mlir/IR/OpBase.td"

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::sdy";
  let description = [{
    A move of a whole tensor from one sharding to another. Whatever is said of
    all collectives, what they cost (`plan/PricedShard.h`) and which local ops
    stand for them (`partition/LocalCollectives.h`), is a `LocalShard` that they
    are applied to, so a new collective is one method.
  }];
  let methods = [
    InterfaceMethod<[{
      Does to `shard`, a local shard of the operand on `mesh`, what the op does: an
      exchange for each dim that it touches, the first dim first.
    }], "void", "applyTo",
    (ins "::shardonnay::LocalShard &":$shard, "::mlir::sdy::MeshAttr":$mesh)>,
  ];
}

#endif // SHARDONNAY_DIALECT_SDY_COLLECTIVEINTERFACE_TD
