//===- LocalCompute.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/LocalCompute.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// `sdy.sharding` and its like speak of global types.
static bool speaksOfShardings(NamedAttribute attr) {
  return attr.getName().getValue().starts_with("sdy.");
}

static void dropShardings(Operation *op) {
  for (NamedAttribute attr :
       llvm::to_vector(op->getDiscardableAttrDictionary()))
    if (speaksOfShardings(attr))
      op->removeDiscardableAttr(attr.getName());
}

Value shardonnay::LocalContext::fetchWindow(OpBuilder &builder, Location loc,
                                            Value tensor,
                                            const FactorWindow &window,
                                            Value fill) {
  int64_t dim = rule().tensor(window.tensor).dimOf(window.factor);
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  ShardWindow sharded =
      shardWindow(window, factorAxes(window.factor).numShards(), size);
  return fetchWindow(builder, loc, tensor, window, sharded, fill);
}

llvm::SmallVector<shardonnay::FactorWindow, 2>
shardonnay::LocalContext::shardWindows() const {
  llvm::SmallVector<FactorWindow, 2> windows;
  for (const FactorWindow &window : rule().windows)
    if (rule().isFetched(window, factorAxes(window.factor).numShards()))
      windows.push_back(window);
  return windows;
}

shardonnay::AxisList shardonnay::axesOfDim(const LocalContext &context,
                                           const TensorMapping &mapping,
                                           int64_t dim) {
  AxisList axes;
  for (int32_t factor : mapping.dims[dim])
    axes.append(context.factorAxes(factor));
  return axes;
}

shardonnay::AxisList
shardonnay::axesOfPartialSums(const LocalContext &context) {
  const FactorRule &rule = context.rule();
  AxisList axes;
  for (auto [id, factor] : llvm::enumerate(rule.factors))
    if (rule.reducesOver(id) && factor.combiner == ReductionKind::Sum)
      axes.append(context.factorAxes(id));
  return axes;
}

llvm::SmallVector<Value> shardonnay::cloneLocally(Operation *op,
                                                  OpBuilder &builder,
                                                  ValueRange operands,
                                                  const LocalContext &context) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(context.resultTypes());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!speaksOfShardings(attr))
      state.addAttribute(attr.getName(), attr.getValue());
  for (Region &region : op->getRegions()) {
    IRMapping mapping;
    Region *copy = state.addRegion();
    region.cloneInto(copy, mapping);
    copy->walk(dropShardings);
  }
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

std::optional<shardonnay::Memory> shardonnay::getMemoryMovedTo(Operation *op) {
  auto compute = dyn_cast<LocalComputeOpInterface>(op);
  return compute ? compute.movesTo() : std::nullopt;
}

#include "shardonnay/interfaces/LocalCompute.cpp.inc"
