//===- GroupShardings.h - one sharding for a group --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H

#include "shardonnay/dialect/sdy/Ops.h"
#include "llvm/ADT/MapVector.h"

namespace shardonnay {

/// The members of each sharding group, by its number.
using GroupOps =
    llvm::MapVector<int64_t, llvm::SmallVector<mlir::sdy::ShardingGroupOp>>;

/// Gives the members of each group that of them which is written. Where they
/// have different ones, warns, and puts an open constraint on each member, to
/// be grouped in its place: true if it made such ops. `givers` gets the values
/// that were given a sharding, and whose it was.
bool shareShardings(const GroupOps &groups,
                    llvm::DenseMap<mlir::Value, mlir::Value> &givers);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_GROUPSHARDINGS_H
