//===- TripCount.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

namespace mlir::sdy {

std::optional<int64_t> readInteger(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa_and_present<SdyDialect>(op->getDialect()) ||
        op->getNumOperands() != 1 || op->getNumRegions() != 0)
      break;
    value = op->getOperand(0);
  }
  Attribute attribute;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    attribute = constant.getValue();
  else if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  APInt number;
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    number = integer.getValue();
  else if (auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
           elements && elements.getNumElements() == 1)
    number = *elements.value_begin<APInt>();
  else
    return std::nullopt;
  if (getElementTypeOrSelf(value.getType()).isUnsignedInteger())
    number = number.zext(number.getBitWidth() + 1);
  return number.trySExtValue();
}

Trips getTrips(Operation *op) {
  Trips trips;
  while ((op = op->getParentOp())) {
    auto dataFlow = dyn_cast<shardonnay::ShardableDataFlowOpInterface>(op);
    if (!dataFlow)
      continue;
    std::optional<int64_t> count = dataFlow.getTripCount(readInteger);
    trips.known &= count.has_value();
    if (count && *count > 0 && trips.count > kMostTrips / *count)
      trips.count = kMostTrips;
    else
      trips.count *= count.value_or(1);
  }
  return trips;
}

int64_t countTrips(Operation *loop) {
  Trips outside = getTrips(loop);
  Trips inside = getTrips(&loop->getRegions().back().front().back());
  if (!inside.known || outside.count == 0)
    return kAssumedTrips;
  return inside.count / outside.count;
}

} // namespace mlir::sdy
