//===- SharedBatches.cpp - batches that devices share ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. `findSliced`: the dims of which ops take slices at a position, also of
// what
//    loops carry for that.
// 2. Of each reshape that makes such a tensor, and of each dim that it splits
//    into such a dim and an inner one: `shardInner` gives the inner one all the
//    axes that the dim had.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/SharedBatches.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace llvm;

namespace shardonnay {

namespace {

class SharedBatchSearch {
public:
  SharedBatchSearch(PropagationGraph &graph, ArrayRef<int32_t> carried,
                    ArrayRef<int32_t> given, ArrayRef<int32_t> propagated)
      : graph(graph), carried(carried), given(given), propagated(propagated),
        sliced(graph.numTensors()) {}

  std::vector<SharedBatch> run();

private:
  void findSliced();
  /// The sharding that the result of `op` may have instead; kNone if `op`
  /// splits nothing that is sharded into slices.
  int32_t splitOf(int32_t op);
  /// Of the `factors` of a dim of the operand to the dims of the result; false
  /// where nothing is to change.
  static bool shardInner(const FactorRule &rule, ArrayRef<int32_t> factors,
                         const SmallBitVector &sliced, const AxisList &axes,
                         TensorSharding &result);

  PropagationGraph &graph;
  ArrayRef<int32_t> carried, given, propagated;
  /// Dims, by tensor; empty where there are none.
  std::vector<SmallBitVector> sliced;
};

void SharedBatchSearch::findSliced() {
  for (int32_t op : seq(graph.ops().size())) {
    const OpSignature &form = graph.form(graph.ops().form(op));
    int32_t tensor = graph.ops().tensors(op).front();
    if (form.propagationClass != PropagationClass::PassThroughForward ||
        tensor == kNone)
      continue;
    const FactorRule &rule = *form.rule;
    ArrayRef<DimFactors> dims = rule.operands.front().dims;
    sliced[tensor].resize(dims.size());
    for (auto [dim, factors] : enumerate(dims))
      if (any_of(factors, [&](int32_t factor) {
            return rule.factors[factor].kind == FactorKind::NeedReplication;
          }))
        sliced[tensor].set(dim);
  }
  // What inner loops carry is passed on before what those around them do.
  for (int32_t op : carried) {
    auto tensors = graph.ops().tensors(op);
    if (int32_t initial = tensors.front(); initial != kNone)
      sliced[initial] |= sliced[tensors.back()];
  }
}

bool SharedBatchSearch::shardInner(const FactorRule &rule,
                                   ArrayRef<int32_t> factors,
                                   const SmallBitVector &sliced,
                                   const AxisList &axes,
                                   TensorSharding &result) {
  int64_t shards = axes.numShards();
  if (factors.size() < 2 || shards == 1)
    return false;
  const TensorMapping &made = rule.results.front();
  int64_t outer = made.dimOf(factors[0]), inner = made.dimOf(factors[1]);
  if (outer < 0 || inner < 0 || outer == inner || !sliced.test(outer) ||
      sliced.test(inner) || rule.factors[factors[1]].size % shards != 0)
    return false;
  result.dims[outer].axes = {};
  result.dims[inner].axes = {};
  if (any_of(result.dims, [&](const DimSharding &other) {
        return axes.excludes(other.axes);
      }))
    return false;
  result.dims[inner].axes = axes;
  result.dims[outer].closed = result.dims[inner].closed = true;
  return true;
}

int32_t SharedBatchSearch::splitOf(int32_t op) {
  const OpSignature &form = graph.form(graph.ops().form(op));
  const FactorRule &rule = *form.rule;
  if (form.propagationClass != PropagationClass::PassThrough ||
      !form.boundary.empty() || rule.operands.size() != 1 ||
      rule.results.size() != 1)
    return kNone;
  auto tensors = graph.ops().tensors(op);
  int32_t source = tensors.front(), result = tensors.back();
  // What was given stays, and the members of a sharding group stay alike.
  if (source == kNone || result == kNone || sliced[result].none() ||
      graph.shardingOf(given[result]).mesh != kNone ||
      graph.groupOf(result).size() != 1)
    return kNone;
  MeshSharding has = graph.shardingOf(propagated[source]);
  MeshSharding made = graph.shardingOf(propagated[result]);
  if (has.mesh == kNone)
    return kNone;
  if (made.mesh == kNone)
    made = {TensorSharding::fullyOpen(rule.results.front().dims.size()),
            has.mesh};
  if (made.mesh != has.mesh)
    return kNone;
  bool changed = false;
  for (auto [dim, sharding] : enumerate(has.sharding.dims)) {
    MeshSharding changedDim = made;
    if (shardInner(rule, rule.operands.front().dims[dim], sliced[result],
                   sharding.axes, changedDim.sharding)) {
      made = changedDim;
      changed = true;
    }
  }
  return changed ? graph.intern(made) : kNone;
}

std::vector<SharedBatch> SharedBatchSearch::run() {
  findSliced();
  std::vector<SharedBatch> splits;
  if (all_of(sliced, [](const SmallBitVector &dims) { return dims.none(); }))
    return splits;
  for (int32_t op : seq(graph.ops().size()))
    if (int32_t id = splitOf(op); id != kNone)
      splits.push_back({graph.ops().tensors(op).back(), id});
  return splits;
}

} // namespace

std::vector<SharedBatch> findSharedBatches(PropagationGraph &graph,
                                           ArrayRef<int32_t> carried,
                                           ArrayRef<int32_t> given,
                                           ArrayRef<int32_t> propagated) {
  return SharedBatchSearch(graph, carried, given, propagated).run();
}

} // namespace shardonnay
