//===- Placement.h - the placement of each value ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_PLACEMENT_H
#define SHARDONNAY_TRANSFORMS_PARTITION_PLACEMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/algebra/Layout.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace shardonnay {

/// Which device has which slice of a value.
struct Placement {
  Layout layout;
  /// The same, closed: for projecting on factors.
  TensorSharding sharding;
  /// What each device holds; the global type if nothing shards it. A dim of
  /// size n sharded p ways is of size ceil(n / p) there.
  mlir::Type localType;
  /// What the axes are of; null if there are none.
  mlir::sdy::MeshAttr mesh;

  /// Every device holds the same of both.
  bool sameAs(const Placement &o) const {
    return layout == o.layout && mesh == o.mesh;
  }
};

/// Reads shardings into placements, and holds to one mesh all but what crosses
/// the boundary.
class Placer {
public:
  /// For a program on `mesh`; null: on that of the first sharding.
  explicit Placer(mlir::sdy::MeshOp mesh = {});

  /// The placement of a value of type `type` under `sharding` (null: it is
  /// replicated), one object for all of one type and sharding; null after an
  /// error. `from` resolves the mesh, which may be any.
  const Placement *place(mlir::Type type,
                         mlir::sdy::TensorShardingAttr sharding,
                         mlir::Operation *from, mlir::Location loc);
  /// The placement of `value`, with errors where it is defined.
  const Placement *place(mlir::Value value);
  /// Likewise, and an error if it is not on the program's mesh.
  const Placement *placeInside(mlir::Value value);

  /// The mesh of all shardings with axes; null before the first one.
  mlir::sdy::MeshAttr mesh() const { return programMesh; }
  llvm::StringRef meshName() const { return programMeshName.getValue(); }
  /// All axes of the mesh but those that are manual around `op`, in order.
  AxisList deviceAxes(mlir::Operation *op) const;
  /// The others of more than one device.
  AxisList manualAxes(mlir::Operation *op) const;
  /// "{"x", "y":(1)2}"
  std::string str(const AxisList &axes) const;

private:
  mlir::LogicalResult useMesh(mlir::sdy::TensorShardingAttr sharding,
                              mlir::sdy::MeshAttr mesh, mlir::Location loc);
  static mlir::Operation *ownerOf(mlir::Value value);

  mlir::sdy::MeshAttr programMesh;
  mlir::FlatSymbolRefAttr programMeshName;
  /// By type and sharding, those without a fault.
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>,
                 std::unique_ptr<Placement>>
      known;
};

/// The mesh that `func` is on where that is another one than `program`: the
/// first of which a sharding in it names an axis, if none names one of
/// `program`; null if it is on `program`, or on none.
mlir::sdy::MeshOp findOwnMesh(mlir::func::FuncOp func,
                              mlir::sdy::MeshOp program);

using Placements = llvm::SmallVector<const Placement *>;
/// The placements of the arguments of each function that has a body: signatures
/// are rewritten one by one, and calls look at those of others.
using ArgumentPlacements = llvm::StringMap<Placements>;

/// Fails with an error at an argument.
mlir::FailureOr<ArgumentPlacements> placeArguments(mlir::ModuleOp module,
                                                   Placer &placer);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_PLACEMENT_H
