//===- BatchingDims.h - gathers that read at their own position -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_BATCHINGDIMS_H
#define SHARDONNAY_INTERFACES_BATCHINGDIMS_H

#include "llvm/ADT/StringRef.h"

namespace shardonnay {

/// A DenseI64ArrayAttr on a `tensor.gather`, written by ReadsToGathers: pairs
/// of a gathered dim of the source and a dim of the indices, along which each
/// reads at its own position.
inline constexpr llvm::StringLiteral kBatchingDimsAttr("sdy.batching_dims");

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_BATCHINGDIMS_H
