//===- AxisFormula.h - counts as formulas in axis sizes ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program sends, holds or computes depends on how many devices an axis
// has. A formula keeps the axes as unknowns, so that one plan can be read for
// meshes of all sizes: an all_gather of 8x32 floats along x, sharded by x and
// y, sends 4 * ceil(8 / x) * ceil(32 / y) * (x - 1) bytes.
//
// Only constants are folded; where a term divides, it rounds as the counts of
// Collective.h do, so that a formula at the sizes of the mesh is the count.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_COST_AXISFORMULA_H
#define SHARDONNAY_COST_AXISFORMULA_H

#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/cost/Collective.h"
#include <memory>

namespace shardonnay {

class AxisFormula {
public:
  AxisFormula(int64_t value = 0);
  /// The size of `axis` of `mesh`. That of a sub-axis is a number, but where it
  /// is the minor part of its axis, which grows with it.
  static AxisFormula sizeOf(AxisRef axis, const Mesh &mesh);
  /// Into how many shards `axes` divide.
  static AxisFormula numShards(const AxisList &axes, const Mesh &mesh);
  /// a / b, rounded up.
  static AxisFormula ceilDiv(const AxisFormula &a, const AxisFormula &b);
  /// What others have of `a` that b devices share: a * (b - 1) / b, rounded up.
  static AxisFormula othersShare(const AxisFormula &a, const AxisFormula &b);

  AxisFormula operator+(const AxisFormula &other) const;
  AxisFormula operator-(const AxisFormula &other) const;
  AxisFormula operator*(const AxisFormula &other) const;

  /// With axes of these sizes.
  int64_t evaluate(llvm::ArrayRef<int64_t> axisSizes) const;
  /// In the names of axes.
  std::string str(llvm::ArrayRef<std::string> names) const;

private:
  enum class Kind : uint8_t {
    Constant,
    Axis,
    Sum,
    Difference,
    Product,
    CeilDiv,
    OthersShare
  };
  struct Node;
  AxisFormula(Kind kind, const AxisFormula &a, const AxisFormula &b);
  std::optional<int64_t> constant() const;
  /// In parentheses where it binds less than `parent`.
  void print(llvm::raw_ostream &os, llvm::ArrayRef<std::string> names,
             int parent) const;

  std::shared_ptr<const Node> node;
};

/// What a device sends in a collective of groups of `groupSize` devices, each
/// of which puts in `inputBytes`: collectiveCost.
AxisFormula collectiveBytes(CollectiveKind kind, const AxisFormula &groupSize,
                            const AxisFormula &inputBytes);

} // namespace shardonnay

#endif // SHARDONNAY_COST_AXISFORMULA_H
