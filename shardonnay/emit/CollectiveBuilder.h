//===- CollectiveBuilder.h - StableHLO's collectives ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything in the emitted program that depends on how the engine numbers its
// devices, in one place.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_COLLECTIVEBUILDER_H
#define SHARDONNAY_EMIT_COLLECTIVEBUILDER_H

#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/DeviceGrid.h"
#include "shardonnay/emit/Target.h"
#include <map>

namespace shardonnay {

/// As groups and pairs are written.
mlir::DenseIntElementsAttr toRowsAttr(mlir::Builder &builder,
                                      const DeviceRows &rows);

class CollectiveBuilder {
public:
  /// `meshAxesGroups`: replica groups name the axes of the mesh instead of
  /// devices, where the op has flattened ids and the mesh all devices.
  CollectiveBuilder(mlir::OpBuilder &builder, DeviceGrid grid,
                    bool meshAxesGroups, const Target &target)
      : builder(builder), grid(grid), meshAxesGroups(meshAxesGroups),
        target(target) {}

  /// See buildDeviceIndex.
  mlir::Value index(mlir::Location loc, const Mesh &mesh, const AxisList &axes,
                    int64_t scale = 1);

  /// `size` of `dim` from `start` on.
  mlir::Value slice(mlir::Location loc, mlir::Value tensor, int64_t dim,
                    mlir::Value start, int64_t size);

  mlir::Value allGather(mlir::Location loc, mlir::Value tensor, int64_t dim,
                        const mlir::sdy::NamedMesh &mesh, const AxisList &axes);
  mlir::Value allToAll(mlir::Location loc, mlir::Value tensor, int64_t splitDim,
                       int64_t concatDim, const mlir::sdy::NamedMesh &mesh,
                       const AxisList &axes);
  /// Fails, with an error at `loc`, if the target can't combine these.
  mlir::FailureOr<mlir::Value> allReduce(mlir::Location loc, mlir::Value tensor,
                                         ReductionKind kind,
                                         const mlir::sdy::NamedMesh &mesh,
                                         const AxisList &axes);
  mlir::FailureOr<mlir::Value>
  reduceScatter(mlir::Location loc, mlir::Type type, mlir::Value tensor,
                int64_t dim, ReductionKind kind,
                const mlir::sdy::NamedMesh &mesh, const AxisList &axes);
  /// `pairs`: [sender, receiver] of mesh devices. What a device gets that
  /// receives nothing is not said. Those of one `key` are made once, unless it
  /// is null.
  mlir::Value permute(mlir::Location loc, mlir::Value tensor,
                      llvm::function_ref<DeviceRows()> pairs,
                      const mlir::sdy::NamedMesh &mesh, mlir::Attribute key);

private:
  /// What `communicate` makes of `tensor`, whose integers go in bytes if the
  /// target knows none as narrow.
  mlir::FailureOr<mlir::Value>
  widened(mlir::Value tensor,
          llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value)>
              communicate);
  /// The result of the op that `create` makes of `tensor`, with a computation
  /// that combines by `kind`.
  mlir::FailureOr<mlir::Value>
  combined(mlir::Location loc, mlir::Value tensor, ReductionKind kind,
           llvm::function_ref<mlir::Operation *(mlir::Value)> create);
  mlir::Attribute groups(const mlir::sdy::NamedMesh &mesh,
                         const AxisList &axes);
  /// Groups or pairs for an op that names partitions or replicas.
  struct OneKind {
    /// Nothing if neither can say it.
    std::optional<DeviceGrid::Ids> ids;
    mlir::Attribute rows;
  };
  OneKind ofOneKind(DeviceRows rows);
  OneKind groupsOfOneKind(const mlir::sdy::NamedMesh &mesh,
                          const AxisList &axes);
  OneKind pairsOfOneKind(llvm::function_ref<DeviceRows()> pairs,
                         mlir::Attribute key);
  mlir::Value permuteByGather(mlir::Location loc, mlir::Value tensor,
                              const DeviceRows &pairs,
                              const mlir::sdy::NamedMesh &mesh);

  mlir::OpBuilder &builder;
  DeviceGrid grid;
  bool meshAxesGroups;
  const Target &target;
  /// By mesh and axes: on many devices a list of groups is made once.
  template <typename ListT>
  using PerAxes =
      llvm::DenseMap<mlir::sdy::MeshAttr, std::map<AxisList, ListT>>;
  PerAxes<mlir::Attribute> lists;
  PerAxes<OneKind> listsOfOneKind;
  llvm::DenseMap<mlir::Attribute, OneKind> pairLists;
};

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_COLLECTIVEBUILDER_H
