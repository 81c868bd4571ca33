//===- PropagationGraph.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace shardonnay {

FactorRule identityRule(llvm::ArrayRef<int64_t> shape, int64_t numOperands) {
  FactorRuleBuilder builder(
      llvm::SmallVector<int64_t>(numOperands, shape.size()), shape.size());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t d = dim;
    // What is not known is small.
    builder.add(std::max<int64_t>(size, 1),
                llvm::SmallVector<int64_t>(numOperands, d), d);
  }
  return builder.build();
}

llvm::hash_code hash_value(const MeshSharding &sharding) {
  return llvm::hash_combine(hash_value(sharding.sharding), sharding.mesh);
}

llvm::hash_code hash_value(const OpSignature &form) {
  // Forms of one rule get slots side by side.
  return llvm::hash_value(form.rule) +
         4 * static_cast<size_t>(form.propagationClass) + 2 * form.elementwise +
         form.onlyUser;
}

int32_t OpArray::add(int32_t form, llvm::ArrayRef<int32_t> tensors) {
  forms.append(form);
  for (int32_t tensor : tensors)
    allTensors.append(tensor);
  firsts.append(allTensors.size());
  return forms.size() - 1;
}

void OpArray::reserve(size_t ops, size_t tensors, size_t numTensors) {
  assert(size() == 0 && "ops were added");
  firsts = PackedNumbers(tensors);
  allTensors = PackedNumbers(numTensors);
  forms.reserve(ops);
  firsts.reserve(ops + 1);
  allTensors.reserve(tensors);
  firsts.append(0);
}

void PropagationGraph::reserve(size_t tensors, size_t ops,
                               size_t tensorsOfOps) {
  shardingIds.reserve(tensors);
  programOps.reserve(ops, tensorsOfOps, tensors);
}

int32_t PropagationGraph::addTensor(int32_t shardingId) {
  shardingIds.append(shardingId);
  return shardingIds.size() - 1;
}

void PropagationGraph::addReturn(const OpSignature &form,
                                 llvm::ArrayRef<int32_t> tensors) {
  returnOps.add(forms.intern(form), tensors);
}

void PropagationGraph::addGroup(llvm::ArrayRef<int32_t> tensors) {
  for (int32_t tensor : tensors)
    groupOfTensor[tensor] = groups.size();
  groups.emplace_back(tensors);
}

llvm::ArrayRef<int32_t> PropagationGraph::groupOf(const int32_t &tensor) const {
  auto found = groupOfTensor.find(tensor);
  return found == groupOfTensor.end() ? llvm::ArrayRef<int32_t>(tensor)
                                      : groups[found->second];
}

void PropagationGraph::connect() {
  firstNeighbours = PackedNumbers(programOps.tensors().size());
  firstNeighbours.resize(shardingIds.size() + 1, 0);
  for (int32_t tensor : programOps.tensors())
    if (tensor != kNone)
      firstNeighbours.set(tensor, firstNeighbours[tensor] + 1);
  // Each is the end of its tensor's part, and moves to its start as that is
  // filled from the back.
  int32_t end = 0;
  for (size_t tensor = 0; tensor < firstNeighbours.size(); ++tensor)
    firstNeighbours.set(tensor, end += firstNeighbours[tensor]);
  allNeighbours = PackedNumbers(programOps.size());
  allNeighbours.resize(end, 0);
  auto add = [&](int32_t tensor, int32_t op) {
    if (tensor == kNone)
      return;
    int32_t at = firstNeighbours[tensor] - 1;
    firstNeighbours.set(tensor, at);
    allNeighbours.set(at, op);
  };
  auto numOperands = [&](int32_t op) {
    return forms[programOps.form(op)].rule->operands.size();
  };
  for (int32_t op : llvm::seq(programOps.size()))
    for (int32_t tensor : programOps.tensors(op).take_front(numOperands(op)))
      add(tensor, op);
  for (int32_t op : llvm::reverse(llvm::seq(programOps.size())))
    for (int32_t tensor : programOps.tensors(op).drop_front(numOperands(op)))
      add(tensor, op);
}

void PropagationGraph::dropParts(TensorSharding &grown,
                                 const TensorSharding &old,
                                 int32_t mesh) const {
  if (wholeAxes.empty())
    return;
  for (auto [dim, oldDim] : llvm::zip(grown.dims, old.dims)) {
    if (dim.axes == oldDim.axes)
      continue;
    AxisList kept = oldDim.axes;
    for (AxisRef axis : dim.axes.dropPrefix(kept)) {
      if (axis != wholeAxes[mesh].fullAxis(axis.axis))
        break;
      kept.append(axis);
    }
    dim.axes = std::move(kept);
  }
}

} // namespace shardonnay
