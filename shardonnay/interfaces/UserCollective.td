//===- UserCollective.td - exchanges that users write ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_USERCOLLECTIVE_TD
#define SHARDONNAY_INTERFACES_USERCOLLECTIVE_TD

include "mlir/IR/OpBase.td"

def UserCollectiveOpInterface : OpInterface<"UserCollectiveOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op of the user's program, in a manual computation, by which devices send
    each other data. It stays as it is; reports count it.
  }];
  let methods = [
    InterfaceMethod<[{
      What it sends; nothing if the op, with its present attributes, is no
      collective.
    }], "std::optional<::shardonnay::UserCollective>",
    "getUserCollective", (ins)>,
    InterfaceMethod<[{
      The mesh on whose axes it sends; nothing if it says the devices otherwise.
    }], "std::optional<::shardonnay::CollectiveMesh>",
    "getCollectiveMesh", (ins)>,
    InterfaceMethod<[{
      Has it, which has such a mesh, send on the same axes of `mesh`.
    }], "void", "setCollectiveMesh",
    (ins "const ::shardonnay::CollectiveMesh &":$mesh)>,
    InterfaceMethod<[{
      Has it send among the devices of each of `groups`, which are all devices
      in groups of one size.
    }], "void", "setCollectiveGroups",
    (ins "::llvm::ArrayRef<::llvm::SmallVector<int64_t>>":$groups)>,
  ];
}

#endif // SHARDONNAY_INTERFACES_USERCOLLECTIVE_TD
