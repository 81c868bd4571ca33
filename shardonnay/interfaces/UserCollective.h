//===- UserCollective.h - exchanges that users write ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_USERCOLLECTIVE_H
#define SHARDONNAY_INTERFACES_USERCOLLECTIVE_H

#include "mlir/IR/OpDefinition.h"
#include "shardonnay/cost/Collective.h"

namespace shardonnay {

/// An axis of a mesh: the one called `name`, or the part of `size` behind
/// `preSize` of it.
struct NamedAxis {
  llvm::StringRef name;
  int64_t preSize = 1, size = 0;
};

/// A mesh by the name of its symbol, or what it consists of.
struct CollectiveMesh {
  mlir::FlatSymbolRefAttr symbol;
  /// Names and sizes, the major one first.
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> axes;
  /// The devices in the mesh's order; none: 0, 1, ..
  llvm::SmallVector<int64_t> deviceIds;
};

struct UserCollective {
  /// That which sends as much.
  CollectiveKind kind = CollectiveKind::Permute;
  /// As the user calls it.
  llvm::StringRef name;
  /// "" if nothing is reduced.
  llvm::StringRef reduction;
  /// Positions in the mesh's order of those that send each other data: groups,
  /// or pairs of source and target. None, and no `axes`: all devices together.
  llvm::SmallVector<llvm::SmallVector<int64_t>> groups;
  /// The groups are pairs: who is no target receives nothing.
  bool inPairs = false;
  /// Another op waits for its result: it is the first of a pair of ops.
  bool isStart = false;
  /// Instead of groups: those that differ along these axes alone.
  std::optional<llvm::SmallVector<NamedAxis>> axes;
  /// The op's operands that are sent; as large as what is sent at most, on
  /// average.
  llvm::SmallVector<mlir::Value> sent;
};

} // namespace shardonnay

#include "shardonnay/interfaces/UserCollective.h.inc"

#endif // SHARDONNAY_INTERFACES_USERCOLLECTIVE_H
