//===- Dialect.td - shardings over device meshes -----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_DIALECT_TD
#define SHARDONNAY_DIALECT_SDY_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::mlir::sdy";
  let summary = "Shardings of tensors on a mesh of devices.";
  let description = [{
    Attributes that say which mesh axes shard each dim of a tensor, and
    operations that constrain, group, convert and resolve such shardings. All
    types are global: an operation of this dialect never changes a shape (the
    body of a `manual_computation` aside).

    The discardable attributes `sdy.sharding` (on function arguments and
    results: one sharding; on operations: one for each result) and
    `sdy.sharding_rule` may stand on operations of any dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // SHARDONNAY_DIALECT_SDY_DIALECT_TD
