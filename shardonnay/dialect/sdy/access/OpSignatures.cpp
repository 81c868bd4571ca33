//===- OpSignatures.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/OpSignatures.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include <cstddef>

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::CompositeKey;

/// A reducer has one or two ops, one that sorts by a key a few more.
static constexpr size_t kMostRegionOps = 8;

OpSignatures::~OpSignatures() {
  for (auto &[_, copy] : properties)
    copy.name.destroyOpProperties({copy.storage.get()});
}

const void *OpSignatures::internProperties(Operation *op) {
  size_t size = op->getPropertiesStorageSize();
  if (size == 0)
    return nullptr;
  OperationName name = op->getName();
  size_t hash = llvm::hash_combine(name.getAsOpaquePointer(),
                                   size_t(op->hashProperties()));
  auto [first, last] = properties.equal_range(hash);
  for (auto &[_, known] : llvm::make_range(first, last))
    if (known.name == name &&
        name.compareOpProperties({known.storage.get()},
                                 op->getPropertiesStorage()))
      return known.storage.get();
  auto storage =
      std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1);
  name.initOpProperties({storage.get()}, op->getPropertiesStorage());
  return properties.emplace(hash, Properties{name, std::move(storage)})
      ->second.storage.get();
}

bool OpSignatures::append(Operation *op, CompositeKey &key) {
  key.add(op->getName(), op->getRawDictionaryAttrs(), internProperties(op),
          op->getNumResults());
  key.addAll(op->getResultTypes());
  key.add(op->getNumRegions());
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return appendRegion(region, key);
  });
}

bool OpSignatures::appendRegion(Region &region, CompositeKey &key) {
  key.add(region.getBlocks().size());
  if (region.empty())
    return true;
  if (!region.hasOneBlock())
    return false;
  SmallVector<Value, 8> values(region.getArguments());
  key.add(values.size());
  for (Value value : values)
    key.add(value.getType());
  size_t ops = 0;
  for (Operation &op : region.front()) {
    if (++ops > kMostRegionOps || op.getNumRegions() != 0 || !append(&op, key))
      return false;
    key.add(op.getNumOperands());
    for (Value operand : op.getOperands()) {
      auto *known = llvm::find(values, operand);
      if (known == values.end())
        return false;
      key.add(known - values.begin());
    }
    llvm::append_range(values, op.getResults());
  }
  key.add(ops);
  return true;
}

void OpSignatures::appendConstant(Value value, CompositeKey &key) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if ((tensor && isa<FloatType>(tensor.getElementType())) || !op ||
      !(isa<ConstantOp>(op) || op->hasTrait<OpTrait::ConstantLike>()))
    return key.add(0);
  append(op, key);
}
