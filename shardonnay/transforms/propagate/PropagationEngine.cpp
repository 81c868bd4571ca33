//===- PropagationEngine.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationEngine.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <set>

namespace shardonnay {

FactorRule identityRule(llvm::ArrayRef<int64_t> shape, int64_t numOperands) {
  FactorRuleBuilder builder(
      llvm::SmallVector<int64_t>(numOperands, shape.size()), shape.size());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t d = dim;
    builder.add(size, llvm::SmallVector<int64_t>(numOperands, d), d);
  }
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

namespace {
/// The levels of op priority; Everything where there is no ladder.
enum class Level : uint8_t {
  OnlyUsers,
  PassThroughOps,
  PassThroughFactors,
  AllFactors,
  Everything,
};
} // namespace

static Direction levelDirection(const GraphOp &op, int32_t factor,
                                Level level) {
  if (level == Level::Everything)
    return Direction::Both;
  bool early = level > Level::OnlyUsers || op.onlyUser;
  Direction allowed = Direction::None;
  if (early && op.propagationClass == PropagationClass::PassThrough)
    allowed = Direction::Both;
  if (early && op.propagationClass == PropagationClass::PassThroughForward)
    allowed = Direction::Forward;
  FactorKind kind = op.rule.factors[factor].kind;
  bool passThrough = kind == FactorKind::PassThrough ||
                     (kind == FactorKind::Indexed && op.rule.inResults(factor));
  if (level == Level::AllFactors ||
      (level == Level::PassThroughFactors && passThrough))
    allowed =
        allowed | (op.propagationClass == PropagationClass::BroadcastBackward
                       ? Direction::Backward
                       : Direction::Both);
  return allowed;
}

static llvm::SmallVector<Direction> directions(const GraphOp &op, Level level) {
  llvm::SmallVector<Direction> result;
  for (auto [index, factor] : llvm::enumerate(op.rule.factors))
    result.push_back(factor.blocked
                         ? Direction::None
                         : op.allowed & levelDirection(op, index, level));
  return result;
}

//===----------------------------------------------------------------------===//
// One sweep
//===----------------------------------------------------------------------===//

namespace {
class Sweep {
public:
  Sweep(PropagationGraph &graph, bool aggressive, Level level)
      : graph(graph), aggressive(aggressive), level(level),
        isDue(graph.ops.size()) {}

  void run() {
    visitReturns();
    for (int32_t op : llvm::reverse(llvm::seq<int32_t>(0, graph.ops.size())))
      makeDue(op);
    while (!due.empty()) {
      int32_t op = due.pop_back_val();
      isDue.reset(op);
      visit(graph.ops[op], op);
    }
    visitReturns();
  }

private:
  /// Function results take part only before and after, and make nothing due.
  void visitReturns() {
    for (const GraphOp &op : graph.returns)
      visit(op, kNone);
  }

  void makeDue(int32_t op) {
    if (isDue.test(op))
      return;
    isDue.set(op);
    due.push_back(op);
  }

  /// The mesh of the op's tensors; kNone if none has one or two differ.
  int32_t commonMesh(const GraphOp &op) const {
    int32_t mesh = kNone;
    for (int32_t tensor : op.tensors) {
      if (tensor == kNone || graph.tensors[tensor].mesh == kNone)
        continue;
      if (mesh != kNone && graph.tensors[tensor].mesh != mesh)
        return kNone;
      mesh = graph.tensors[tensor].mesh;
    }
    return mesh;
  }

  void visit(const GraphOp &op, int32_t self) {
    int32_t mesh = commonMesh(op);
    if (mesh == kNone)
      return;
    llvm::SmallVector<Direction> allowed = directions(op, level);
    if (llvm::all_of(allowed, [](Direction d) { return d == Direction::None; }))
      return;
    std::vector<TensorProjection> rows;
    TensorSharding outer;
    for (auto [i, tensor] : llvm::enumerate(op.tensors)) {
      rows.emplace_back();
      rows.back().factors.resize(op.rule.factors.size());
      if (tensor != kNone)
        rows.back() =
            project(read(op, i, outer), op.rule.tensor(i), op.rule.factors);
    }
    if (aggressive)
      propagateAggressive(op.rule, allowed, op.elementwise, rows);
    else
      propagateBasic(op.rule, allowed, rows);
    update(op, self, mesh, rows);
  }

  /// The sharding of tensor `i` of `op`, as the op's rule sees it; `outer` has
  /// room for it.
  const TensorSharding &read(const GraphOp &op, size_t i,
                             TensorSharding &outer) const {
    const TensorSharding &own = graph.tensors[op.tensors[i]].sharding;
    return op.isInside(i) ? outer = op.boundary.toOuter(own) : own;
  }

