//===- ShardingRule.td - how an op's dims decompose --------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_SHARDINGRULE_TD
#define SHARDONNAY_INTERFACES_SHARDINGRULE_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::shardonnay";
  let description = [{
    An op that says how the dims of its operands and results decompose into
    factors (algebra/Factor.h). Propagation, conflict resolution, resharding,
    partitioning and cost read this and nothing else of an op.
  }];
  let methods = [
    InterfaceMethod<[{
      The factor rule, on the op's present types: global before `partition`,
      local after it. Nothing if this op can't state one (a dynamic shape, a
      form that is not modelled): the op is then computed replicated.
      It depends on the op's name, attributes, types and regions, and on
      operands that are constants, and on nothing else but what
      `looksAtOperands` says: equal ops share rules (dialect/sdy/access/RuleTable.h).
    }], "std::optional<::shardonnay::FactorRule>", "getFactorRule">,
    InterfaceMethod<[{
      The rule also depends on which ops make the operands (a concatenation of
      slices). It is asked for each time then.
    }], "bool", "looksAtOperands", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
      When and in which direction propagation visits the op.
    }], "::shardonnay::PropagationClass", "getPropagationClass", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return ::shardonnay::PropagationClass::Compute;
    }]>,
    InterfaceMethod<[{
      Every result element depends on the operand elements at its own index
      only. Aggressive propagation treats such ops specially.
    }], "bool", "isElementwise", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return $_op->template hasTrait<::mlir::OpTrait::Elementwise>();
    }]>,
    InterfaceMethod<[{
      A multiply-add per point of the factor space (dot, convolution): its
      FLOPs are twice the product of all factor sizes.
    }], "bool", "isContraction", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
      The FLOPs of an op that is no contraction but does more than a few of
      them an element (a Fourier transform, a factorisation, a triangular
      solve, a product by groups), on the op's present types. 0 for all others.
    }], "int64_t", "getTransformFlops", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return 0; }]>,
    InterfaceMethod<[{
      Computed on summands (`kind` Max or Min: maximands, minimands) of the
      operands in `partial`, the others whole, the op makes summands of its
      results. True for an addition of two partial values, not of one: the
      other would be added by every device.
    }], "bool", "isLinear",
    (ins "::shardonnay::ReductionKind":$kind,
         "const ::llvm::SmallBitVector &":$partial),
    /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
  ];
}

#endif // SHARDONNAY_INTERFACES_SHARDINGRULE_TD
