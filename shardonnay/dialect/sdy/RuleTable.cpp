//===- RuleTable.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/RuleTable.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include <cstddef>

using namespace mlir;
using namespace mlir::sdy;

/// All that the rules of such ops depend on. Has a copy of the properties, so
/// it outlives the op that it was read from.
struct RuleTable::OpKind {
  explicit OpKind(Operation *op)
      : name(op->getName()), attributes(op->getRawDictionaryAttrs()),
        operandTypes(op->getOperandTypes()), resultTypes(op->getResultTypes()) {
    if (op->getPropertiesStorageSize() == 0)
      return;
    properties = std::make_unique<std::max_align_t[]>(
        op->getPropertiesStorageSize() / sizeof(std::max_align_t) + 1);
    name.initOpProperties(storage(), op->getPropertiesStorage());
  }
  ~OpKind() {
    if (properties)
      name.destroyOpProperties(storage());
  }
  OpKind(const OpKind &) = delete;
  OpKind &operator=(const OpKind &) = delete;

  OpaqueProperties storage() const { return {properties.get()}; }

  bool describes(Operation *op) const {
    return op->getName() == name && op->getRawDictionaryAttrs() == attributes &&
           op->getOperandTypes() == TypeRange(operandTypes) &&
           op->getResultTypes() == TypeRange(resultTypes) &&
           (!properties ||
            name.compareOpProperties(storage(), op->getPropertiesStorage()));
  }

  OperationName name;
  /// Without what the op keeps as properties.
  DictionaryAttr attributes;
  SmallVector<Type> operandTypes, resultTypes;
  std::unique_ptr<std::max_align_t[]> properties;
};

void RuleTable::KindDeleter::operator()(OpKind *kind) const { delete kind; }

static size_t hashOf(Operation *op) {
  SmallVector<const void *, 8> parts = {
      op->getName().getAsOpaquePointer(),
      op->getRawDictionaryAttrs().getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    parts.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    parts.push_back(type.getAsOpaquePointer());
  return llvm::hash_combine(llvm::hash_combine_range(parts),
                            op->hashProperties());
}

/// A constant that is not of floats: it may be a shape or a position.
static bool mayBeLookedAt(Value operand) {
  auto tensor = dyn_cast<RankedTensorType>(operand.getType());
  if (tensor && isa<FloatType>(tensor.getElementType()))
    return false;
  Operation *op = operand.getDefiningOp();
  return op && (isa<ConstantOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

std::optional<int32_t> RuleTable::ask(Operation *op) {
  std::optional<shardonnay::FactorRule> rule = ruleOf(op);
  return rule ? std::optional(rules.intern(*rule)) : std::nullopt;
}

std::optional<int32_t> RuleTable::find(Operation *op) {
  // An op of any number of operands may ask whether they are parts of one value
  // (a concatenation of slices).
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::VariadicOperands>() ||
      llvm::any_of(op->getOperands(), mayBeLookedAt))
    return ask(op);
  size_t hash = hashOf(op);
  auto [first, last] = known.equal_range(hash);
  for (auto &[_, entry] : llvm::make_range(first, last))
    if (entry.kind->describes(op))
      return entry.rule;
  std::optional<int32_t> rule = ask(op);
  known.emplace(
      hash, Entry{std::unique_ptr<OpKind, KindDeleter>(new OpKind(op)), rule});
  return rule;
}

const shardonnay::FactorRule *RuleTable::get(Operation *op) {
  std::optional<int32_t> id = find(op);
  return id ? &rules[*id] : nullptr;
}
