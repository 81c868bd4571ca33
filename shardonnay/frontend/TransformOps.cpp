//===- TransformOps.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/IR/OpImplementation.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "shardonnay/frontend/TransformOps.cpp.inc"

namespace {

class ShardingTransforms
    : public transform::TransformDialectExtension<ShardingTransforms> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShardingTransforms)

  void init() {
    declareDependentDialect<sdy::SdyDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "shardonnay/frontend/TransformOps.cpp.inc"
        >();
  }
};

} // namespace

DiagnosedSilenceableFailure
transform::SetOpShardingOp::apply(transform::TransformRewriter &,
                                  transform::TransformResults &,
                                  transform::TransformState &state) {
  for (Operation *op : state.getPayloadOps(getTarget()))
    op->setAttr(sdy::kOpShardingAttr, getSharding());
  return DiagnosedSilenceableFailure::success();
}

void transform::SetOpShardingOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

/// The value is one that says its own sharding.
static bool hasOwnSharding(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return !isa_and_present<sdy::SdyDialect>(value.getDefiningOp()->getDialect());
}

DiagnosedSilenceableFailure
transform::SetShardingOp::apply(transform::TransformRewriter &,
                                transform::TransformResults &,
                                transform::TransformState &state) {
  for (Value value : state.getPayloadValues(getTarget())) {
    if (!hasOwnSharding(value)) {
      auto failure =
          emitDefiniteFailure()
          << "sets the sharding of a value that has none of its own; "
             "expected a tensor that is an argument of a function, "
             "or the result of an op other than sdy's";
      failure.attachNote(value.getLoc()) << "the value is this one";
      return failure;
    }
    Operation *owner = value.getParentRegion()->getParentOp();
    auto emitError = [&] { return emitOpError("sharding: "); };
    if (failed(sdy::verifySharding(getSharding(), value.getType(), owner,
                                   emitError)))
      return DiagnosedSilenceableFailure::definiteFailure();
    sdy::setSharding(value, getSharding());
  }
  return DiagnosedSilenceableFailure::success();
}

void transform::SetShardingOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

void shardonnay::registerTransformOps(DialectRegistry &registry) {
  registry.insert<transform::TransformDialect>();
  registry.addExtensions<ShardingTransforms>();
}

void shardonnay::registerTransformPasses() {
  transform::registerTransformPasses();
}
