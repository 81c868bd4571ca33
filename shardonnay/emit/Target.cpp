//===- Target.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/Target.h"

#include "mlir/IR/BuiltinTypes.h"

namespace shardonnay {

bool Target::combines(mlir::Type element, ReductionKind kind) const {
  return kind == ReductionKind::Sum || ordersComplex ||
         !mlir::isa<mlir::ComplexType>(element);
}

} // namespace shardonnay
