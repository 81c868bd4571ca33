//===- Transfer.cpp - tokens, host, async ---------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addTransferOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Transfer.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Transfer.cpp.inc"

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Tensors, then a token.
static LogicalResult checkReceived(Operation *op) {
  TypeRange types = op->getResultTypes();
  if (types.empty() || !isa<TokenType>(types.back()))
    return op->emitOpError("expected a token as its last result, got ")
           << (types.empty() ? Type(NoneType::get(op->getContext()))
                             : types.back());
  for (Type type : types.drop_back())
    if (!isa<RankedTensorType>(type))
      return op->emitOpError("expected tensors before its token, got ") << type;
  return success();
}

LogicalResult InfeedOp::verify() {
  if (failed(checkReceived(*this)))
    return failure();
  ArrayAttr layouts = getLayoutAttr();
  if (!layouts)
    return success();
  if (failed(checkCount(getLoc(), "layouts, one for each tensor",
                        layouts.size(), getNumResults() - 1)))
    return failure();
  for (Attribute layout : layouts) {
    auto dims = dyn_cast<ArrayAttr>(layout);
    if (!dims || !llvm::all_of(dims, llvm::IsaPred<IntegerAttr>))
      return emitOpError("expected a list of dims as a layout, got ") << layout;
  }
  return success();
}

/// That the type of the channel is that of its ends: 1 device to device, 2
/// device to host, 3 host to device.
static LogicalResult checkChannel(Operation *op, ChannelHandleAttr channel,
                                  int64_t expected) {
  if (channel.getType() == expected)
    return success();
  static constexpr StringRef names[] = {"device to device", "device to host",
                                        "host to device"};
  return op->emitOpError("has a channel of type ")
         << channel.getType() << ", expected " << expected << " ("
         << names[expected - 1] << ")";
}

LogicalResult RecvOp::verify() {
  if (failed(checkReceived(*this)))
    return failure();
  return checkChannel(*this, getChannelHandle(), getIsHostTransfer() ? 3 : 1);
}

LogicalResult SendOp::verify() {
  return checkChannel(*this, getChannelHandle(), getIsHostTransfer() ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// Async
//===----------------------------------------------------------------------===//

LogicalResult FutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> types) {
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      return emitError() << "expected a future of ranked tensors, got " << type;
  return success();
}

LogicalResult AsyncStartOp::verifyRegions() {
  Block &block = getBody().front();
  if (!llvm::hasNItems(block, 2))
    return emitOpError("expected one op and a return in its region, got ")
           << block.getOperations().size() << " ops";
  Operation &started = block.front();
  if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
           CollectivePermuteOp, ReduceScatterOp, DynamicSliceOp,
           DynamicUpdateSliceOp, SliceOp>(started))
    return shardonnay::pointAt(
        emitOpError("expected a collective or a slice in its region, got '")
            << started.getName() << "'",
        started.getLoc(), "the op in the region");
  if (block.getArgumentTypes() != getOperandTypes())
    return emitOpError("expected a region that takes ")
           << getOperandTypes() << ", got " << block.getArgumentTypes();
  TypeRange types = block.getTerminator()->getOperandTypes();
  if (TypeRange(getResult().getType().getTypes()) != types)
    return shardonnay::pointAt(
        emitOpError("expected a future of ")
            << types << ", got " << getResult().getType(),
        block.getTerminator()->getLoc(), "returned here");
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  ArrayRef<Type> types = getOperand().getType().getTypes();
  if (types.size() == 1 && areCompatible(types, getResult().getType()))
    return success();
  return shardonnay::pointAt(emitOpError("waits for ")
                                 << getOperand().getType()
                                 << ", expected a future of "
                                 << getResult().getType(),
                             getOperand().getLoc(), "started here");
}
