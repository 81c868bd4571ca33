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

namespace shardonnay {

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

using Level = OpPriorityLevel;

static Direction levelDirection(const OpSignature &op, int32_t factor,
                                Level level) {
  if (level == Level::Everything || level == Level::FromAll)
    return Direction::Both;
  if (level == Level::FromResults)
    return Direction::Backward;
  bool early = level > Level::OnlyUsers || op.onlyUser;
  Direction allowed = Direction::None;
  if (early && op.propagationClass == PropagationClass::PassThrough)
    allowed = Direction::Both;
  if (early && op.propagationClass == PropagationClass::PassThroughForward)
    allowed = Direction::Forward;
  FactorKind kind = op.rule->factors[factor].kind;
  bool passThrough =
      kind == FactorKind::PassThrough ||
      (kind == FactorKind::Indexed && op.rule->inResults(factor));
  if (level == Level::AllFactors ||
      (level == Level::PassThroughFactors && passThrough))
    allowed =
        allowed | (op.propagationClass == PropagationClass::BroadcastBackward
                       ? Direction::Backward
                       : Direction::Both);
  return allowed;
}

static llvm::SmallVector<Direction> directions(const OpSignature &op,
                                               Level level) {
  llvm::SmallVector<Direction> result;
  for (auto [index, factor] : llvm::enumerate(op.rule->factors))
    result.push_back(factor.blocked
                         ? Direction::None
                         : op.allowed & levelDirection(op, index, level));
  return result;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

namespace {
/// The levels of op priority.
constexpr Level kLevels[] = {Level::OnlyUsers, Level::PassThroughOps,
                             Level::PassThroughFactors, Level::AllFactors,
                             Level::Everything};
constexpr int kNumLevels = static_cast<int>(Level::FromAll) + 1;

/// Runs sweeps over one graph, and remembers between them what need not be
/// visited again.
class Sweeper {
public:
  Sweeper(PropagationGraph &graph, PropagationSink *sink, StepMemo &memo)
      : graph(graph), sink(sink), memo(memo), isEnqueued(graph.ops().size()),
        upToDate(graph.ops().size()) {
    worklist.reserve(graph.ops().size());
    for (int32_t form : llvm::seq(graph.numForms()))
      levels.push_back(levelsOf(graph.form(form)));
  }

  void sweep(bool aggressive, Level level) {
    this->aggressive = aggressive;
    this->level = level;
    visitReturns();
    for (firstEnqueued = 0; firstEnqueued < graph.ops().size();) {
      visitIfUnsettled(firstEnqueued++);
      while (!worklist.empty()) {
        int32_t op = worklist.pop_back_val();
        isEnqueued.reset(op);
        visitIfUnsettled(op);
      }
    }
    visitReturns();
  }

  /// Visits each op once, aggressively.
  void sweepOnce(Level level, bool fromLast) {
    aggressive = true;
    this->level = level;
    firstEnqueued = 0;
    visitReturns();
    int32_t numOps = graph.ops().size();
    for (int32_t i : llvm::seq(numOps)) {
      int32_t op = fromLast ? numOps - 1 - i : i;
      visit(graph.ops(), op, op);
    }
    visitReturns();
  }

  /// The user priority of the sweeps to come.
  void startRound(int64_t priority) { round = priority; }

  /// Gives `tensor` the sharding `id`.
  void set(int32_t tensor, int32_t id) {
    graph.setSharding(tensor, id);
    for (int32_t op : graph.neighbours(tensor))
      upToDate[op] = 0;
  }

private:
  /// For each level the first that allows the same directions; kNone where
  /// there are none. A sink is told of each level.
  using Levels = std::array<int8_t, kNumLevels>;

  Levels levelsOf(const OpSignature &form) const {
    Levels result;
    llvm::SmallVector<llvm::SmallVector<Direction>, kNumLevels> allowed;
    for (int level = 0; level < kNumLevels; ++level) {
      allowed.push_back(directions(form, static_cast<Level>(level)));
      bool isIdle = llvm::all_of(
          allowed.back(), [](Direction d) { return d == Direction::None; });
      result[level] =
          isIdle ? kNone
          : sink ? level
                 : llvm::find(allowed, allowed.back()) - allowed.begin();
    }
    return result;
  }

  int32_t levelOf(int32_t form) const {
    return levels[form][static_cast<int>(level)];
  }

  /// Function results take part only before and after, and enqueue nothing.
  void visitReturns() {
    for (int32_t op : llvm::seq(graph.returns().size()))
      visit(graph.returns(), op, kNone);
  }

  /// A visit that can change nothing is none. What is final keeps its place
  /// enqueued all the same: it may change before its turn comes.
  void visitIfUnsettled(int32_t op) {
    int32_t known = levelOf(graph.ops().form(op));
    if (known == kNone)
      return;
    uint16_t bit = 1u << (2 * known + aggressive);
    if ((upToDate[op] & bit) != 0)
      return;
    upToDate[op] |= bit;
    visit(graph.ops(), op, op);
  }

  /// To be visited next, unless it is enqueued already.
  void enqueue(int32_t op) {
    if (op >= firstEnqueued || isEnqueued.test(op))
      return;
    isEnqueued.set(op);
    worklist.push_back(op);
  }

  void visit(const OpArray &ops, int32_t op, int32_t self) {
    int32_t form = ops.form(op);
    int32_t known = levelOf(form);
    if (known == kNone)
      return;
    PackedNumbers::Slice tensors = ops.tensors(op);
    if (sink) {
      llvm::SmallVector<int32_t> after(tensors.size(), kNone);
      PropagationVisit visit{
          op, self == kNone, round, level, aggressive, {}, {}, {}, {}};
      if (step(graph.form(form), tensors, after, &visit))
        apply(tensors, after, self);
      return;
    }
    StepMemo::Key key((form * kNumLevels + known) * 2 + aggressive);
    for (int32_t tensor : tensors)
      key.add(tensor == kNone ? kNone : graph.shardingId(tensor));
    if (std::optional<PackedNumbers::Slice> after = memo.find(key))
      return apply(tensors, *after, self);
    llvm::SmallVector<int32_t> after(tensors.size(), kNone);
    step(graph.form(form), tensors, after);
    memo.add(key, after);
    apply(tensors, after, self);
  }

  /// The mesh of the op's tensors; kNone if none has one or two differ.
  int32_t commonMesh(PackedNumbers::Slice tensors) const {
    int32_t mesh = kNone;
    for (int32_t tensor : tensors) {
      if (tensor == kNone || graph.mesh(tensor) == kNone)
        continue;
      if (mesh != kNone && graph.mesh(tensor) != mesh)
        return kNone;
      mesh = graph.mesh(tensor);
    }
    return mesh;
  }

  /// One step on an op's table; `after` gets the shardings that change. The
  /// sink is told if there is a `visit` to fill in, and may say not to make the
  /// changes: false.
  bool step(const OpSignature &op, PackedNumbers::Slice tensors,
            llvm::MutableArrayRef<int32_t> after,
            PropagationVisit *visit = nullptr) {
    int32_t mesh = commonMesh(tensors);
    if (mesh == kNone)
      return false;
    llvm::SmallVector<Direction> allowed = directions(op, level);
    std::vector<TensorProjection> rows;
    rows.reserve(tensors.size());
    TensorSharding outer;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      rows.emplace_back();
      rows.back().factors.resize(op.rule->factors.size());
      if (tensor != kNone)
        rows.back() = project(read(op, i, tensor, outer), op.rule->tensor(i),
                              op.rule->factors);
    }
    std::vector<TensorProjection> before;
    llvm::SmallVector<Refusal, 0> refusals;
    if (visit)
      before = rows;
    RefusalLog log = visit ? &refusals : nullptr;
    if (aggressive)
      propagateAggressive(*op.rule, allowed, op.elementwise, rows, log);
    else
      propagateBasic(*op.rule, allowed, rows, log);
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      if (tensor == kNone)
        continue;
      const TensorSharding &old = read(op, i, tensor, outer);
      TensorSharding grown =
          unproject(rows[i], op.rule->tensor(i), op.rule->factors, old);
      graph.dropParts(grown, old, mesh);
      if (!axesDiffer(grown, old))
        continue;
      grown = keepClosed(std::move(grown), old);
      after[i] =
          graph.intern({op.isInside(i) ? op.boundary.front().toInner(grown)
                                       : std::move(grown),
                        mesh});
    }
    if (!visit)
      return true;
    if (level == Level::Everything)
      reportBlocked(op, allowed, before, refusals);
    visit->before = before;
    visit->after = rows;
    visit->newShardings = after;
    visit->refusals = refusals;
    return sink->visit(graph, *visit);
  }

  /// Tells of factors that offer axes, but in a direction that is not allowed.
  static void reportBlocked(const OpSignature &op,
                            llvm::ArrayRef<Direction> allowed,
                            llvm::ArrayRef<TensorProjection> rows,
                            llvm::SmallVectorImpl<Refusal> &refusals) {
    for (auto [factor, direction] : llvm::enumerate(allowed)) {
      if (direction == Direction::Both)
        continue;
      AxisList offered =
          compatibleMajorAxes(*op.rule, rows, factor, Direction::Both);
      for (auto [tensor, row] : llvm::enumerate(rows)) {
        const FactorSharding &cell = row.factors[factor];
        AxisList granted =
            compatibleMajorAxes(*op.rule, rows, factor, direction);
        if (cell.present && !offered.isPrefixOf(cell.axes) &&
            !offered.isPrefixOf(granted))
          refusals.push_back({RefusalReason::Blocked,
                              static_cast<int32_t>(factor),
                              static_cast<int32_t>(tensor), offered, granted,
                              static_cast<int32_t>(tensor)});
      }
    }
  }

  /// The sharding of tensor `i` of `op`, as the op's rule sees it; `outer` has
  /// room for it.
  const TensorSharding &read(const OpSignature &op, size_t i, int32_t tensor,
                             TensorSharding &outer) const {
    const TensorSharding &own = graph.sharding(tensor);
    return op.isInside(i) ? outer = op.boundary.front().toOuter(own) : own;
  }

  /// A step adds axes and nothing else.
  static TensorSharding keepClosed(TensorSharding grown,
                                   const TensorSharding &old) {
    for (auto [dim, oldDim] : llvm::zip(grown.dims, old.dims))
      dim.closed = oldDim.closed;
    return grown;
  }

  /// An operand that occurs twice may have grown in two ways, both from what it
  /// was when the op was visited. The last one stays.
  template <typename RangeT>
  void apply(PackedNumbers::Slice tensors, const RangeT &after, int32_t self) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      if (after[i] != kNone)
        for (int32_t member : graph.groupOf(tensor))
          update(member, after[i], self);
  }

