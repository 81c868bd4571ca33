//===- NumberChannels.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_NUMBERCHANNELSPASS
#include "shardonnay/emit/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kChannel("channel_handle");

struct NumberChannelsPass : impl::NumberChannelsPassBase<NumberChannelsPass> {
  void runOnOperation() override {
    // The two ends of a transfer have one number.
    int64_t last = 0;
    getOperation()->walk([&](Operation *op) {
      if (isa<stablehlo::SendOp, stablehlo::RecvOp>(op))
        last = std::max(last, getChannel(op).getHandle());
    });
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<stablehlo::SendOp, stablehlo::RecvOp>(op))
        return;
      if (stablehlo::ChannelHandleAttr channel = getChannel(op))
        setChannel(op, stablehlo::ChannelHandleAttr::get(&getContext(), ++last,
                                                         channel.getType()));
    });
  }

private:
  static stablehlo::ChannelHandleAttr getChannel(Operation *op) {
    if (!isa_and_present<stablehlo::StablehloDialect>(op->getDialect()))
      return nullptr;
    std::optional<Attribute> channel = op->getInherentAttr(kChannel);
    return channel ? dyn_cast_if_present<stablehlo::ChannelHandleAttr>(*channel)
                   : nullptr;
  }
  static void setChannel(Operation *op, stablehlo::ChannelHandleAttr channel) {
    op->setInherentAttr(StringAttr::get(op->getContext(), kChannel), channel);
  }
};

} // namespace

} // namespace shardonnay
