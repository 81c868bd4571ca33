//===- OpProblem.h - an op as a factor assignment problem -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
#define SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H

#include "mlir/Pass/AnalysisManager.h"
#include "shardonnay/algebra/Interner.h"
#include "shardonnay/dialect/sdy/RuleTable.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/plan/OpChoice.h"
#include "shardonnay/transforms/reshard/MeshScope.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <unordered_map>

namespace shardonnay {

/// What `op`'s tensors ask for by their present shardings. Requires that `rule`
/// fits the op (verifyRule).
ChoiceProblem readProblem(mlir::Operation *op, const FactorRule &rule,
                          const MeshScope &scope);

/// The rule, if there is one and it fits the op's types.
std::optional<FactorRule> getFittingRule(mlir::Operation *op);

/// The price of taking a tensor of `type` from one sharding to another; nothing
/// if there is no way.
std::optional<double> priceOfReshard(OpChooser &chooser,
                                     mlir::RankedTensorType type,
                                     const TensorSharding &from,
                                     const TensorSharding &to);

/// The cut that was chosen for an op, and what it means for its tensors,
/// operands first. What is no ranked tensor has an empty sharding.
struct OpDecision {
  const FactorAssignment *assignment = nullptr;
  /// How the op takes its operands and leaves its results.
  llvm::SmallVector<const TensorSharding *, 0> needed;
  /// The tensors that have another sharding at present.
  llvm::SmallBitVector differs;
  /// What is gathered is gathered because that is cheaper, not for want of
  /// another cut.
  bool repeatsWork = false;
};

/// What an op's cut depends on of a value.
struct ValueClass {
  mlir::Type type;
  /// Null if it has none.
  mlir::sdy::TensorShardingAttr sharding;
  /// A constant expression: it costs nothing in any sharding.
  bool constant;
  /// The case of the constant that it is, where rules may look at it.
  const struct OpCase *known;
};

/// What is known of all ops that are equal and whose operands are of equal
/// classes.
struct OpCase {
  /// Null if it has none that fits.
  const FactorRule *rule = nullptr;
  /// Null if there is no rule, or if something has to be said against the op.
  const OpDecision *decision = nullptr;
  bool onOneDevice = false;
  /// There is nothing to be done at the op.
  bool agrees = false;
  /// The classes of its results.
  llvm::SmallVector<int32_t, 1> results;
};

/// Which sharding a value gets (ImproveShardings.h).
struct Improvement {
  /// Null if the one that it has.
  mlir::sdy::TensorShardingAttr sharding;
  /// It is as cheap as the one before.
  bool isTie = false;
  double saved = 0;
  /// Nothing was gained, nor by a reshard behind the value.
  bool isFruitless = false;
};

/// The cases and classes that came up (BlockCases.h), and what was found for
/// values between them. Programs repeat themselves.
struct CaseTable {
  /// An op that passes values on, ends a block, calls or reshards has none; one
  /// that looks at what makes its operands has its own.
  enum class Kind { NoCase, OwnCase, EqualOps };
  Kind kindOf(mlir::Operation *op);
  /// Its number.
  int32_t classOf(const ValueClass &value);

  mlir::sdy::OpSignatures forms;
  std::deque<OpCase> cases;
  mlir::sdy::WordMap<OpCase *> known;
  std::vector<ValueClass> classes;
  mlir::sdy::WordMap<Improvement> improvements;

private:
  mlir::sdy::WordMap<int32_t> classNumbers;
  llvm::DenseMap<mlir::OperationName, Kind> kinds;
};

/// A chooser for each mesh that a function's ops are on. Programs repeat
/// themselves: ops of one rule whose tensors have the same types and shardings
/// are decided once.
class OpChoosers {
public:
  explicit OpChoosers(const DeviceModel &model) : model(model) {}
  OpChooser &get(const MeshScope &scope);

  /// The op's fitting rule; null if it has none. Stays valid.
  const FactorRule *getRule(mlir::Operation *op) { return rules.get(op); }
  /// The cheapest cut of `op`, whose rule is `rule` (of getRule). `isFree` says
  /// which operands cost nothing in any sharding. Stays valid.
  const OpDecision &decide(mlir::Operation *op, const FactorRule &rule,
                           const MeshScope &scope,
                           llvm::function_ref<bool(mlir::Value)> isFree);
  /// The price of `decision`, which is that of `op`.
  std::optional<double> price(mlir::Operation *op, const FactorRule &rule,
                              const MeshScope &scope,
                              const OpDecision &decision,
                              llvm::function_ref<bool(mlir::Value)> isFree);
  /// What `assignment` means for the tensors of `op`, which asks `problem`.
  OpDecision makeDecision(mlir::Operation *op, const ChoiceProblem &problem,
                          const FactorAssignment &assignment);
  CaseTable &getCases() { return cases; }
  /// Appends what an op is but for its operands' types, shardings and constants
  /// (OpSignatures.h); false if that is too much.
  bool appendSignature(mlir::Operation *op, mlir::sdy::Words &words);

private:
  /// Rule, mesh, work, and for each tensor its type, its sharding and whether
  /// it is free: ops of several names share decisions.
  using Key = llvm::SmallVector<uintptr_t, 14>;
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key);
    }
  };

  const DeviceModel &model;
  mlir::sdy::RuleTable rules{getFittingRule};
  llvm::DenseMap<mlir::Attribute, std::unique_ptr<OpChooser>> choosers;
  std::unordered_map<Key, OpDecision, Hash> decisions;
  /// Of which decisions are made: there are few, and they are large.
  Interner<FactorAssignment> assignments;
  Interner<TensorSharding> shardings;
  llvm::DenseMap<const OpDecision *, std::optional<double>> prices;
  CaseTable cases;
};

/// An analysis that lets the passes of the stage share choosers, and with them
/// the plans that they made. It knows attributes and types, no operation, so it
/// stays valid whatever a pass does.
class SharedChoosers {
public:
  explicit SharedChoosers(mlir::Operation *) {}
  /// Those for the device model that the option `name` stands for.
  OpChoosers &get(llvm::StringRef name,
                  const std::shared_ptr<const DeviceModel> &model);
  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  struct Entry {
    std::shared_ptr<const DeviceModel> model;
    OpChoosers choosers;
  };
  llvm::StringMap<std::unique_ptr<Entry>> entries;
};

/// Emits an error at `op` if `rule` does not fit its types.
mlir::LogicalResult verifyRule(mlir::Operation *op, const FactorRule &rule);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
