//===- OpSolvers.h - what the ops of a program share ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a function's ops, and for each mesh that they are on the
// strategies that were found. The passes of the stage share them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_OPSOLVERS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_OPSOLVERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/AnalysisManager.h"
#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "shardonnay/strategy/SearchMemo.h"
#include "shardonnay/strategy/SecondStart.h"
#include "shardonnay/strategy/StrategyGraph.h"
#include "shardonnay/transforms/reshard/OpProblem.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <deque>
#include <mutex>

namespace shardonnay {

/// What is read of all ops that are equal and whose operands are read alike.
struct EquivalentOps {
  OpClass opClass;
  /// Some tensor has a sharding.
  bool isSharded = false;
  /// The classes of its results.
  llvm::SmallVector<int32_t, 1> results;
};

/// What is read of a value.
struct ValueClass {
  mlir::Type type;
  /// Null if it has none.
  mlir::sdy::TensorShardingAttr sharding;
  /// A constant expression.
  bool constant;
  /// It costs nothing in any sharding: a constant expression, or made of
  /// scalars.
  bool free;
  /// The case of the constant that it is, where rules may look at it.
  const EquivalentOps *known;
  ReshardRuns runs = {};
  /// As in StrategyValue.
  int32_t tensor = -1;
  int32_t number = -1;
};

/// The cases and classes that came up on one mesh, and what was found for them.
class MeshStrategies {
public:
  MeshStrategies(Mesh mesh, MeshCosts costs, bool gathersByPrice)
      : table(std::move(mesh), std::move(costs), gathersByPrice) {}

  /// Its number.
  int32_t classOf(mlir::Value value, bool constant, bool free,
                  const EquivalentOps *known, const ReshardRuns &runs,
                  const MeshScope &scope);
  int32_t addTensor(mlir::RankedTensorType type, const ReshardRuns &runs = {});

  OpStrategies table;
  SearchMemos memos;
  std::deque<EquivalentOps> cases;
  CompositeMap<EquivalentOps *> knownEquivalents;
  std::vector<ValueClass> classes;

private:
  CompositeMap<int32_t> classNumbers;
  /// A few: those of each loop.
  Interner<ReshardRuns> knownRuns;
  /// By type and number of the runs.
  llvm::DenseMap<std::pair<mlir::Type, int32_t>, int32_t> tensors;
};

class OpSolvers {
public:
  /// As OpSolver has it.
  explicit OpSolvers(const DeviceModel &model, bool gathersByPrice = true)
      : model(model), gathersByPrice(gathersByPrice) {}
  MeshStrategies &on(const MeshScope &scope);
  OpSolver &get(const MeshScope &scope) { return on(scope).table.getSolver(); }

  /// The op's fitting rule; null if it has none. Stays valid.
  const FactorRule *getRule(mlir::Operation *op) { return rules.get(op); }
  /// `rule` for as long as this lives.
  const FactorRule *keep(const FactorRule &rule) {
    return &kept[kept.intern(rule)];
  }
  /// The number of the kind of `op`, whose rule is `rule` (of getRule or keep)
  /// and whose tensors are of these kinds, in the table of `scope`.
  int32_t kindOf(mlir::Operation *op, const FactorRule &rule,
                 const MeshScope &scope, llvm::SmallVector<int32_t, 4> tensors);
  /// The cheapest strategy of `op`. `isFree` says which operands cost nothing
  /// in any sharding. Stays valid.
  const OpStrategy &solve(mlir::Operation *op, const FactorRule &rule,
                          const MeshScope &scope,
                          llvm::function_ref<bool(mlir::Value)> isFree);

  mlir::sdy::OpSignatures &getSignatures() { return signatures; }
  /// Appends what an op is but for its operands' types, shardings and constants
  /// (OpSignatures.h); false if that is too much.
  bool appendSignature(mlir::Operation *op, CompositeKey &key);

private:
  const DeviceModel &model;
  bool gathersByPrice;
  mlir::sdy::RuleTable rules{getFittingRule};
  Interner<FactorRule> kept;
  mlir::sdy::OpSignatures signatures;
  /// By the mesh, and by its name or itself.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>,
                 std::unique_ptr<MeshStrategies>>
      meshes;
};

/// An analysis that lets the passes of the stage share solvers, and with them
/// the plans that they made. It knows attributes and types, no operation, so it
/// stays valid whatever a pass does.
class SharedSolvers {
public:
  explicit SharedSolvers(mlir::Operation *func);
  /// Those for the device model that the option `name` stands for.
  OpSolvers &get(llvm::StringRef name,
                 const std::shared_ptr<const DeviceModel> &model,
                 bool gathersByPrice = true);
  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  friend class LentSolvers;
  struct Entry {
    std::shared_ptr<const DeviceModel> model;
    OpSolvers solvers;
  };
  /// Those that gather by price, and those that don't.
  using Entries = std::array<llvm::StringMap<std::unique_ptr<Entry>>, 2>;
  std::shared_ptr<Entries> entries;
};

/// The solvers of a program of which several copies are planned, one after the
/// other. The analyses of a copy's functions find them by the location of its
/// module, since each run of a pass manager starts without analyses.
class LentSolvers {
public:
  /// This outlives the copy.
  void lendTo(mlir::ModuleOp copy);

private:
  friend class SharedSolvers;
  std::shared_ptr<SharedSolvers::Entries> of(llvm::StringRef func);

  /// Functions may be planned at once, each by a thread.
  std::mutex mutex;
  llvm::StringMap<std::shared_ptr<SharedSolvers::Entries>> functions;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_OPSOLVERS_H