  void update(int32_t tensor, int32_t id, int32_t self) {
    int32_t old = graph.shardingId(tensor);
    if (old == id ||
        graph.shardingOf(old).sharding == graph.shardingOf(id).sharding)
      return;
    set(tensor, id);
    if (self == kNone)
      return;
    for (int32_t op : graph.neighbours(tensor))
      if (op != self)
        enqueue(op);
  }

  PropagationGraph &graph;
  PropagationSink *sink;
  StepMemo &memo;
  int64_t round = 0;
  bool aggressive = false;
  Level level = Level::Everything;
  /// What is enqueued: the next to visit is the last of `worklist`, of which
  /// `isEnqueued` tells, then come all ops from `firstEnqueued` on.
  int32_t firstEnqueued = 0;
  llvm::SmallVector<int32_t, 0> worklist;
  llvm::BitVector isEnqueued;
  /// For each op, the levels and strategies at which it was visited since the
  /// last change of its tensors.
  std::vector<uint16_t> upToDate;
  /// Of each form.
  llvm::SmallVector<Levels> levels;
};
} // namespace

static void sweepAt(Sweeper &sweeper, PropagationStrategy strategy,
                    Level level) {
  if (strategy != PropagationStrategy::Aggressive)
    sweeper.sweep(/*aggressive=*/false, level);
  if (strategy != PropagationStrategy::Basic)
    sweeper.sweep(/*aggressive=*/true, level);
}

