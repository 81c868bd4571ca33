//===- OtherStrategies.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OtherStrategies.h"

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/report/OpAlternative.h"

using namespace mlir;

namespace shardonnay {

llvm::StringRef
OtherStrategies::describe(Operation *op, const FactorRule &rule,
                          ArrayRef<const Placement *> placements,
                          ArrayRef<AxisList> axes) {
  CompositeKey key = makeKey(op->getName(), &rule);
  key.addAll(placements);
  auto [text, isNew] = known.find(key);
  if (!isNew)
    return text;
  sdy::MeshAttr mesh = placer.mesh();
  if (!solver)
    solver =
        std::make_unique<OpSolver>(sdy::toMesh(mesh), toMeshCosts(model, mesh));
  // A value may be several of the op's tensors, which then are sharded alike.
  llvm::DenseMap<Value, TensorSharding> whole;
  auto add = [&](Value value, const Placement *placement) {
    TensorSharding &sharding = whole[value] = placement->sharding;
    sharding.unreduced = AxisList();
  };
  unsigned numOperands = op->getNumOperands();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    add(operand, placements[i]);
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    add(result, placements[numOperands + i]);
  OpProblem problem =
      readProblem(op, rule, mesh, [&](Value value) -> const TensorSharding & {
        return whole[value];
      });
  text = describeAlternative(op, problem, FactorStrategy(axes), *solver, mesh);
  return text;
}

} // namespace shardonnay
