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
#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/propagate/PropagationGraph.h"

namespace shardonnay {

/// Writes `rule` as the attribute, unless `op` has one or the attribute can't
/// say it.
void writeRuleAttribute(mlir::Operation *op, const FactorRule &rule);

/// A propagation graph, and where its tensors are in the IR. Ops inside the
/// regions of others are part of it, unless the outer one has a rule.
class ModuleGraph {
public:
  /// The module must be verified. Members of a sharding group get one sharding:
  /// that of the first that has one. Where they have different ones, warns, and
  /// puts an open constraint on each member, to be grouped in its place.
  static ModuleGraph read(mlir::ModuleOp module);

  PropagationGraph graph;

  /// Writes the shardings that changed since `read`.
  void write() const;
  /// Gives each op that has a rule, and no attribute of it, the attribute.
  void writeRules() const;

private:
  friend class GraphReader;

  /// Where a tensor's sharding is kept: a value, or a result of a function.
  struct Home {
    mlir::Value value;
    mlir::func::FuncOp func;
    unsigned result = 0;
    /// As read: null for none.
    mlir::sdy::TensorShardingAttr attr;
    TensorSharding sharding;
    int32_t mesh = kNone;
  };
  /// Meshes of equal content are one.
  struct KnownMesh {
    mlir::sdy::MeshAttr mesh;
    /// How to name it: a symbol or the mesh itself.
    mlir::Attribute meshOrRef;
  };

  static void recordGiven(const Home &home, const Mesh &mesh);

  std::vector<Home> homes;
  std::vector<KnownMesh> meshes;
  std::vector<mlir::Operation *> operations;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_MODULEGRAPH_H
