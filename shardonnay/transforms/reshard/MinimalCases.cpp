//===- MinimalCases.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/MinimalCases.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace shardonnay {

bool joinsAlongDim(Operation *op, const FactorRule &rule) {
  auto isJoined = [&](size_t id) {
    llvm::SmallSet<int64_t, 2> sizes;
    int64_t operands = 0;
    auto look = [&](Value value, const TensorMapping &mapping) {
      if (!mapping.has(id))
        return false;
      auto type = cast<RankedTensorType>(value.getType());
      sizes.insert(type.getDimSize(mapping.dimOf(id)));
      return true;
    };
    for (auto [value, mapping] : llvm::zip(op->getOperands(), rule.operands))
      operands += look(value, mapping);
    for (auto [value, mapping] : llvm::zip(op->getResults(), rule.results))
      look(value, mapping);
    return operands > 1 && sizes.size() > 1;
  };
  return llvm::any_of(llvm::seq(rule.factors.size()), isJoined);
}

bool isWantedWhereContracted(Operation *op, const TensorSharding &made,
                             const MeshScope &scope) {
  auto sizeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  const TensorSharding &wanted = scope.read(op->getResult(0));
  const DimSharding *conflict = nullptr;
  for (auto [from, to] : llvm::zip_equal(made.dims, wanted.dims)) {
    if (from.axes == to.axes)
      continue;
    if (conflict || from.axes.empty() || !to.axes.excludes(made.unreduced))
      return false;
    conflict = &from;
  }
  return conflict && llvm::any_of(op->getOperands(), [&](Value operand) {
           return sizeOf(operand) >= sizeOf(op->getResult(0)) &&
                  llvm::is_contained(scope.read(operand).dims, *conflict);
         });
}

} // namespace shardonnay
