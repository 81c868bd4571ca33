//===- HloSharding.h - HLO's own form of a sharding -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HLO has no mesh. A tiled sharding is an array of devices, the *tile array*:
// its leading dims divide the dims of the tensor, one for one, into tiles[d]
// shards of ceil(size / tiles[d]); its last dims, as many as there are
// `subgroups`, say what the devices of one shard have in common. The devices
// stand in the tile array row-major; at place k stands
//
//   list[k],                                        if they are listed (V1), or
//   the k-th element of iota(N) reshaped to `reshape`, transposed by
//   `permutation` and flattened                                        (V2).
//
// Worked example: {devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate} for a
// matrix: rows are whole, columns are sharded 2 ways, and each half is on 4
// devices. iota(8) as 4x2, transposed, flattened: 0 2 4 6 1 3 5 7. So the even
// devices hold the left half.
//
// Grammar (blanks are allowed between any two tokens):
//
//   sharding ::= '{' body '}' | '{' [ sharding { ',' sharding } ] '}'   (tuple)
//   body     ::= word { word }
//   word     ::= 'replicated' | 'manual' | 'unreduced' | 'unknown'
//              | 'maximal' | 'device=' int
//              | 'devices=' dims ( int { ',' int } | '<=' dims [ 'T' perm ] )
//              | 'last_tile_dim_replicate'
//              | 'last_tile_dims={' kind { ',' kind } '}'
//              | ( 'shard_as' | 'shard_like' ) int
//              | 'metadata={' anything, braces and quotes in pairs '}'
//   dims     ::= '[' int { ',' int } ']'        perm ::= '(' int { ',' int }
//   ')' kind     ::= 'manual' | 'replicated' | 'unreduced'
//
// Exactly one of the first five kinds of words is there, except that `unknown`
// need not be said beside a group. Metadata is skipped. Without `T` the iota is
// not transposed; others want it said where `dims` are several.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_HLOSHARDING_H
#define SHARDONNAY_FRONTEND_HLOSHARDING_H

#include "shardonnay/algebra/Layout.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace shardonnay {

/// The order of the devices in a tile array.
struct DeviceOrder {
  /// V2; both empty where the devices are listed.
  llvm::SmallVector<int64_t, 4> reshape;
  llvm::SmallVector<int64_t, 4> permutation;
  /// V1; empty where the order is an iota.
  std::vector<int64_t> list;

  static DeviceOrder iota(llvm::ArrayRef<int64_t> reshape,
                          llvm::ArrayRef<int64_t> permutation);
  bool isIota() const { return list.empty(); }
  int64_t size() const;
  int64_t deviceAt(int64_t place) const;
  bool operator==(const DeviceOrder &o) const {
    return reshape == o.reshape && permutation == o.permutation &&
           list == o.list;
  }
};

/// What the devices that differ along one of the last tile dims hold: their own
/// share of a program that is manual there, summands, or copies.
enum class Subgroup { Manual, Unreduced, Replicated };

/// A value. Only what `kind` speaks of is set.
struct HloSharding {
  enum class Kind {
    Replicated, ///< everything on every device
    Manual,     ///< the program is each device's own
    Unreduced,  ///< every device holds a summand of everything
    Unknown,    ///< nothing is said
    Maximal,    ///< everything on `device`
    Tiled,
    Tuple,
  };
  /// How the values of a group are sharded alike: `As`, in every way; `Like`,
  /// where it does not hinder.
  enum class GroupKind { None, As, Like };

  Kind kind = Kind::Replicated;
  int64_t device = 0;
  /// Tiled: the shape of the tile array, all >= 1.
  llvm::SmallVector<int64_t, 4> tiles;
  /// What the last tile dims stand for.
  llvm::SmallVector<Subgroup, 2> subgroups;
  DeviceOrder devices;
  std::vector<HloSharding> elements;
  GroupKind groupKind = GroupKind::None;
  int64_t group = 0;

  static HloSharding of(Kind kind) {
    HloSharding result;
    result.kind = kind;
    return result;
  }

  /// Tiled: the rank of the tensor.
  int64_t rank() const { return tiles.size() - subgroups.size(); }
  /// What `device` holds of a tensor of `shape`, empty intervals as start =
  /// limit; nothing if it holds nothing (Maximal, or not in the tile array) or
  /// if the sharding does not say (Manual, Unknown, Tuple).
  std::optional<llvm::SmallVector<Interval, 4>>
  slice(llvm::ArrayRef<int64_t> shape, int64_t device) const;

  std::string str() const;
  bool operator==(const HloSharding &o) const;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const HloSharding &sharding);

/// Why a text is no sharding: "expected ']', got 'x'", and where.
struct HloShardingError {
  size_t position = 0;
  std::string message;
};

/// The sharding that `text` spells; nothing, and `error`, if it spells none:
/// wrong grammar, a tile array whose size is not the number of devices, a
/// device twice, numbers out of range, more than 2^24 devices.
std::optional<HloSharding> parseHloSharding(llvm::StringRef text,
                                            HloShardingError &error);

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_HLOSHARDING_H
