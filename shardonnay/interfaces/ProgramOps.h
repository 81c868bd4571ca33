//===- ProgramOps.h - the ops of a program as a list ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a program that is larger than the cache a walk waits for each op before it
// knows the next. From a list ops are fetched ahead, which takes a sixth of the
// time. A pass that makes, erases or moves no op preserves this analysis, and
// so does one that says in `forEachSharded` what it did.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_PROGRAMOPS_H
#define SHARDONNAY_INTERFACES_PROGRAMOPS_H

#include "mlir/IR/Operation.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/support/VerifiedAnalysis.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Compiler.h"
#include <algorithm>
#include <array>
#include <cstdint>

namespace shardonnay {

/// An op and all that are inside, in the order of the text.
class ProgramOps : public VerifiedAnalysis<ProgramOps> {
public:
  ProgramOps() = default;
  explicit ProgramOps(mlir::Operation *root) {
    walkOps<mlir::WalkOrder::PreOrder>(
        root, [&](mlir::Operation *op) { append(op); });
  }

  void append(mlir::Operation *op) {
    ops.push_back(op);
    addKind(op->getName());
  }
  /// The kinds of all ops that were ever in the list.
  const llvm::DenseSet<mlir::OperationName> &kinds() const { return names; }
  size_t size() const { return ops.size(); }
  /// To be asked for in order: fetches those that come.
  mlir::Operation *operator[](size_t at) const { return fetchElement(ops, at); }
  /// Begins at the op at `at`.
  auto iterator(size_t at) const {
    return llvm::map_iterator(llvm::seq<size_t>(0, size()).begin() + at,
                              [this](size_t at) { return (*this)[at]; });
  }
  auto begin() const { return iterator(0); }
  auto end() const { return iterator(ops.size()); }

  /// Takes out those from `from` to `to`. The others keep their places until
  /// `close`.
  void takeOut(size_t from, size_t to) {
    std::fill(ops.begin() + from, ops.begin() + to, nullptr);
  }
  void close() { llvm::erase(ops, nullptr); }

  /// Leaves out the regions of ops with a sharding rule: they are part of what
  /// the op computes, and nothing in them is sharded. `visit` may take the op
  /// by reference, to erase one without regions and set it to null, or to put
  /// another in its place.
  template <typename VisitT> void forEachSharded(VisitT visit) {
    for (size_t at = 0; at < size();) {
      mlir::Operation *op = (*this)[at];
      bool ownsRegions =
          op->getNumRegions() != 0 && llvm::isa<ShardingRuleOpInterface>(op);
      visit(ops[at]);
      if (ops[at])
        addKind(ops[at]->getName());
      ++at;
      while (ownsRegions && at < size() && op->isProperAncestor(ops[at]))
        ++at;
    }
    close();
  }

  std::optional<std::string> findDifference() const {
    ProgramOps present(ops.front());
    if (ops != present.ops)
      return "it lists other ops than there are";
    if (llvm::any_of(present.kinds(), [&](mlir::OperationName name) {
          return !names.contains(name);
        }))
      return "there are kinds of ops that it does not know";
    return std::nullopt;
  }

private:
  /// Looks it up only if it is not among the latest.
  void addKind(mlir::OperationName name) {
    const void *key = name.getAsOpaquePointer();
    const void *&known =
        latest[llvm::DenseMapInfo<const void *>::getHashValue(key) %
               latest.size()];
    if (known != key)
      names.insert(name);
    known = key;
  }

  /// It grows in place where that is possible: fresh memory costs more than
  /// what is written to it.
  llvm::SmallVector<mlir::Operation *, 0> ops;
  llvm::DenseSet<mlir::OperationName> names;
  std::array<const void *, 64> latest{};
};

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_PROGRAMOPS_H