  void update(const GraphOp &op, int32_t self, int32_t mesh,
              llvm::ArrayRef<TensorProjection> rows) {
    // Collected first: an operand that occurs twice may have grown in two ways,
    // both from what it was when the op was visited. The last one stays.
    std::vector<std::pair<int32_t, TensorSharding>> changes;
    TensorSharding outer;
    for (auto [i, tensor] : llvm::enumerate(op.tensors)) {
      if (tensor == kNone)
        continue;
      const TensorSharding &old = read(op, i, outer);
      TensorSharding grown =
          unproject(rows[i], op.rule.tensor(i), op.rule.factors, old);
      if (!axesDiffer(grown, old))
        continue;
      grown = keepClosed(std::move(grown), old);
      changes.emplace_back(tensor, op.isInside(i) ? op.boundary.toInner(grown)
                                                  : std::move(grown));
    }
    for (auto &[tensor, sharding] : changes) {
      int32_t group = graph.tensors[tensor].group;
      llvm::ArrayRef<int32_t> members = tensor;
      if (group != kNone)
        members = graph.groups[group];
      for (int32_t member : members)
        set(graph.tensors[member], sharding, mesh, self);
    }
  }

  static bool axesDiffer(const TensorSharding &a, const TensorSharding &b) {
    for (auto [dimA, dimB] : llvm::zip(a.dims, b.dims))
      if (dimA.axes != dimB.axes)
        return true;
    return false;
  }

  /// A step adds axes and nothing else.
  static TensorSharding keepClosed(TensorSharding grown,
                                   const TensorSharding &old) {
    for (auto [dim, oldDim] : llvm::zip(grown.dims, old.dims))
      dim.closed = oldDim.closed;
    return grown;
  }

  void set(GraphTensor &tensor, const TensorSharding &sharding, int32_t mesh,
           int32_t self) {
    if (tensor.sharding == sharding)
      return;
    tensor.sharding = sharding;
    tensor.mesh = mesh;
    if (self == kNone)
      return;
    for (int32_t op : tensor.neighbours)
      if (op != self)
        makeDue(op);
  }

  PropagationGraph &graph;
  bool aggressive;
  Level level;
  /// The next to visit is last.
  llvm::SmallVector<int32_t> due;
  llvm::BitVector isDue;
};
} // namespace

static void propagateAt(PropagationGraph &graph, PropagationStrategy strategy,
                        Level level) {
  if (strategy != PropagationStrategy::Aggressive)
    Sweep(graph, /*aggressive=*/false, level).run();
  if (strategy != PropagationStrategy::Basic)
    Sweep(graph, /*aggressive=*/true, level).run();
}

void propagate(PropagationGraph &graph, PropagationStrategy strategy) {
  propagateAt(graph, strategy, Level::Everything);
}

void propagateByOpPriority(PropagationGraph &graph,
                           PropagationStrategy strategy) {
  for (Level level :
       {Level::OnlyUsers, Level::PassThroughOps, Level::PassThroughFactors,
        Level::AllFactors, Level::Everything})
    propagateAt(graph, strategy, level);
}

//===----------------------------------------------------------------------===//
// User priority
//===----------------------------------------------------------------------===//

namespace {
/// A dim that waits for the round of its priority.
struct WaitingDim {
  int32_t tensor;
  int64_t dim;
  DimSharding sharding;
};
} // namespace

/// Empties and closes the dims of priority > 0, and parks their axes.
static std::vector<WaitingDim> takeOutLaterDims(PropagationGraph &graph) {
  std::vector<WaitingDim> waiting;
  for (auto [index, tensor] : llvm::enumerate(graph.tensors)) {
    for (auto [d, dim] : llvm::enumerate(tensor.sharding.dims)) {
      if (dim.priority == 0)
        continue;
      waiting.push_back(
          {static_cast<int32_t>(index), static_cast<int64_t>(d), dim});
      tensor.sharding.replicated.append(dim.axes);
      dim.axes = AxisList();
      dim.closed = true;
    }
    tensor.sharding.replicated = tensor.sharding.replicated.sorted();
  }
  return waiting;
}

/// The priority has done its work then.
static void putBack(PropagationGraph &graph, const WaitingDim &waiting) {
  TensorSharding &sharding = graph.tensors[waiting.tensor].sharding;
  sharding.dims[waiting.dim] = waiting.sharding;
  sharding.dims[waiting.dim].priority = 0;
  sharding.replicated = sharding.replicated.subtract(waiting.sharding.axes);
}

void propagateByUserPriority(PropagationGraph &graph,
                             PropagationStrategy strategy, bool byOpPriority) {
  std::vector<WaitingDim> waiting = takeOutLaterDims(graph);
  std::set<int64_t> rounds = {0};
  for (const WaitingDim &dim : waiting)
    rounds.insert(dim.sharding.priority);
  for (int64_t round : rounds) {
    for (const WaitingDim &dim : waiting)
      if (dim.sharding.priority == round)
        putBack(graph, dim);
    if (byOpPriority)
      propagateByOpPriority(graph, strategy);
    else
      propagate(graph, strategy);
  }
}

} // namespace shardonnay
