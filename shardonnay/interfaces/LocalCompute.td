//===- LocalCompute.td - an op on one device's slices ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_LOCALCOMPUTE_TD
#define SHARDONNAY_INTERFACES_LOCALCOMPUTE_TD

include "mlir/IR/OpBase.td"

def LocalComputeOpInterface : OpInterface<"LocalComputeOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op that can write its own computation on one device's slices. The stage
    guarantees that operands and results agree on every factor's axes, that
    need-replication factors are not sharded, and that results over reduction
    factors are combined afterwards. A dim of size n that is sharded p ways has
    the local size ceil(n / p) on every device; what stands behind position n is
    unspecified, except that operands have the combiner's neutral element there
    in the dims of reduction factors.
  }];
  let methods = [
    InterfaceMethod<[{
      `computeLocally` can do with `factor` of `rule` sharded. Not asked of factors
      that nothing special is needed for. Where windowed factors are sharded, the
      op fetches what it needs (LocalContext::fetchWindow); a need-replication
      factor that may be sharded is treated as a windowed one.
    }], "bool", "mayShard",
    (ins "const ::shardonnay::FactorRule &":$rule, "int32_t":$factor),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return rule.factors[factor].kind != ::shardonnay::FactorKind::Windowed &&
             rule.factors[factor].kind !=
                 ::shardonnay::FactorKind::NeedReplication;
    }]>,
    InterfaceMethod<[{
      The op picks some positions of a dim: a rule in which that dim's factor is
      Indexed, in the operand only, so that it may be sharded. The devices that have
      the positions compute the result there, on the others it is the combiner's
      neutral element. Or it reduces a dim that propagation takes to be needed
      whole. It stands for the op's own rule from `reshard` on; propagation does
      not see it. Nothing if the op does neither.
    }], "std::optional<::shardonnay::FactorRule>", "getPickingRule", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<[{
      Builds this op on `operands` (local values, one per operand) and returns
      the local results, of `context.resultTypes()`. Emits an error at the op and
      fails where the sharding is not supported. The default clones the op with the
      local operands and result types: right for every op whose attributes
      mention no size of a dim.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "computeLocally",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
         "::shardonnay::LocalContext &":$context),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return ::shardonnay::cloneLocally($_op, builder, operands, context);
    }]>,
    InterfaceMethod<[{
      The op has an effect, but `computeLocally` sees to it that all devices
      together have it once (random numbers: all take those of one device).
    }], "bool", "hasEffectOnce", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
      The op returns its only operand in this memory. It may have an effect, which
      is this move, so that each device has the one of its shard.
    }], "std::optional<::shardonnay::Memory>", "movesTo", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<[{
      The op says which device it runs on or which ones it speaks to, which
      means something in a manual computation only.
    }], "bool", "namesDevices", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
  ];
}

#endif // SHARDONNAY_INTERFACES_LOCALCOMPUTE_TD
