//===- MeshFactoring.h - meshes for shardings without one -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds, for all the tiled HLO shardings of a program, the meshes that they are
// made from, one if that is possible.
//
// Let p(device) be the place of a device in some *order*, at first the devices'
// own. A *segment* [s, t), s dividing t, is the digit (p / s) mod (t / s). A
// sharding *fits* an order if along each of its tile dims p runs through a
// sequence of segments, major to minor, and all these segments are disjoint and
// together give p. An iota is such a sequence from the start; where the tiles
// split it at a place that does not divide, and for listed devices, the tile
// array itself is read. (The order of copies does not matter, nor that of the
// members of any other subgroup: they are sorted first.) A sharding that fits
// no order so far makes a new one, its own tile array.
//
// Each order has one mesh. Let C be the ends of all segments that shard
// something, with 1 and N; those that divide, or are divided by, every other
// member of C form a chain, and the mesh has an axis between each two
// neighbours of it. All segments then are unions of axes and of sub-axes. So
// two shardings
//
//   {devices=[4,2]<=[8]}                       segments [2,8) and [1,2)
//   {devices=[2,1,4]<=[8] last_tile_dim_replicate}         [4,8)
//
// have C = 1 2 4 8, the mesh 2x2x2, and are [{0, 1}, {2}] and [{0}, {}]; but
// the halves and the thirds of 6 devices are C = 1 2 3 6, the mesh 6, and
// sub-axes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_MESHFACTORING_H
#define SHARDONNAY_FRONTEND_MESHFACTORING_H

#include "shardonnay/frontend/HloSharding.h"

namespace shardonnay {

/// A sharding in terms of one of the meshes.
struct FactoredSharding {
  size_t mesh = 0;
  /// All dims closed.
  TensorSharding sharding;
  /// The axes of the manual subgroup, major to minor.
  AxisList manual;
};

class MeshFactoring {
public:
  /// Shardings of programs on `numDevices` devices.
  explicit MeshFactoring(int64_t numDevices);

  /// Takes a tiled sharding into account; false if its devices are not 0 ..
  /// numDevices - 1, each once. Others than tiled ones need not be added.
  bool add(const HloSharding &sharding);
  /// After the last `add`.
  void finish();

  /// One for each order of devices; the first one has the devices' own order
  /// and exists always.
  llvm::ArrayRef<Mesh> meshes() const { return result; }
  /// A sharding that was added, or one that is Replicated, Manual or Unreduced
  /// (on the first mesh), for a tensor of rank `rank`.
  FactoredSharding get(const HloSharding &sharding, int64_t rank) const;

private:
  struct Segment {
    int64_t start = 1;
    int64_t end = 1;
  };
  using Segments = llvm::SmallVector<Segment, 4>;
  struct Digits {
    size_t order = 0;
    /// The axes of each tile dim, the last tile dims included.
    llvm::SmallVector<Segments, 4> dims;
  };

  /// The segments of an iota; nothing where the tiles split one.
  static std::optional<Digits> readIota(const HloSharding &sharding);
  /// The segments of a tile array of places; nothing if there are none.
  static std::optional<Digits> readArray(llvm::ArrayRef<int64_t> tiles,
                                         llvm::ArrayRef<int64_t> places);
  /// The segments whose sums are `offsets`, major to minor.
  static std::optional<Segments> readLine(llvm::ArrayRef<int64_t> offsets);
  Digits read(const HloSharding &sharding) const;
  AxisList toAxes(const Segments &segments, const Mesh &mesh) const;

  int64_t numDevices;
  /// Device at each place; empty for the devices' own order.
  std::vector<std::vector<int64_t>> orders;
  /// C of each order.
  std::vector<std::vector<int64_t>> ends;
  std::vector<Mesh> result;
};

/// The HLO sharding with the same map from devices to slices: an iota where the
/// mesh has the devices' own order. Openness, priorities, replicated axes and
/// the kind of reduction are lost. `manual` axes may not be used in `sharding`.
HloSharding toHloSharding(const Mesh &mesh, const TensorSharding &sharding,
                          const AxisList &manual = {});

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_MESHFACTORING_H
