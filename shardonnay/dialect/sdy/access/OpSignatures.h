//===- OpSignatures.h - what equal ops have in common -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs repeat themselves: a model of a thousand layers has a few dozen
// different ops. What is found out of an op from what it is alone (its rule,
// its cheapest strategy) is found out once for all that are equal to it. An
// op's signature says what it is, but for its operands: name, attributes,
// properties, result types, and its regions op by op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H

#include "mlir/IR/Operation.h"
#include "shardonnay/support/CompositeKey.h"
#include <memory>
#include <unordered_map>

namespace mlir::sdy {

/// Keys that are equal are of equal ops, as long as this lives: it keeps copies
/// of the properties that they stand for.
class OpSignatures {
public:
  OpSignatures() = default;
  ~OpSignatures();
  OpSignatures(const OpSignatures &) = delete;
  OpSignatures &operator=(const OpSignatures &) = delete;

  /// Appends the signature of `op`. False if its regions have too many ops for
  /// that, or use a value from outside; the key is of no use then.
  bool append(Operation *op, shardonnay::CompositeKey &key);
  /// Appends what `value` is for an op that looks at constants: its signature
  /// if it is a constant that is not of floats, which may be a shape or a
  /// position.
  void appendConstant(Value value, shardonnay::CompositeKey &key);

private:
  struct Properties {
    OperationName name;
    std::unique_ptr<std::max_align_t[]> storage;
  };
  /// A pointer that equal properties of one kind of op share; null if it has
  /// none.
  const void *internProperties(Operation *op);
  bool appendRegion(Region &region, shardonnay::CompositeKey &key);

  /// By their hash.
  std::unordered_multimap<size_t, Properties> properties;
};

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H