static void climbLevels(Sweeper &sweeper, PropagationStrategy strategy) {
  for (Level level : kLevels)
    sweepAt(sweeper, strategy, level);
}

void propagate(PropagationGraph &graph, PropagationStrategy strategy,
               PropagationSink *sink) {
  StepMemo memo;
  Sweeper sweeper(graph, sink, memo);
  sweepAt(sweeper, strategy, Level::Everything);
}

void propagateByOpPriority(PropagationGraph &graph,
                           PropagationStrategy strategy,
                           PropagationSink *sink) {
  StepMemo memo;
  Sweeper sweeper(graph, sink, memo);
  climbLevels(sweeper, strategy);
}

//===----------------------------------------------------------------------===//
// User priority
//===----------------------------------------------------------------------===//

namespace {
/// A dim that waits for the round of its priority.
struct WaitingDim {
  int64_t priority;
  int32_t tensor;
  int32_t dim;
  /// The id of the tensor's sharding with all dims.
  int32_t given;
};
} // namespace

static bool hasLaterDims(const TensorSharding &sharding) {
  return llvm::any_of(sharding.dims,
                      [](const DimSharding &dim) { return dim.priority != 0; });
}

/// Empties and closes the dims of priority > 0, and parks their axes. Returns
/// them by priority.
static std::vector<WaitingDim> takeOutLaterDims(PropagationGraph &graph) {
  std::vector<WaitingDim> waiting;
  for (int32_t tensor : llvm::seq(graph.numTensors())) {
    if (!hasLaterDims(graph.sharding(tensor)))
      continue;
    int32_t given = graph.shardingId(tensor);
    MeshSharding without = graph.shardingOf(given);
    for (auto [d, dim] : llvm::enumerate(without.sharding.dims)) {
      if (dim.priority == 0)
        continue;
      waiting.push_back({dim.priority, tensor, static_cast<int32_t>(d), given});
      without.sharding.replicated.append(dim.axes);
      dim.axes = AxisList();
      dim.closed = true;
    }
    without.sharding.replicated = without.sharding.replicated.sorted();
    graph.setSharding(tensor, graph.intern(without));
  }
  llvm::sort(waiting, [](const WaitingDim &a, const WaitingDim &b) {
    return std::tie(a.priority, a.tensor, a.dim) <
           std::tie(b.priority, b.tensor, b.dim);
  });
  return waiting;
}

