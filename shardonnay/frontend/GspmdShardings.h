//===- GspmdShardings.h - the HLO shardings of a module -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_GSPMDSHARDINGS_H
#define SHARDONNAY_FRONTEND_GSPMDSHARDINGS_H

#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/frontend/MeshFactoring.h"

namespace shardonnay {

/// The text of an HLO sharding: on arguments, results and ops.
inline constexpr llvm::StringLiteral kHloShardingAttr("mhlo.sharding");

/// Takes all HLO shardings away.
void dropHloShardings(mlir::ModuleOp module);

/// The HLO shardings of a module, and their meshes.
class GspmdShardings {
public:
  explicit GspmdShardings(mlir::ModuleOp module)
      : module(module), symbols(module) {}

  /// Reads all of them and finds their meshes. Errors, at what carries the
  /// sharding: no HLO sharding; another number of devices than the program's or
  /// an earlier sharding's; devices that are not 0 .. N-1.
  mlir::LogicalResult read();
  bool empty() const { return parsed.empty(); }

  const HloSharding &get(mlir::StringAttr text) const {
    return parsed.find(text)->second;
  }
  /// In terms of a mesh, for a value of `type`; null where the sharding says
  /// nothing of it (Unknown, Manual). The dims of `openDims` are open, the
  /// others closed. Errors, at `loc`: another rank than the type's; a dim of
  /// `openDims` that the type does not have.
  mlir::FailureOr<mlir::sdy::TensorShardingAttr>
  convert(const HloSharding &sharding, mlir::Type type, mlir::Location loc,
          llvm::ArrayRef<int64_t> openDims = {});
  /// For the results of `op`, or its effects if it has none; null if nothing is
  /// said of any. Errors as above, and a tuple of another size.
  mlir::FailureOr<mlir::sdy::TensorShardingPerValueAttr>
  convert(const HloSharding &sharding, mlir::Operation *op);

  /// The axes that are manual under `inner` and not under `outer`, both of
  /// values at the same boundary; those of the mesh of `outer`. An error, at
  /// `loc`, if these are not whole axes.
  mlir::FailureOr<llvm::SmallVector<mlir::StringAttr>>
  manualAxes(const HloSharding &inner, const HloSharding &outer,
             mlir::Location loc);

private:
  mlir::LogicalResult read(mlir::Attribute text, mlir::Location loc);
  /// Adds a tiled sharding, or those of a tuple, to the factoring.
  mlir::LogicalResult add(const HloSharding &sharding, mlir::Location loc);
  mlir::sdy::MeshOp getMesh(size_t index);
  mlir::sdy::MeshOp getMaximalMesh(int64_t device);
  mlir::sdy::MeshOp createMesh(llvm::StringRef name, mlir::sdy::MeshAttr mesh);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, HloSharding> parsed;
  std::optional<MeshFactoring> factoring;
  /// That `factoring` is for, and what said so.
  int64_t numDevices = 0;
  std::optional<mlir::Location> numDevicesFrom;
  llvm::DenseMap<size_t, mlir::sdy::MeshOp> meshes;
  llvm::DenseMap<int64_t, mlir::sdy::MeshOp> maximalMeshes;
  /// New ones stand in the order of their first use.
  mlir::Operation *lastMesh = nullptr;
};

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_GSPMDSHARDINGS_H
