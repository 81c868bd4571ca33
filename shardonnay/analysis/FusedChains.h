//===- FusedChains.h - what needs no memory of its own ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers of one device's program compute chains of element-wise ops at once.
// The value between two ops of a chain is in no memory where all that read it
// do it element by element: element-wise ops, broadcasts, slices, reductions.
// With several readers each computes it again, which is done where it reads no
// more than one value from memory. A reshape or a transpose of what is in
// memory is another reading of it.
//
//   %1 = exp %0; %2 = multiply %1, %a; %3 = reduce %2    of %1, %2 nothing
//   %1 = exp %0; %2 = dot %1, %a                         %1 is in memory
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_FUSEDCHAINS_H
#define SHARDONNAY_ANALYSIS_FUSEDCHAINS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

class FusedChains {
public:
  /// Finds the chains among the block's own ops, not those in its regions.
  explicit FusedChains(mlir::Block &block);

  /// The values in memory that are read for `value`: itself, if it is there.
  llvm::ArrayRef<mlir::Value> sources(mlir::Value value) const;
  bool isInMemory(mlir::Value value) const { return !chains.contains(value); }

  /// The result may take the place of an operand that is read no more.
  static bool worksInPlace(mlir::Operation *op);

private:
  void add(mlir::Operation &op);
  /// What is in memory of what `op` reads; nothing if that is too much.
  std::optional<llvm::SmallVector<mlir::Value, 4>>
  sourcesOf(mlir::Operation &op) const;

  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 4>> chains;
};

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_FUSEDCHAINS_H
