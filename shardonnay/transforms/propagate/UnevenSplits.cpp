//===- UnevenSplits.cpp - batches that devices do not divide --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. `findSliced`: what ops take slices of at a position, and what loops carry
//    for that.
// 2. Of each reshape that makes such a tensor, and of each dim that it splits:
//    `shardInner` gives the inner dim all the axes that the dim had, if
//    propagation has handed on a part of them only.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/UnevenSplits.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace shardonnay {

namespace {

class UnevenSplitSearch {
public:
  UnevenSplitSearch(PropagationGraph &graph, ArrayRef<int32_t> carried,
                    ArrayRef<int32_t> given, ArrayRef<int32_t> propagated)
      : graph(graph), carried(carried), given(given), propagated(propagated),
        isSliced(graph.numTensors()) {}

  std::vector<UnevenSplit> run();

private:
  void findSliced();
  /// The sharding that the result of `op` may have instead; kNone if `op`
  /// splits nothing, or hands on all axes.
  int32_t splitOf(int32_t op);
  /// Of `dim` of the operand to the dims of the result; false where nothing is
  /// to change.
  bool shardInner(const FactorRule &rule, size_t dim, const AxisList &axes,
                  TensorSharding &result) const;

  PropagationGraph &graph;
  ArrayRef<int32_t> carried, given, propagated;
  /// By tensor.
  BitVector isSliced;
};

void UnevenSplitSearch::findSliced() {
  auto setSliced = [&](int32_t op) {
    if (int32_t tensor = graph.ops().tensors(op).front(); tensor != kNone)
      isSliced.set(tensor);
  };
  for (int32_t op : seq(graph.ops().size()))
    if (graph.form(graph.ops().form(op)).propagationClass ==
        PropagationClass::PassThroughForward)
      setSliced(op);
  // What inner loops carry is passed on before what those around them do.
  for (int32_t op : carried)
    if (isSliced.test(graph.ops().tensors(op).back()))
      setSliced(op);
}

bool UnevenSplitSearch::shardInner(const FactorRule &rule, size_t dim,
                                   const AxisList &axes,
                                   TensorSharding &result) const {
  ArrayRef<int32_t> factors = rule.operands.front().dims[dim];
  int64_t shards = axes.numShards();
  if (factors.size() < 2 || shards == 1)
    return false;
  const TensorMapping &made = rule.results.front();
  int64_t outer = made.dimOf(factors[0]), inner = made.dimOf(factors[1]);
  if (outer < 0 || inner < 0 || outer == inner ||
      rule.factors[factors[1]].size % shards != 0)
    return false;
  int64_t handedOn = 1;
  for (int32_t factor : factors)
    if (int64_t to = made.dimOf(factor); to >= 0)
      handedOn *= result.dims[to].axes.numShards();
  if (handedOn >= shards)
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

int32_t UnevenSplitSearch::splitOf(int32_t op) {
  const OpSignature &form = graph.form(graph.ops().form(op));
  const FactorRule &rule = *form.rule;
  if (form.propagationClass != PropagationClass::PassThrough ||
      !form.boundary.empty() || rule.operands.size() != 1 ||
      rule.results.size() != 1)
    return kNone;
  auto tensors = graph.ops().tensors(op);
  int32_t source = tensors.front(), result = tensors.back();
  // What was given stays, and the members of a sharding group stay alike.
  if (source == kNone || result == kNone || !isSliced.test(result) ||
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
    if (shardInner(rule, dim, sharding.axes, changedDim.sharding)) {
      made = changedDim;
      changed = true;
    }
  }
  return changed ? graph.intern(made) : kNone;
}

std::vector<UnevenSplit> UnevenSplitSearch::run() {
  findSliced();
  std::vector<UnevenSplit> splits;
  if (isSliced.none())
    return splits;
  for (int32_t op : seq(graph.ops().size()))
    if (int32_t id = splitOf(op); id != kNone)
      splits.push_back({graph.ops().tensors(op).back(), id});
  return splits;
}

} // namespace

std::vector<UnevenSplit> findUnevenSplits(PropagationGraph &graph,
                                          ArrayRef<int32_t> carried,
                                          ArrayRef<int32_t> given,
                                          ArrayRef<int32_t> propagated) {
  return UnevenSplitSearch(graph, carried, given, propagated).run();
}

} // namespace shardonnay
