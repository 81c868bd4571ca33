//===- GivenOrders.h - which given shardings come first ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an axis was given to dims of two groups (DimGroups.h), an op that has
// both can have it in one of them only, and which of the two gets there first
// depends on the order of propagation: they are rivals. Groups that no op has
// both of are none, like the heads and the hidden units of a transformer, or
// the hidden units of two layers. An order is a set of groups that come first,
// no two of them rivals, and no group missing that is no rival of these. The
// orders that are looked at are made around a cheap group, or one with many
// rivals, by adding the cheapest of the others. An estimate says what an order
// costs, if the axis is at its groups wherever it can be:
//   * for each op, as often as it runs: twice the bytes of its results where a
//     group is reduced (a sum is scattered and gathered), the bytes of the
//     tensors that have the group where the op needs it whole;
//   * for each tensor that was given the axis in a dim of another group: twice
//     its bytes (it is gathered, and what replaces it is scattered);
//   * for each result that has no dim of a group, as often as it is made: twice
//     its bytes (every device computes all of it).
//
// Worked example, a recurrence h' = tanh(h w + x) over x [1024, 64, 32], with
// the batch (64) of x and the rows of w [32, 32] sharded by one axis: with rows
// first each of the 1024 products is an all_reduce of h, 16 MiB in all; with
// the batch first w is gathered, 4 KiB.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENORDERS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENORDERS_H

#include "shardonnay/transforms/propagate/DimGroups.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace shardonnay {

/// What a graph does not know of its tensors and ops.
struct GraphWeights {
  /// By tensor.
  std::vector<double> bytes;
  /// By op of graph.ops(): how often it runs.
  std::vector<double> runs;
};

/// A dim that was given axes.
struct GivenDim {
  int32_t tensor;
  int64_t dim;

  bool operator==(const GivenDim &o) const {
    return tensor == o.tensor && dim == o.dim;
  }
};

class GivenOrders {
public:
  /// Of what was given in `graph`, which is not propagated yet; no more than
  /// `most`. Both outlive this.
  GivenOrders(const PropagationGraph &graph, const GraphWeights &weights,
              size_t most);

  /// Order 0 is the cheapest by the estimate at each axis, order 1 the second,
  /// as far as there is one, and so on. 0 if no axis was given to rivals.
  size_t size() const;
  /// The dims that come after all others.
  std::vector<GivenDim> findLater(size_t order) const;
  /// The part of all bytes, as often as they are made, of tensors that have a
  /// dim of a group that comes first, but not its axis there, as `graph` is
  /// now: no more than that may change with the order.
  double contestedShare(size_t order) const;
  /// The part of all bytes, as often as they are made, that are sharded
  /// otherwise in `before` and `after`, ids of shardings by tensor.
  double differingShare(llvm::ArrayRef<int32_t> before,
                        llvm::ArrayRef<int32_t> after) const;

private:
  /// A mesh, and an axis of it.
  using MeshAxis = std::pair<int32_t, int32_t>;
  /// What is known of a group whatever the axis.
  struct Uses {
    double cost = 0;
    /// Groups that some op has besides it.
    llvm::SetVector<int32_t> neighbors;
  };
  /// A group that an axis was given to.
  struct Rival {
    /// Of the tensors that were given the axis there.
    double bytes = 0;
    /// If it comes first.
    double cost = 0;
    llvm::SmallVector<int32_t, 4> rivals;
    /// Of the tensors that were given the axis at a rival.
    double bytesOfRivals = 0;
  };
  using Groups = llvm::DenseSet<int32_t>;
  struct Rivals {
    llvm::MapVector<int32_t, Rival> groups;
    /// Those that come first in each order.
    std::vector<Groups> orders;

    /// Nothing if the group is none of them. Behind the last order there is
    /// none.
    std::optional<bool> comesFirst(int32_t group, size_t order) const;
    llvm::SmallVector<int32_t>
    ranked(llvm::function_ref<double(const Rival &rival)> rank) const;
    /// `seed`, and of `ranked` all that are no rivals of it or of each other.
    Groups around(int32_t seed, llvm::ArrayRef<int32_t> ranked) const;
    double costOf(const Groups &first) const;
  };

  void readGiven();
  /// Of the groups of `axes`.
  llvm::DenseMap<int32_t, Uses> readUses() const;
  void readOp(int32_t op, llvm::DenseMap<int32_t, Uses> &uses) const;
  void weigh(Rivals &ofAxis, const llvm::DenseMap<int32_t, Uses> &uses) const;
  void order(Rivals &ofAxis, size_t most) const;
  /// By order, the bytes of results, as often as they are made, that have no
  /// dim of those that come first.
  std::vector<double> bytesMadeWhole(llvm::ArrayRef<Groups> orders) const;
  /// What it costs that an op has a factor sharded.
  double costAt(int32_t op, int32_t factor) const;
  /// The group of an op's factor; kNone if no tensor has it.
  int32_t groupOf(int32_t op, int32_t factor) const;
  bool isContested(int32_t tensor, size_t order) const;
  /// Of ops; the bytes are those of the result, as often as it is made.
  void forEachResult(
      llvm::function_ref<void(int32_t tensor, double bytes)> run) const;
  /// The part of the bytes of results for which `counts`.
  double shareOfResults(llvm::function_ref<bool(int32_t tensor)> counts) const;

  const PropagationGraph &graph;
  const GraphWeights &weights;
  DimGroups groups;
  /// In the order of tensors and dims, for each of the axes that a dim has.
  std::vector<std::pair<GivenDim, MeshAxis>> given;
  /// By axis, groups that it was given to and that have rivals.
  llvm::MapVector<MeshAxis, Rivals> axes;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENORDERS_H
