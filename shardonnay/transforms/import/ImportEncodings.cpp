//===- ImportEncodings.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The encoding of each value's type is checked, and becomes the value's
//    sharding (`importValue`, and `importFunction` for arguments and results).
// 2. All types lose their shardings.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTENCODINGSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// The sharding that `type` has for an encoding; null if it has none.
TensorShardingAttr getEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<TensorShardingAttr>(tensor.getEncoding())
                : nullptr;
}

bool hasEncoding(TypeRange types) { return llvm::any_of(types, getEncoding); }

/// `op` or a block in it has a value of such a type.
bool mentionsEncoding(Operation *op) {
  if (auto func = dyn_cast<func::FuncOp>(op))
    if (hasEncoding(func.getArgumentTypes()) ||
        hasEncoding(func.getResultTypes()))
      return true;
  if (hasEncoding(op->getResultTypes()))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (hasEncoding(block.getArgumentTypes()))
        return true;
  return false;
}

/// `encoding` fits a value of `type`, and is `present` if there is one.
LogicalResult check(TensorShardingAttr encoding, TensorShardingAttr present,
                    Type type, Operation *op, const Twine &what) {
  auto emitError = [&] { return op->emitOpError() << what << ": "; };
  if (failed(verifySharding(encoding, type, op, emitError)))
    return failure();
  if (present && present != encoding)
    return emitError() << "its type says the sharding " << encoding
                       << ", but the sharding " << present
                       << " is written; take one of them away";
  return success();
}

LogicalResult importFunction(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    TensorShardingAttr encoding = getEncoding(argument.getType());
    if (!encoding)
      continue;
    if (failed(check(encoding, getSharding(argument), argument.getType(), func,
                     "argument " + Twine(argument.getArgNumber()))))
      return failure();
    setSharding(argument, encoding);
  }
  for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
    TensorShardingAttr encoding = getEncoding(type);
    if (!encoding)
      continue;
    if (failed(check(encoding, getFuncResultSharding(func, index), type, func,
                     "result " + Twine(index))))
      return failure();
    setFuncResultSharding(func, index, encoding);
  }
  return success();
}

/// Moves the encoding of a value into its sharding. A block argument must be in
/// a class of values: others can have no sharding.
LogicalResult importValue(Value value, Operation *op, const Twine &what) {
  TensorShardingAttr encoding = getEncoding(value.getType());
  if (!encoding)
    return success();
  if (failed(check(encoding, getSharding(value), value.getType(), op, what)))
    return failure();
  if (isa<OpResult>(value) || getEdgeOwner(value))
    setSharding(value, encoding);
  return success();
}

LogicalResult importOp(Operation *op) {
  if (auto func = dyn_cast<func::FuncOp>(op))
    return importFunction(func);
  for (OpResult result : op->getResults())
    if (failed(importValue(result, op,
                           "result " + Twine(result.getResultNumber()))))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(importValue(argument, op,
                               "block argument " +
                                   Twine(argument.getArgNumber()))))
          return failure();
  return success();
}

RankedTensorType withoutEncoding(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

void dropEncodings(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> Type {
    return getEncoding(type) ? withoutEncoding(type) : type;
  });
  replacer.addReplacement([](DenseElementsAttr elements) -> Attribute {
    auto type = dyn_cast<RankedTensorType>(elements.getType());
    return type && getEncoding(type) ? elements.reshape(withoutEncoding(type))
                                     : elements;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

struct ImportEncodingsPass
    : impl::ImportEncodingsPassBase<ImportEncodingsPass> {
  void runOnOperation() override {
    bool found = false;
    for (Operation *op : getAnalysis<ProgramOps>())
      if (mentionsEncoding(op)) {
        found = true;
        if (failed(importOp(op)))
          return signalPassFailure();
      }
    if (!found)
      return markAllAnalysesPreserved();
    dropEncodings(getOperation());
  }
};

} // namespace

} // namespace shardonnay
