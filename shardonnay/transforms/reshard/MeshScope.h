//===- MeshScope.h - the shardings around one op ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All tensors of one op are sharded by the axes of one mesh. A scope knows it,
// and turns sharding attributes into algebra values and back. Shardings are
// read as they are after export: closed, a missing one replicated. A program
// has few different ones, so a scope and its copies remember what they turned.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_MESHSCOPE_H
#define SHARDONNAY_TRANSFORMS_RESHARD_MESHSCOPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include <memory>
#include <unordered_map>

namespace shardonnay {

class MeshScope {
public:
  /// The scope of `op` whose tensors have `shardings` (null: none). Emits an
  /// error at the op if they are on two meshes. One on a single device counts
  /// as replicated.
  static mlir::FailureOr<MeshScope>
  get(mlir::Operation *op,
      llvm::ArrayRef<mlir::sdy::TensorShardingAttr> shardings);

  /// The scope of `op`; nothing if its tensors are on two meshes.
  static std::optional<MeshScope> find(mlir::Operation *op);

  /// Becomes the scope that `get` returns, which ops next to each other mostly
  /// share. Fails as `get` does, and stays as it is then.
  mlir::LogicalResult
  moveTo(mlir::Operation *op,
         llvm::ArrayRef<mlir::sdy::TensorShardingAttr> shardings);
  /// The same for `op`'s operands and results.
  mlir::LogicalResult moveTo(mlir::Operation *op);

  /// The scope of the first sharding in `block`; nothing if there is none.
  static std::optional<MeshScope> ofBlock(mlir::Block &block);
  bool operator==(const MeshScope &o) const { return named == o.named; }
  /// `sharding` is on this mesh by its name, or null.
  bool allows(mlir::sdy::TensorShardingAttr sharding) const {
    return !sharding || sharding.getMeshOrRef() == named.name;
  }

  /// `shardings` (null: none) have this scope too: those that are there name
  /// its mesh, and one is.
  bool covers(llvm::ArrayRef<mlir::sdy::TensorShardingAttr> shardings) const;
  /// No sharding names an axis: there is nothing to do at this op.
  bool empty() const { return !named; }
  /// How `value`, a ranked tensor, is sharded; whole if it is on another mesh,
  /// beyond the boundary. Stays valid as long as this.
  const TensorSharding &read(mlir::Value value) const;
  const TensorSharding &read(mlir::sdy::TensorShardingAttr sharding,
                             int64_t rank) const;
  mlir::sdy::MeshAttr getMesh() const { return named.mesh; }
  const mlir::sdy::NamedMesh &getNamedMesh() const { return named; }
  /// What communication over the mesh costs devices like `model`.
  MeshCosts costs(const DeviceModel &model) const;
  mlir::sdy::TensorShardingAttr write(const TensorSharding &sharding) const;

private:
  /// Takes in one more sharding; fails if it is on another mesh than those
  /// before.
  mlir::LogicalResult add(mlir::Operation *op,
                          mlir::sdy::TensorShardingAttr sharding);

  struct HashSharding {
    size_t operator()(const TensorSharding &sharding) const {
      return hash_value(sharding);
    }
  };
  /// What was read of attributes, by their ranks, and what was written.
  struct Known {
    llvm::DenseMap<std::pair<mlir::Attribute, int64_t>,
                   std::unique_ptr<TensorSharding>>
        read;
    std::unordered_map<TensorSharding, mlir::sdy::TensorShardingAttr,
                       HashSharding>
        written;
    /// By which this mesh goes too.
    llvm::DenseSet<mlir::Attribute> otherNames;
  };

  mlir::sdy::NamedMesh named;
  /// What was read and written on this mesh; copies share it.
  std::shared_ptr<Known> known = std::make_shared<Known>();
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_MESHSCOPE_H
