//===- ModuleGraph.h - the propagation graph of a module --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_MODULEGRAPH_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_MODULEGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/propagate/PropagationGraph.h"
#include "llvm/ADT/MapVector.h"

namespace shardonnay {

/// The members of each sharding group, by its number.
using GroupOps =
    llvm::MapVector<int64_t, llvm::SmallVector<mlir::sdy::ShardingGroupOp>>;

/// A propagation graph, and where its tensors are in the IR. Ops inside the
/// regions of others are part of it, unless the outer one has a rule.
class ModuleGraph {
public:
  using Givers = llvm::DenseMap<mlir::Value, mlir::Value>;
  /// Has each group have one sharding, before shardings are read. `givers` gets
  /// the values that were given one, and whose it was. True if it inserted ops.
  using ShareGroups = llvm::function_ref<bool(const GroupOps &, Givers &)>;

  /// The module must be verified. `keepOperations`: `operation` may be called.
  /// `conservative`: with the rules of ConservativeRule.h.
  static ModuleGraph read(mlir::ModuleOp module, bool keepOperations,
                          bool conservative, ShareGroups shareGroups);

  PropagationGraph graph;
  GroupOps groups;

  /// Writes the shardings that changed since `read`; on request also those that
  /// have priorities, without them.
  void write(bool dropsPriorities = false) const;
  /// The same on a copy of the module, of which `copied` says what became what.
  void writeTo(const mlir::IRMapping &copied, bool dropsPriorities) const;

  struct FunctionResult {
    mlir::func::FuncOp func;
    unsigned index;
  };

  mlir::MLIRContext *context() const { return module->getContext(); }
  mlir::Location location() const { return module->getLoc(); }
  /// The value that a tensor stands for, an edge where one stands for a class;
  /// null for the result of a function.
  mlir::Value value(int32_t tensor) const { return values[tensor]; }
  /// Nothing if the tensor is a value.
  std::optional<FunctionResult> functionResult(int32_t tensor) const;
  /// Whose sharding a member of a group was given before propagation; the
  /// member's own tensor where it had one, or has none.
  int32_t giver(int32_t tensor) const {
    auto found = givers.find(tensor);
    return found == givers.end() ? tensor : found->second;
  }
  /// The mesh of a tensor that has one.
  mlir::sdy::MeshAttr meshOf(int32_t tensor) const {
    return meshes[graph.mesh(tensor)].mesh;
  }
  mlir::sdy::MeshAttr mesh(int32_t mesh) const { return meshes[mesh].mesh; }
  /// The op that stands at `op` in graph.ops().
  mlir::Operation *operation(int32_t op) const { return operations[op]; }

private:
  friend class GraphReader;
  friend class GraphWriter;

  /// A tensor is a value or the result of a function, which has no value.
  llvm::SmallVector<mlir::Value, 0> values;
  llvm::DenseMap<int32_t, FunctionResult> functionResults;
  llvm::DenseMap<int32_t, int32_t> givers;
  /// The tensors that had a sharding when they were read, and its id; in order.
  llvm::SmallVector<std::pair<int32_t, int32_t>, 0> given;
  /// Meshes of equal content are one, named as the first was.
  std::vector<mlir::sdy::NamedMesh> meshes;
  mlir::Operation *module = nullptr;
  bool keepOperations = false;
  bool conservative = false;
  std::vector<mlir::Operation *> operations;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_MODULEGRAPH_H
