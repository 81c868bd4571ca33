//===- WrittenCollective.td - exchanges that users write ---*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_WRITTENCOLLECTIVE_TD
#define SHARDONNAY_INTERFACES_WRITTENCOLLECTIVE_TD

include "mlir/IR/OpBase.td"

def WrittenCollectiveOpInterface : OpInterface<"WrittenCollectiveOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op of the user's program, in a manual computation, by which devices send
    each other data. It stays as it is; reports count it.
  }];
  let methods = [
    InterfaceMethod<[{
      What it sends; nothing if the op, with its present attributes, is no
      collective.
    }], "std::optional<::shardonnay::WrittenCollective>",
    "getWrittenCollective", (ins)>,
  ];
}

#endif // SHARDONNAY_INTERFACES_WRITTENCOLLECTIVE_TD
