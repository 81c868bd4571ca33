//===- Transfer.td - tokens, host, async -------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_TRANSFER_TD
#define SHARDONNAY_DIALECT_STABLEHLO_TRANSFER_TD

include "shardonnay/dialect/stablehlo/Base.td"

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

def AfterAllOp : HLOOp<"after_all", [Pure]> {
  let summary = "a token that comes after all others";
  let arguments = (ins Variadic<TokenType>:$inputs);
  let results = (outs TokenType:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<RepeatedType>(ref($inputs), type($inputs),
                                               type($result))
  }];
}

def CreateTokenOp : HLOOp<"create_token", [Pure]> {
  let summary = "a token that comes after nothing";
  let results = (outs TokenType:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
}

//===----------------------------------------------------------------------===//
// To and from hosts and other devices: effects, so that none goes missing
//===----------------------------------------------------------------------===//

class TransferOp<string mnemonic> : HLOOp<mnemonic, [
    MemoryEffects<[MemRead, MemWrite]>]>;

// Its results are tensors, then a token.
class ReceivingOp<string mnemonic> : TransferOp<mnemonic> {
  let results = (outs Variadic<HLOStaticValue>);
  let hasVerifier = 1;
}

def InfeedOp : ReceivingOp<"infeed"> {
  let summary = "tensors from the host";
  let arguments = (ins TokenType:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
}

def RecvOp : ReceivingOp<"recv"> {
  let summary = "tensors over a channel";
  let arguments = (ins TokenType:$token, ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
}

def OutfeedOp : TransferOp<"outfeed"> {
  let summary = "sends tensors to the host";
  let arguments = (ins Variadic<HLOTensor>:$inputs, TokenType:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs TokenType:$result);
}

def SendOp : TransferOp<"send"> {
  let summary = "sends tensors over a channel";
  let arguments = (ins Variadic<HLOTensor>:$inputs, TokenType:$token,
    ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs TokenType:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Async
//===----------------------------------------------------------------------===//

def AsyncStartOp : HLOOp<"async_start", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "starts the one collective or slice in its region";
  let arguments = (ins Variadic<HLOTensor>:$operands);
  let results = (outs FutureType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def AsyncDoneOp : HLOOp<"async_done", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the tensor of a future";
  let arguments = (ins FutureType:$operand);
  let results = (outs HLOTensor:$result);
  let hasVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_TRANSFER_TD
