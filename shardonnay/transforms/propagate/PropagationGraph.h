//===- PropagationGraph.h - a module as flat arrays -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What propagation needs of a module, as plain values: tensors with their
// shardings, ops with their factor rules, and who must be visited when a tensor
// changes. ModuleGraph reads it from the IR and writes it back;
// PropagationEngine works on it.
//
// One tensor may stand for several values: a data-flow edge, the owner of its
// class and the other copies. Constraints, barriers, edges and function results
// are ops with an identity rule.
//
// Tensors and ops are numbers. Their shardings and forms are numbers too, of
// which a program has few different ones; of 10^4 ops a tensor takes about 5
// bytes here and an op 15.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H

#include "shardonnay/algebra/ManualBoundary.h"
#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Interner.h"
#include "shardonnay/support/PackedNumbers.h"
#include "shardonnay/transforms/propagate/FactorPropagation.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

/// No tensor, no mesh (or one without axes), no group.
inline constexpr int32_t kNone = -1;

/// A tensor's sharding, and which of the module's meshes it speaks of. Tensors
/// of different meshes exchange nothing.
struct MeshSharding {
  TensorSharding sharding;
  int32_t mesh = kNone;

  bool operator==(const MeshSharding &o) const {
    return mesh == o.mesh && sharding == o.sharding;
  }
};

/// All that propagation knows of an op besides its tensors.
struct OpSignature {
  /// One of the graph's rules.
  const FactorRule *rule = nullptr;
  PropagationClass propagationClass = PropagationClass::Compute;
  /// What a propagation barrier lets pass.
  Direction allowed = Direction::Both;
  bool elementwise = false;
  /// No operand of rank > 0 has another use.
  bool onlyUser = false;
  /// How the tensors in `inside` look from the outside, where the rule holds.
  /// Only an edge into or out of a manual computation has one (it is large).
  std::vector<ManualBoundary> boundary;
  llvm::SmallVector<bool, 0> inside;

  bool isInside(size_t tensor) const {
    return !inside.empty() && inside[tensor];
  }

  bool operator==(const OpSignature &o) const {
    return propagationClass == o.propagationClass && allowed == o.allowed &&
           elementwise == o.elementwise && onlyUser == o.onlyUser &&
           inside == o.inside && boundary == o.boundary && rule == o.rule;
  }
};

llvm::hash_code hash_value(const MeshSharding &sharding);
llvm::hash_code hash_value(const OpSignature &form);

/// Ops, each with the number of its form and its tensors: operands, then
/// results; kNone for what is no tensor.
class OpArray {
public:
  OpArray() { firsts.append(0); }

  int32_t size() const { return forms.size(); }
  int32_t form(int32_t op) const { return forms[op]; }
  PackedNumbers::Slice tensors(int32_t op) const {
    return allTensors.slice(firsts[op], firsts[op + 1]);
  }
  /// The tensors of all ops, one op after the other.
  PackedNumbers::Slice tensors() const {
    return allTensors.slice(0, allTensors.size());
  }
  int32_t add(int32_t form, llvm::ArrayRef<int32_t> tensors);
  /// Room for so many, which have so many tensors, of `numTensors` different
  /// ones.
  void reserve(size_t ops, size_t tensors, size_t numTensors);

private:
  PackedNumbers forms, firsts, allTensors;
};

class PropagationGraph {
public:
  PropagationGraph() = default;
  PropagationGraph(PropagationGraph &&) = default;

  /// Room for so many tensors and ops, which have so many tensors together.
  void reserve(size_t tensors, size_t ops, size_t tensorsOfOps);
  /// With a sharding that was interned.
  int32_t addTensor(int32_t shardingId);
  /// In program order; of a form that was interned.
  int32_t addOp(int32_t form, llvm::ArrayRef<int32_t> tensors) {
    return programOps.add(form, tensors);
  }
  int32_t addOp(const OpSignature &form, llvm::ArrayRef<int32_t> tensors) {
    return addOp(intern(form), tensors);
  }
  /// From the operand of a terminator to the result of the function.
  void addReturn(const OpSignature &form, llvm::ArrayRef<int32_t> tensors);
  /// From now on the tensors have one sharding. Each is in one group at most.
  void addGroup(llvm::ArrayRef<int32_t> tensors);
  /// To be called after the last addOp.
  void connect();

  int32_t numTensors() const { return shardingIds.size(); }
  const OpArray &ops() const { return programOps; }
  const OpArray &returns() const { return returnOps; }
  const OpSignature &form(int32_t id) const { return forms[id]; }
  int32_t numForms() const { return forms.size(); }

  const TensorSharding &sharding(int32_t tensor) const {
    return shardings[shardingIds[tensor]].sharding;
  }
  int32_t mesh(int32_t tensor) const {
    return shardings[shardingIds[tensor]].mesh;
  }
  /// Tensors with equal ids have equal shardings of one mesh.
  int32_t shardingId(int32_t tensor) const { return shardingIds[tensor]; }
  int32_t numShardings() const { return shardings.size(); }
  const MeshSharding &shardingOf(int32_t id) const { return shardings[id]; }
  int32_t intern(const MeshSharding &sharding) {
    return shardings.intern(sharding);
  }
  int32_t intern(const OpSignature &form) { return forms.intern(form); }
  /// What forms point to; few forms have a rule of their own.
  Interner<FactorRule> &rules() { return allRules; }
  const FactorRule *keep(const FactorRule &rule) {
    return &allRules[allRules.intern(rule)];
  }
  void setSharding(int32_t tensor, int32_t id) { shardingIds.set(tensor, id); }

  /// From now on no tensor takes a part of an axis of `meshes`, all meshes by
  /// their numbers.
  void refuseParts(llvm::ArrayRef<Mesh> meshes) {
    wholeAxes.assign(meshes.begin(), meshes.end());
  }
  /// `grown` without the parts of axes, and what follows them, that `old` has
  /// not.
  void dropParts(TensorSharding &grown, const TensorSharding &old,
                 int32_t mesh) const;

  /// The tensors that have one sharding with this one, itself included.
  llvm::ArrayRef<int32_t> groupOf(const int32_t &tensor) const;
  /// The ops to visit when this changes, the most urgent last: those that
  /// define it, then its users from the last in the program to the first.
  PackedNumbers::Slice neighbours(int32_t tensor) const {
    return allNeighbours.slice(firstNeighbours[tensor],
                               firstNeighbours[tensor + 1]);
  }

private:
  Interner<MeshSharding> shardings;
  Interner<FactorRule> allRules;
  Interner<OpSignature> forms;
  PackedNumbers shardingIds;
  OpArray programOps, returnOps;
  std::vector<llvm::SmallVector<int32_t>> groups;
  llvm::DenseMap<int32_t, int32_t> groupOfTensor;
  PackedNumbers firstNeighbours, allNeighbours;
  /// Empty: parts are taken.
  std::vector<Mesh> wholeAxes;
};

/// `numOperands` operands and one result, all of `shape`, dim by dim.
FactorRule identityRule(llvm::ArrayRef<int64_t> shape, int64_t numOperands = 1);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONGRAPH_H
