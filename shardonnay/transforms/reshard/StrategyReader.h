//===- StrategyReader.h - a block as a strategy graph -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the ops of one block on one mesh into a StrategyGraph, and writes a
// state of it back. Most ops of a propagated program are equal to hundreds of
// others: a value has a class (its type, its sharding, whether it is a
// constant), an op's signature (OpSignatures.h) and the classes of its operands
// are its case, and whatever has to be known of the op, the classes of its
// results too, is found out once a case.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_STRATEGYREADER_H
#define SHARDONNAY_TRANSFORMS_RESHARD_STRATEGYREADER_H

#include "shardonnay/strategy/StrategyState.h"
#include "shardonnay/support/NearbyInfo.h"
#include "shardonnay/transforms/reshard/LoopRuns.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"
#include "shardonnay/transforms/reshard/ReshardBuilder.h"

namespace shardonnay {

/// The prices that `sdy.memory_price` of the ops in `func` says; takes these
/// away, but of loops.
MemoryPrices takeMemoryPrices(mlir::func::FuncOp func);

class StrategyReader {
public:
  /// What is read of the ops of one name: one that passes values on has no
  /// strategy, and one that looks at what makes its operands has its own case.
  enum class Form { PassesOn, Alone, Shared };

  /// Reads the block.
  StrategyReader(mlir::Block &block, const MeshScope &scope, OpSolvers &solvers,
                 const MemoryPrices &memoryPrices);

  /// Some value is on another mesh than the block's: the strategies of its ops
  /// can't be changed.
  bool hasOtherMeshes() const { return otherMeshes; }
  const StrategyGraph &getGraph() const { return graph; }
  /// The values of the block's arguments.
  llvm::ArrayRef<int32_t> getArguments() const { return arguments; }
  /// By number.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  mlir::OpOperand &getOperand(int32_t op, int32_t operand) const {
    return ops[op]->getOpOperand(operand);
  }

  /// Gives values the shardings of the state, and inserts a reshard for each of
  /// its copies.
  void write(const StrategyState &state) const;
  /// Nothing has to be resharded at the op.
  bool agrees(int32_t op, const StrategyState &state) const;

private:
  int32_t readValue(mlir::Value value);
  void readOp(mlir::Operation *op);
  Form formOf(mlir::Operation *op);
  const EquivalentOps &findEquivalent(mlir::Operation *op,
                                      llvm::ArrayRef<int32_t> operands);
  void fillCase(mlir::Operation *op, llvm::ArrayRef<int32_t> operands,
                EquivalentOps &equivalent);
  void fillClass(mlir::Operation *op, llvm::ArrayRef<int32_t> operands,
                 EquivalentOps &equivalent);
  bool isConstant(mlir::Operation *op, llvm::ArrayRef<int32_t> operands,
                  bool hasRule) const;
  int32_t makeClass(mlir::Value value, bool constant, bool free,
                    const EquivalentOps *known, const ReshardRuns &runs = {});
  ReshardRuns runsOfResults(mlir::Operation *op,
                            llvm::ArrayRef<int32_t> operands) const;
  int32_t addValue(int32_t valueClass);
  /// The shardings that an op without a strategy asks of its operands.
  llvm::SmallVector<int32_t> readNeeds(mlir::Operation *op);
  mlir::sdy::TensorShardingAttr needAt(mlir::OpOperand &use, bool &isKnown);
  /// What the regions of `op` use of the block.
  void readCaptured(mlir::Operation *op);

  mlir::Block &block;
  MeshScope scope;
  OpSolvers &solvers;
  MeshStrategies &mesh;
  LoopRuns loopRuns;
  /// Tells whether values from outside are constant.
  ReshardBuilder constants;
  bool otherMeshes = false;
  /// Around the block: ops that are equal but for these differ.
  CompositeKey manual;

  StrategyGraphBuilder builder;
  StrategyGraph graph;
  std::vector<mlir::Operation *> ops;
  std::vector<const EquivalentOps *> cases;
  /// By value of the graph.
  std::vector<int32_t> classes;
  llvm::SmallVector<int32_t> arguments;
  llvm::DenseMap<mlir::Operation *, int32_t, NearbyInfo<mlir::Operation *>>
      firstResults;
  llvm::DenseMap<mlir::Value, int32_t> outside;
  llvm::DenseMap<const EquivalentOps *, int32_t> classNumbers;
  llvm::DenseMap<mlir::OperationName, Form> forms;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_STRATEGYREADER_H
