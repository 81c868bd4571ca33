//===- Dialect.cpp - the discardable attributes of the sdy dialect --------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"

using namespace mlir;
using namespace mlir::sdy;

#include "shardonnay/dialect/sdy/Dialect.cpp.inc"

/// `sdy.sharding` of an operation. One without results may say on which device
/// it runs.
static LogicalResult verifyOperationSharding(Operation *op, Attribute attr) {
  auto shardings = dyn_cast<TensorShardingPerValueAttr>(attr);
  if (!shardings) // C24
    return op->emitOpError()
           << "expected '" << kShardingAttr
           << "' to be an '#sdy.sharding_per_value', got " << attr;
  if (op->getNumResults() == 0 && shardings.getShardings().size() == 1)
    return verifySharding(shardings.getShardings().front(),
                          NoneType::get(op->getContext()), op,
                          [&] { return op->emitOpError("sharding: "); });
  return verifyShardings(shardings, op->getResultTypes(), op, "result");
}

/// As many as there are classes that a block argument owns.
static LogicalResult verifyBlockArgumentShardings(Operation *op,
                                                  Attribute attr) {
  auto shardings = dyn_cast<TensorShardingPerValueAttr>(attr);
  auto dataFlow = dyn_cast<shardonnay::ShardableDataFlowOpInterface>(op);
  if (!shardings || !dataFlow)
    return op->emitOpError()
           << "expected '" << kBlockArgumentShardingsAttr
           << "' to be an '#sdy.sharding_per_value' on an operation that "
              "passes values on, got "
           << attr;
  SmallVector<Type> types;
  for (Value owner : dataFlow.getEdgeOwners())
    if (isa<BlockArgument>(owner))
      types.push_back(owner.getType());
  return verifyShardings(shardings, types, op, "block argument");
}

/// `sdy.op_sharding`: how many factors there are, and what they allow, is asked
/// where it is applied.
static LogicalResult verifyOpSharding(Operation *op, Attribute attr) {
  auto sharding = dyn_cast<TensorShardingAttr>(attr);
  if (!sharding) // C24
    return op->emitOpError() << "expected '" << kOpShardingAttr
                             << "' to be an '#sdy.sharding', got " << attr;
  SmallVector<int64_t> sizes(sharding.getRank(), ShapedType::kDynamic);
  auto factors =
      RankedTensorType::get(sizes, IntegerType::get(op->getContext(), 1));
  auto emitError = [&] { return op->emitOpError("op sharding: "); };
  if (failed(verifySharding(sharding, factors, op, emitError)))
    return failure();
  if (!sharding.getUnreducedAxes().empty()) // C90
    return emitError() << "factors have no partial values, expected no "
                          "unreduced axes";
  return success();
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (attr.getName() == kShardingAttr)
    return verifyOperationSharding(op, attr.getValue());
  if (attr.getName() == kBlockArgumentShardingsAttr)
    return verifyBlockArgumentShardings(op, attr.getValue());
  if (attr.getName() == kOpShardingAttr)
    return verifyOpSharding(op, attr.getValue());
  if (attr.getName() != kShardingRuleAttr)
    return verifyPropagationRecord(op, attr);
  auto rule = dyn_cast<OpShardingRuleAttr>(attr.getValue());
  if (!rule) // C40
    return op->emitOpError()
           << "expected '" << kShardingRuleAttr
           << "' to be an '#sdy.op_sharding_rule', got " << attr.getValue();
  return verifyRule(rule, op);
}

/// `sdy.sharding` or `sdy.given_sharding` of a function's argument or result.
static LogicalResult verifyFunctionSharding(Operation *op, NamedAttribute attr,
                                            Type type, EmitError emitError) {
  if (attr.getName() != kShardingAttr && attr.getName() != kGivenShardingAttr)
    return success();
  auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
  if (!sharding) // C24
    return emitError() << "expected '" << attr.getName().getValue()
                       << "' to be an '#sdy.sharding', got " << attr.getValue();
  return verifySharding(sharding, type, op, emitError);
}

/// The argument's own line if it is known, else the function's.
static Location getArgumentLoc(FunctionOpInterface function,
                               unsigned argument) {
  if (!function.isExternal()) {
    Location own = function.getArgument(argument).getLoc();
    if (own->findInstanceOf<FileLineColLoc>())
      return own;
  }
  return function.getLoc();
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyFunctionSharding(
      op, attr, function.getArgumentTypes()[argument], [&] {
        return emitError(getArgumentLoc(function, argument))
               << "'" << op->getName() << "' op argument " << argument << ": ";
      });
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned result,
                                                      NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyFunctionSharding(
      op, attr, function.getResultTypes()[result],
      [&] { return op->emitOpError() << "result " << result << ": "; });
}
