//===- Collective.td - communication -----------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_COLLECTIVE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_COLLECTIVE_TD

include "shardonnay/dialect/stablehlo/Base.td"

class DeviceIndexOp<string mnemonic> : InferringOp<mnemonic, [Pure]> {
  let results = (outs HLOTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def PartitionIdOp : DeviceIndexOp<"partition_id">;
def ReplicaIdOp : DeviceIndexOp<"replica_id">;

// No memory effect, so that an unused one disappears and equal ones merge, on
// every device alike; but not speculatable: all devices must get there.
class CollectiveOp<string mnemonic, list<Trait> traits = []>
  : HLOOp<mnemonic, traits> {
  dag groups = (ins ReplicaGroupsAttr:$replica_groups,
                    OptionalAttr<ChannelHandleAttr>:$channel_handle);
  dag groupsAndIds = !con(groups, (ins UnitAttr:$use_global_device_ids));
  let hasVerifier = 1;
}

class CombiningOp<string mnemonic> : CollectiveOp<mnemonic, [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let regions = (region SizedRegion<1>:$computation);
  let hasRegionVerifier = 1;
}

def AllReduceOp : CombiningOp<"all_reduce"> {
  let summary = "on every device of a group, the group's tensors combined";
  let arguments = !con((ins Variadic<HLOTensor>:$operands), groupsAndIds);
  let results = (outs Variadic<HLOTensor>);
}

def ReduceScatterOp : CombiningOp<"reduce_scatter"> {
  let summary = "on each device of a group, its part of the combined tensors";
  let arguments = !con((ins HLOTensor:$operand, DimAttr:$scatter_dimension),
                       groupsAndIds);
  let results = (outs HLOTensor:$result);
}

def AllGatherOp : CollectiveOp<"all_gather", [NoMemoryEffect]> {
  let summary = "the group's tensors, concatenated in one dim";
  let arguments = !con((ins Variadic<HLOTensor>:$operands,
                            DimAttr:$all_gather_dim), groupsAndIds);
  let results = (outs Variadic<HLOTensor>);
}

def AllToAllOp : CollectiveOp<"all_to_all", [NoMemoryEffect]> {
  let summary = "splits in one dim, sends a part to each, concatenates";
  let arguments = !con((ins Variadic<HLOTensor>:$operands,
                            DimAttr:$split_dimension, DimAttr:$concat_dimension,
                            ConfinedAttr<I64Attr, [IntPositive]>:$split_count),
                       groups);
  let results = (outs Variadic<HLOTensor>);
}

def CollectivePermuteOp : CollectiveOp<"collective_permute",
    [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "the tensor of the device that sends here, else zeros";
  let arguments = (ins HLOTensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<ChannelHandleAttr>:$channel_handle);
  let results = (outs HLOTensor:$result);
}

def CollectiveBroadcastOp : CollectiveOp<"collective_broadcast",
    [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "on each device of a group, the tensor of the group's first";
  let arguments = !con((ins HLOTensor:$operand), groups);
  let results = (outs HLOTensor:$result);
}

// The sum of an all_reduce over replicas, in its old form.
def CrossReplicaSumOp : HLOOp<"cross-replica-sum",
    [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "on every replica of a group, the sum of the group's tensors";
  let arguments = (ins HLOTensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs HLOTensor:$result);
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_COLLECTIVE_TD
