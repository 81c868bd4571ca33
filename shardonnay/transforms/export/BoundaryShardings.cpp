//===- BoundaryShardings.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/export/BoundaryShardings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace shardonnay {

using Trim = llvm::function_ref<AxisList(AxisList, int64_t, const Mesh &)>;

/// `attr` trimmed; null if there is nothing to trim.
static sdy::TensorShardingAttr trim(func::FuncOp func, Type type,
                                    sdy::TensorShardingAttr attr,
                                    sdy::TensorShardingAttr givenAttr,
                                    bool keepsClosed, Trim trimAxes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !attr)
    return {};
  sdy::NamedMesh named = sdy::NamedMesh::of(func, attr);
  Mesh mesh = named.toMesh();
  TensorSharding sharding = named.read(attr);
  TensorSharding given = TensorSharding::fullyOpen(tensor.getRank());
  if (givenAttr && sdy::getMesh(func, givenAttr) == named.mesh)
    given = named.read(givenAttr);
  bool changed = false;
  for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
    if ((dim.closed && keepsClosed) || tensor.isDynamicDim(d))
      continue;
    AxisList axes = trimAxes(dim.axes, tensor.getDimSize(d), mesh);
    const AxisList &least = given.dims[d].axes;
    if (axes.isPrefixOf(least) && least.isPrefixOf(dim.axes))
      axes = least;
    changed |= axes != dim.axes;
    dim.axes = axes;
  }
  if (!changed)
    return {};
  return named.write(sharding);
}

static void trimCall(func::CallOp call, Trim trimAxes) {
  auto func = call->getParentOfType<func::FuncOp>();
  for (Value result : call.getResults())
    if (auto trimmed = trim(func, result.getType(), sdy::getSharding(result),
                            /*givenAttr=*/{}, /*keepsClosed=*/true, trimAxes))
      sdy::setSharding(result, trimmed);
}

void trimCallShardings(ModuleOp module, Trim trimAxes) {
  module.walk([&](func::CallOp call) { trimCall(call, trimAxes); });
}

void trimBoundaryShardings(ModuleOp module, TrimScope keeps, Trim trimAxes) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (keeps.privateFunctions && func.isPrivate())
      continue;
    sdy::SignatureAttributes signature(func);
    for (BlockArgument argument : func.getArguments()) {
      sdy::TensorShardingAttr given;
      if (keeps.given)
        given = func.getArgAttrOfType<sdy::TensorShardingAttr>(
            argument.getArgNumber(), sdy::kGivenShardingAttr);
      if (auto trimmed =
              trim(func, argument.getType(), sdy::getSharding(argument), given,
                   keeps.closedDims, trimAxes))
        signature.setArgument(argument.getArgNumber(), sdy::kShardingAttr,
                              trimmed);
    }
    for (auto [result, type] : llvm::enumerate(func.getResultTypes())) {
      sdy::TensorShardingAttr given;
      if (keeps.given)
        given = func.getResultAttrOfType<sdy::TensorShardingAttr>(
            result, sdy::kGivenShardingAttr);
      if (auto trimmed =
              trim(func, type, sdy::getFuncResultSharding(func, result), given,
                   keeps.closedDims, trimAxes))
        signature.setResult(result, sdy::kShardingAttr, trimmed);
    }
  }
}

} // namespace shardonnay
