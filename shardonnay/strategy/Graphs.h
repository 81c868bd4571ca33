//===- Graphs.h - strategy graphs for tests ---------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs of dots [r, r] x [r, r] and of additions, put together value by value.
// Only tests include this.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_GRAPHS_H
#define SHARDONNAY_STRATEGY_GRAPHS_H

#include "shardonnay/strategy/StrategyState.h"
#include <random>

namespace shardonnay {

/// The costs of bytes alone, or by a model.
inline MeshCosts costsOf(const Mesh &mesh, const DeviceModel *model) {
  llvm::SmallVector<llvm::StringRef> names(mesh.numAxes(), "a");
  return model ? MeshCosts(*model, names) : MeshCosts();
}

class TestGraph {
public:
  TestGraph(Mesh mesh, int64_t size, const DeviceModel *model = nullptr)
      : table(mesh, costsOf(mesh, model)) {
    FactorRuleBuilder dotRule({2, 2}, {2});
    dotRule.add(size, {0, -1}, {0});
    dotRule.add(size, {-1, 1}, {1});
    dotRule.add(size, {1, 0}, {-1}, FactorKind::Reduction);
    dot = dotRule.build();
    FactorRuleBuilder addRule({2, 2}, {2});
    addRule.add(size, {0, 0}, {0});
    addRule.add(size, {1, 1}, {1});
    sum = addRule.build();
    FactorRuleBuilder shapedRule({2, 0}, {2});
    shapedRule.add(size, {0, -1}, {0});
    shapedRule.add(size, {1, -1}, {1});
    shaped = shapedRule.build();
    tensor = table.add(TensorKind{{size, size}, 4});
    dotKind = table.add(kindOf(dot, /*contraction=*/true));
    sumKind = table.add(kindOf(sum, /*contraction=*/false));
    OpKind kind = kindOf(shaped, /*contraction=*/false);
    kind.tensors[1] = -1;
    shapedKind = table.add(kind);
  }

  int32_t sharding(const AxisList &rows, const AxisList &columns = {}) {
    TensorSharding sharding = TensorSharding::fullyClosed(2);
    sharding.dims[0].axes = rows;
    sharding.dims[1].axes = columns;
    return table.add(sharding);
  }
  int32_t addArgument(int32_t sharding) {
    shardings.push_back(sharding);
    arguments.push_back(builder.addValue({-1, 0, tensor, sharding, false}));
    return arguments.back();
  }
  int32_t addDot(int32_t lhs, int32_t rhs, int32_t sharding) {
    return addOp(dotKind, lhs, rhs, sharding);
  }
  int32_t addSum(int32_t lhs, int32_t rhs, int32_t sharding) {
    return addOp(sumKind, lhs, rhs, sharding);
  }
  /// What is no tensor, such as a shape.
  int32_t addShape() {
    shardings.push_back(-1);
    return builder.addValue({-1, 0, /*tensor=*/-1, /*sharding=*/-1, false});
  }
  /// An op of a value and a shape, in both of which it says to be linear.
  int32_t addShaped(int32_t value, int32_t shape, int32_t sharding) {
    return addOp(shapedKind, value, shape, sharding);
  }
  /// The block returns `value` so.
  void addReturn(int32_t value, int32_t sharding) {
    OpClass opClass;
    opClass.passesOn = true;
    builder.addOp(builder.addClass(opClass), {value}, {sharding}, 0, 0);
  }
  void setTrips(double trips) { builder.setTrips(trips); }
  void setMemoryPrice(int32_t op, double price) {
    builder.setMemoryPrice(op, price);
  }
  void finish() { graph = builder.finish(); }

  OpStrategies table;
  StrategyGraph graph;
  llvm::SmallVector<int32_t> arguments;

private:
  OpKind kindOf(const FactorRule &rule, bool contraction) const {
    OpKind kind;
    kind.rule = &rule;
    kind.tensors.assign(3, tensor);
    kind.contraction = contraction;
    kind.elementwise = !contraction;
    return kind;
  }
  int32_t addOp(int32_t kind, int32_t lhs, int32_t rhs, int32_t sharding) {
    OpClass opClass;
    opClass.kind = kind;
    opClass.free.resize(3);
    opClass.shardings = {shardings[lhs], shardings[rhs], sharding};
    opClass.linear.resize(2, kind == dotKind);
    opClass.summands.resize(2, kind != dotKind);
    shardings.push_back(sharding);
    int32_t result = builder.addValue({-1, 0, tensor, sharding, false});
    builder.addOp(builder.addClass(opClass), {lhs, rhs}, {}, result, 1);
    return result;
  }

  FactorRule dot, sum, shaped;
  int32_t tensor = -1, dotKind = -1, sumKind = -1, shapedKind = -1;
  /// By value.
  std::vector<int32_t> shardings;
  StrategyGraphBuilder builder;
};

/// A graph of `numOps` ops on axes of size 2 and 4, sharded at random.
inline std::unique_ptr<TestGraph>
makeRandomGraph(std::mt19937 &random, int numOps, const DeviceModel *model) {
  Mesh mesh({2, 4});
  AxisRef a = mesh.fullAxis(0), b = mesh.fullAxis(1);
  auto made = std::make_unique<TestGraph>(mesh, 64, model);
  auto pick = [&](int32_t count) {
    return std::uniform_int_distribution<int32_t>(0, count - 1)(random);
  };
  llvm::SmallVector<int32_t> shardings = {
      made->sharding({}),
      made->sharding(AxisList{a}),
      made->sharding(AxisList{b}),
      made->sharding({}, AxisList{a}),
      made->sharding({}, AxisList{b}),
      made->sharding(AxisList{a}, AxisList{b}),
      made->sharding(AxisList{a, b})};
  auto anySharding = [&] { return shardings[pick(shardings.size())]; };
  int32_t numValues = 0;
  for (; numValues < 3; ++numValues)
    made->addArgument(anySharding());
  for (int i = 0; i < numOps; ++i, ++numValues) {
    int32_t lhs = pick(numValues), rhs = pick(numValues);
    int32_t sharding = anySharding();
    pick(2) ? made->addDot(lhs, rhs, sharding)
            : made->addSum(lhs, rhs, sharding);
  }
  made->addReturn(numValues - 1, anySharding());
  made->finish();
  return made;
}

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_GRAPHS_H
