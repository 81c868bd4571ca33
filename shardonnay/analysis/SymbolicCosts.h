//===- SymbolicCosts.h - a plan's costs as formulas -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a program on global types whose collectives are planned. A tensor of which
// p shards divide a dim of size n has ceil(n / p) of it on a device, p being a
// product of axis sizes; what is sent, held and computed follows from that as
// in cost/Collective.h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_SYMBOLICCOSTS_H
#define SHARDONNAY_ANALYSIS_SYMBOLICCOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/cost/AxisFormula.h"
#include "shardonnay/dialect/sdy/Attributes.h"

namespace shardonnay {

/// Collectives of one kind along the same axes.
struct SymbolicCollective {
  CollectiveKind kind = CollectiveKind::Permute;
  AxisList axes;
  int64_t count = 0;
  /// What a device sends in all of them, loops as often as they run.
  AxisFormula bytes;
};

struct SymbolicCosts {
  /// Null if the program has none: then all is 0.
  mlir::sdy::MeshAttr mesh;
  /// In the order in which they first occur.
  std::vector<SymbolicCollective> collectives;
  /// Of contractions, on one device.
  AxisFormula flops;
  /// Of contractions, on all devices, less those of the program.
  AxisFormula redundantFlops;
  /// The most that a device holds at once, where that is at the sizes of the
  /// mesh.
  AxisFormula peakBytes;
};

/// The costs of the program's first public function, on its mesh.
SymbolicCosts readSymbolicCosts(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_SYMBOLICCOSTS_H
