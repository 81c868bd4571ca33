//===- CountedIndex.h - indices that count a loop ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends write the number of a row not only as `linalg.index`. torch-mlir
// reads it from a tensor: a constant, or the result of a generic that numbers
// its elements, with a negative one counted from the end.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_COUNTEDINDEX_H
#define SHARDONNAY_FRONTEND_COUNTEDINDEX_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace shardonnay {

/// The loop of `generic` whose number `index`, a value in its body, is in every
/// run; nothing if it is none's.
std::optional<int64_t> findCountedLoop(mlir::linalg::GenericOp generic,
                                       mlir::Value index);

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_COUNTEDINDEX_H