/// The priority has done its work then.
static void putBack(PropagationGraph &graph, Sweeper &sweeper,
                    const WaitingDim &waiting) {
  MeshSharding with = graph.shardingOf(graph.shardingId(waiting.tensor));
  DimSharding &dim = with.sharding.dims[waiting.dim];
  dim = graph.shardingOf(waiting.given).sharding.dims[waiting.dim];
  dim.priority = 0;
  with.sharding.replicated = with.sharding.replicated.subtract(dim.axes);
  sweeper.set(waiting.tensor, graph.intern(with));
}

/// `run` in the round of each priority.
static void runRounds(PropagationGraph &graph, PropagationSink *sink,
                      StepMemo *shared,
                      llvm::function_ref<void(Sweeper &)> run) {
  std::vector<WaitingDim> waiting = takeOutLaterDims(graph);
  StepMemo own;
  Sweeper sweeper(graph, sink, shared ? *shared : own);
  run(sweeper);
  for (size_t i = 0; i < waiting.size();) {
    int64_t round = waiting[i].priority;
    for (; i < waiting.size() && waiting[i].priority == round; ++i)
      putBack(graph, sweeper, waiting[i]);
    sweeper.startRound(round);
    run(sweeper);
  }
}

void propagateByUserPriority(PropagationGraph &graph,
                             PropagationStrategy strategy, bool byOpPriority,
                             PropagationSink *sink, StepMemo *memo) {
  runRounds(graph, sink, memo, [&](Sweeper &sweeper) {
    if (byOpPriority)
      climbLevels(sweeper, strategy);
    else
      sweepAt(sweeper, strategy, Level::Everything);
  });
}

void propagateBackwardForward(PropagationGraph &graph, PropagationSink *sink,
                              StepMemo *memo) {
  runRounds(graph, sink, memo, [](Sweeper &sweeper) {
    sweeper.sweepOnce(Level::FromResults, /*fromLast=*/true);
    sweeper.sweepOnce(Level::FromAll, /*fromLast=*/false);
  });
}

} // namespace shardonnay
