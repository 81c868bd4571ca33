//===- SplitMergedDims.cpp - computes on dims before they were merged -----===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. `findMerges`: reshapes that merge dims, of which one behind the first
//    has the size of a dim that may have axes. Without any, nothing is done.
// 2. `findSeeds`: those where propagation has axes in a dim behind the first,
//    which the merged dim can't have: it would have to be gathered.
// 3. `plan`: in program order, which ops can be computed with the dim split
//    again, each with what comes of its rule, and which ops read what is split
//    without that: it has to be merged for these.
// 4. Of ops that hang together, only those are written where what is merged in
//    the end, and what is split to join in, has fewer bytes than what the seeds
//    merge.
// 5. `write`.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/DimSplit.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/propagate/GroupShardings.h"
#include "shardonnay/transforms/propagate/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SPLITMERGEDDIMSPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {

/// Neighbouring dims of a reshape's operand and those of its result that have
/// the same elements; none of size 1.
struct DimGroup {
  SmallVector<int64_t, 2> from, to;

  bool isMerge() const { return from.size() > 1 && to.size() == 1; }
};

/// A reshape, and the dims of its result that are to be split.
struct Merge {
  Operation *op;
  SmallVector<DimGroup, 4> groups;
  SmallVector<int64_t> dims;
};

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Requires two shapes with as many elements, and some.
SmallVector<DimGroup, 4> groupDims(ArrayRef<int64_t> from,
                                   ArrayRef<int64_t> to) {
  auto isLarger = [](int64_t size) { return size > 1; };
  const int64_t *i = llvm::find_if(from, isLarger),
                *j = llvm::find_if(to, isLarger);
  SmallVector<DimGroup, 4> groups;
  while (i != from.end()) {
    DimGroup &group = groups.emplace_back();
    auto take = [&](const int64_t *&next, ArrayRef<int64_t> shape,
                    SmallVectorImpl<int64_t> &dims) {
      int64_t size = *next;
      dims.push_back(next - shape.begin());
      next = std::find_if(next + 1, shape.end(), isLarger);
      return size;
    };
    int64_t before = take(i, from, group.from), after = take(j, to, group.to);
    while (before != after)
      if (before < after)
        before *= take(i, from, group.from);
      else
        after *= take(j, to, group.to);
  }
  return groups;
}

bool hasSomeElements(Operation *op) {
  return hasStaticShapes(op) &&
         !llvm::is_contained(shapeOf(op->getOperand(0)), 0);
}

/// The sizes of dims that may have axes: those that were given some, and those
/// that take them from these. It only tells where a propagation is worth it.
class SizesWithAxes {
public:
  explicit SizesWithAxes(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>())
      for (auto [number, type] : llvm::enumerate(func.getResultTypes()))
        addGiven(sdy::getFuncResultSharding(func, number), type);
    module.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  }

  bool contains(int64_t size) const { return sizes.contains(size); }

private:
  void visit(Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        addGiven(sdy::getSharding(argument), argument.getType());
    for (Value result : op->getResults()) {
      if (op->getNumOperands() > 0)
        addFrom(op->getOperand(0), result);
      addGiven(sdy::getSharding(result), result.getType());
    }
  }

  void addGiven(sdy::TensorShardingAttr sharding, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor)
      return;
    for (auto [dim, size] :
         llvm::zip(sharding.getDimShardings(), tensor.getShape()))
      if (!dim.getAxes().empty())
        sizes.insert(size);
  }

  /// Of dims that take the axes of others: what is merged of them, the first
  /// that one is split into, and what a window or several make of one.
  void addFrom(Value operand, Value result) {
    auto from = dyn_cast<RankedTensorType>(operand.getType());
    auto to = dyn_cast<RankedTensorType>(result.getType());
    if (!from || !to || from == to)
      return;
    auto reshape = dyn_cast<DimSplitOpInterface>(result.getDefiningOp());
    if (reshape && reshape.isReshape() && hasSomeElements(reshape)) {
      for (const DimGroup &group : groupDims(from.getShape(), to.getShape()))
        if (llvm::any_of(group.from, [&](int64_t dim) {
              return contains(from.getDimSize(dim));
            }))
          sizes.insert(to.getDimSize(group.to.front()));
    } else if (from.getRank() == to.getRank()) {
      for (auto [before, after] : llvm::zip(from.getShape(), to.getShape()))
        if (before != after && contains(before))
          sizes.insert(after);
    }
  }

  llvm::DenseSet<int64_t> sizes;
};

/// The reshapes that merge a dim behind another that may have axes.
std::vector<Merge> findMerges(ModuleOp module) {
  std::vector<Merge> merges;
  module.walk([&](DimSplitOpInterface op) {
    if (!op.isReshape() || !hasSomeElements(op))
      return;
    Merge merge{
        op,
        groupDims(shapeOf(op->getOperand(0)), shapeOf(op->getResult(0))),
        {}};
    if (llvm::any_of(merge.groups, std::mem_fn(&DimGroup::isMerge)))
      merges.push_back(std::move(merge));
  });
  if (merges.empty())
    return merges;
  SizesWithAxes sizes(module);
  llvm::erase_if(merges, [&](const Merge &merge) {
    ArrayRef<int64_t> from = shapeOf(merge.op->getOperand(0));
    return llvm::none_of(merge.groups, [&](const DimGroup &group) {
      return group.isMerge() &&
             llvm::any_of(llvm::drop_begin(group.from), [&](int64_t dim) {
               return sizes.contains(from[dim]);
             });
    });
  });
  return merges;
}

/// Axes of some dim behind the first are not those of the merged dim.
bool losesAxes(const DimGroup &group, const TensorSharding &from,
               const TensorSharding &to) {
  return group.isMerge() &&
         llvm::any_of(llvm::drop_begin(group.from), [&](int64_t dim) {
           return !from.dims[dim]
                       .axes.subtract(to.dims[group.to.front()].axes)
                       .empty();
         });
}

/// Those that lose axes, each with the dims that do.
std::vector<Merge> findSeeds(ModuleOp module, std::vector<Merge> merges) {
  ModuleGraph read = shareGroupShardings(module, /*keepOperations=*/true);
  PropagationGraph &graph = read.graph;
  propagateByUserPriority(graph, PropagationStrategy::Aggressive,
                          /*byOpPriority=*/true);
  llvm::DenseMap<Operation *, int32_t> numbers;
  for (int32_t number : llvm::seq(graph.ops().size()))
    numbers.try_emplace(read.operation(number), number);
  std::vector<Merge> seeds;
  for (Merge &merge : merges) {
    auto number = numbers.find(merge.op);
    if (number == numbers.end())
      continue;
    PackedNumbers::Slice tensors = graph.ops().tensors(number->second);
    // Arguments of what one device computes have no shardings.
    if (llvm::is_contained(tensors, kNone))
      continue;
    for (const DimGroup &group : merge.groups)
      if (losesAxes(group, graph.sharding(tensors[0]),
                    graph.sharding(tensors[1])))
        merge.dims.push_back(group.to.front());
    if (!merge.dims.empty())
      seeds.push_back(std::move(merge));
  }
  return seeds;
}

//===----------------------------------------------------------------------===//
// Splits of an op
//===----------------------------------------------------------------------===//

/// The sizes that a factor is split into; empty where it stays whole.
using FactorSizes = SmallVector<int64_t, 2>;

bool isSplit(const TensorSplit &split) {
  return llvm::any_of(split,
                      [](const auto &sizes) { return sizes.size() > 1; });
}

bool hasPlainElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() &&
         isa<IntegerType, FloatType, ComplexType>(tensor.getElementType());
}

/// The rule of an op that may be computed on split dims.
std::optional<FactorRule> readRule(Operation *op) {
  if (!isa_and_present<DimSplitOpInterface>(op) ||
      op->hasAttr(sdy::kShardingAttr) ||
      !llvm::all_of(op->getOperandTypes(), hasPlainElements) ||
      !llvm::all_of(op->getResultTypes(), hasPlainElements))
    return std::nullopt;
  std::optional<FactorRule> rule = sdy::getPropagationRule(op);
  return rule && !rule->custom ? std::move(rule) : std::nullopt;
}

/// A dim of several factors is split into these where one of them is, or where
/// `splitsAll`.
FactorSizes sizesOf(const FactorRule &rule, const DimFactors &dim, int64_t size,
                    ArrayRef<FactorSizes> factors, bool splitsAll) {
  if (!splitsAll && llvm::all_of(dim, [&](int32_t factor) {
        return factors[factor].empty();
      }))
    return {size};
  FactorSizes sizes;
  for (int32_t factor : dim)
    if (factors[factor].empty())
      sizes.push_back(rule.factors[factor].size);
    else
      llvm::append_range(sizes, factors[factor]);
  return sizes;
}

/// The splits that those of the factors make, if the op can follow; `splitsAll`
/// says of a tensor's dim that it is split into its factors, whatever these
/// are.
std::optional<DimSplits>
readSplits(const FactorRule &rule, Operation *op, ArrayRef<FactorSizes> factors,
           llvm::function_ref<bool(int64_t, int64_t)> splitsAll) {
  DimSplits splits;
  auto add = [&](Value value) {
    int64_t tensor = splits.tensors.size();
    TensorSplit &split = splits.tensors.emplace_back();
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    for (auto [dim, size] : llvm::enumerate(shape))
      split.push_back(sizesOf(rule, rule.tensor(tensor).dims[dim], size,
                              factors, splitsAll(tensor, dim)));
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  if (!cast<DimSplitOpInterface>(op).maySplitDims(splits))
    return std::nullopt;
  return splits;
}

/// Splits the factors of a dim as `sizes` has the dim. False where they can't
/// be, or are split otherwise.
bool splitFactors(const FactorRule &rule, const DimFactors &dim,
                  ArrayRef<int64_t> sizes,
                  MutableArrayRef<FactorSizes> factors) {
  for (int32_t factor : dim) {
    FactorSizes own;
    for (int64_t size = 1; size < rule.factors[factor].size;
         sizes = sizes.drop_front()) {
      if (sizes.empty())
        return false;
      own.push_back(sizes.front());
      size *= sizes.front();
    }
    if (llvm::product_of(own) != rule.factors[factor].size)
      return false;
    if (own.size() < 2)
      continue;
    FactorKind kind = rule.factors[factor].kind;
    if ((kind != FactorKind::PassThrough && kind != FactorKind::Reduction) ||
        (!factors[factor].empty() && factors[factor] != own))
      return false;
    factors[factor] = own;
  }
  return sizes.empty();
}

/// The same for each dim of a tensor that is split.
bool splitFactors(const FactorRule &rule, const TensorMapping &mapping,
                  const TensorSplit &split,
                  MutableArrayRef<FactorSizes> factors) {
  return llvm::all_of(llvm::zip_equal(split, mapping.dims), [&](auto dim) {
    auto &[sizes, ofDim] = dim;
    return sizes.size() == 1 || splitFactors(rule, ofDim, sizes, factors);
  });
}

/// Of an op whose result is larger than what it is made of (it repeats that),
/// and is wanted split so.
std::optional<DimSplits> readRepeat(Operation *op, const TensorSplit &wanted) {
  std::optional<FactorRule> rule = readRule(op);
  if (!rule || op->getNumResults() != 1)
    return std::nullopt;
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += byteSize(type);
  std::vector<FactorSizes> factors(rule->factors.size());
  if (bytes >= byteSize(op->getResult(0).getType()) ||
      !splitFactors(*rule, rule->results[0], wanted, factors))
    return std::nullopt;
  return readSplits(*rule, op, factors, [](int64_t, int64_t) { return false; });
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// An op is computed on its dims split so.
struct SplitOp {
  Operation *op;
  DimSplits splits;

  auto operands() const { return llvm::zip(op->getOperands(), splits.tensors); }
  auto results() const {
    return llvm::zip_equal(
        op->getResults(),
        ArrayRef(splits.tensors).drop_front(op->getNumOperands()));
  }
};

class DimSplitter {
public:
  explicit DimSplitter(ArrayRef<Merge> seeds)
      : reshape(seeds.front().op->clone()) {
    for (const Merge &seed : seeds)
      this->seeds[seed.op] = &seed;
  }
  DimSplitter(const DimSplitter &) = delete;
  DimSplitter &operator=(const DimSplitter &) = delete;
  ~DimSplitter() { reshape->destroy(); }

  void run(ModuleOp module);

private:
  void plan(Operation *op);
  std::optional<DimSplits> readOp(Operation *op) const;
  double bytesToSplit(Value value, const TensorSplit &wanted) const;
  double bytesAtBoundary(const SplitOp &one) const;
  std::vector<SplitOp> takeThoseThatSave();
  void write(const SplitOp &split);
  void erase(const SplitOp &split);
  Value splitFor(OpBuilder &builder, Value value, const TensorSplit &wanted);
  Value reshapeTo(OpBuilder &builder, Location loc, Value value, Type type);

  /// Of which others are copies.
  Operation *reshape;
  llvm::DenseMap<Operation *, const Merge *> seeds;
  std::vector<SplitOp> split;
  llvm::DenseSet<Operation *> isPlanned;
  llvm::DenseMap<Value, TensorSplit> known;
  /// By number in `split`; those that hang together are one class.
  llvm::DenseMap<Value, int32_t> producers;
  llvm::EquivalenceClasses<int32_t> classes;
  llvm::DenseMap<Value, Value> written;
  /// What was copied for a use with split dims.
  llvm::SetVector<Operation *> repeats;
};

std::optional<DimSplits> DimSplitter::readOp(Operation *op) const {
  std::optional<FactorRule> rule = readRule(op);
  if (!rule)
    return std::nullopt;
  std::vector<FactorSizes> factors(rule->factors.size());
  for (auto [operand, mapping] :
       llvm::zip_equal(op->getOperands(), rule->operands))
    if (auto present = known.find(operand);
        present != known.end() &&
        !splitFactors(*rule, mapping, present->second, factors))
      return std::nullopt;
  const Merge *seed = seeds.lookup(op);
  int64_t numOperands = op->getNumOperands();
  return readSplits(*rule, op, factors, [&](int64_t tensor, int64_t dim) {
    if (tensor >= numOperands)
      return seed && llvm::is_contained(seed->dims, dim);
    auto present = known.find(op->getOperand(tensor));
    return present != known.end() && present->second[dim].size() > 1;
  });
}

void DimSplitter::plan(Operation *op) {
  if (!seeds.contains(op) && llvm::none_of(op->getOperands(), [&](Value value) {
        return known.contains(value);
      }))
    return;
  std::optional<DimSplits> splits = readOp(op);
  if (!splits)
    return;
  int32_t number = split.size();
  split.push_back({op, *std::move(splits)});
  isPlanned.insert(op);
  classes.insert(number);
  for (Value operand : op->getOperands())
    if (auto producer = producers.find(operand); producer != producers.end())
      classes.unionSets(number, producer->second);
  for (auto [result, sizes] : split.back().results())
    if (isSplit(sizes)) {
      known[result] = sizes;
      producers[result] = number;
    }
}

/// Bytes that are to be split so for others. What is repeated is split before
/// that, and what each device makes itself costs nothing.
double DimSplitter::bytesToSplit(Value value, const TensorSplit &wanted) const {
  auto present = known.find(value);
  if (!isSplit(wanted) || (present != known.end() && present->second == wanted))
    return 0;
  Operation *op = value.getDefiningOp();
  if (op && op->getNumOperands() == 0)
    return 0;
  std::optional<DimSplits> splits = readRepeat(op, wanted);
  if (!splits)
    return byteSize(value.getType());
  double bytes = 0;
  for (auto [operand, sizes] : llvm::zip(op->getOperands(), splits->tensors))
    bytes += bytesToSplit(operand, sizes);
  return bytes;
}

/// What `one` reads that is to be split for it, and what it makes that is to be
/// merged for others.
double DimSplitter::bytesAtBoundary(const SplitOp &one) const {
  double bytes = 0;
  if (!seeds.contains(one.op))
    for (auto [operand, sizes] : one.operands())
      bytes += bytesToSplit(operand, sizes);
  for (Value result : one.op->getResults())
    if (known.contains(result) &&
        !llvm::all_of(result.getUsers(), [&](Operation *user) {
          return isPlanned.contains(user);
        }))
      bytes += byteSize(result.getType());
  return bytes;
}

std::vector<SplitOp> DimSplitter::takeThoseThatSave() {
  // By class: the bytes that its seeds merge, less those at its boundary.
  llvm::DenseMap<int32_t, double> saved;
  for (auto [number, one] : llvm::enumerate(split)) {
    double &ofClass = saved[classes.getLeaderValue(number)];
    if (seeds.contains(one.op))
      ofClass += byteSize(one.op->getOperand(0).getType());
    ofClass -= bytesAtBoundary(one);
  }
  std::vector<SplitOp> taken;
  for (auto [number, one] : llvm::enumerate(split))
    if (saved[classes.getLeaderValue(number)] > 0)
      taken.push_back(std::move(one));
  return taken;
}

Value DimSplitter::reshapeTo(OpBuilder &builder, Location loc, Value value,
                             Type type) {
  Operation *copy = cloneWithTypes(reshape, builder, value, type);
  copy->setLoc(loc);
  return copy->getResult(0);
}

/// The value with its dims split so, for use by what `builder` makes.
Value DimSplitter::splitFor(OpBuilder &builder, Value value,
                            const TensorSplit &wanted) {
  Type type = splitType(cast<RankedTensorType>(value.getType()), wanted);
  Value present = written.lookup(value);
  if (!present)
    present = value;
  if (present.getType() == type)
    return present;
  Operation *op = present == value ? value.getDefiningOp() : nullptr;
  std::optional<DimSplits> splits = readRepeat(op, wanted);
  if (!splits)
    return reshapeTo(builder, value.getLoc(), present, type);
  SmallVector<Value> operands;
  for (auto [operand, sizes] : llvm::zip(op->getOperands(), splits->tensors))
    operands.push_back(splitFor(builder, operand, sizes));
  repeats.insert(op);
  return cast<DimSplitOpInterface>(op)
      .splitDims(builder, operands, type, *splits)
      ->getResult(0);
}

void DimSplitter::write(const SplitOp &split) {
  auto op = cast<DimSplitOpInterface>(split.op);
  OpBuilder builder(op);
  SmallVector<Value> operands, results;
  for (auto [operand, sizes] : split.operands())
    operands.push_back(splitFor(builder, operand, sizes));
  SmallVector<Type> types;
  for (auto [result, sizes] : split.results())
    types.push_back(splitType(cast<RankedTensorType>(result.getType()), sizes));
  if (op.isReshape() && operands[0].getType() == types[0])
    results = operands;
  else
    llvm::append_range(
        results,
        op.splitDims(builder, operands, types, split.splits)->getResults());
  for (auto [before, after] : llvm::zip_equal(op->getResults(), results))
    if (before.getType() == after.getType())
      before.replaceAllUsesWith(after);
    else
      written[before] = after;
}

/// What is read by others is merged for them.
void DimSplitter::erase(const SplitOp &split) {
  OpBuilder builder(split.op);
  builder.setInsertionPointAfter(split.op);
  for (Value result : split.op->getResults())
    if (!result.use_empty())
      result.replaceAllUsesWith(reshapeTo(
          builder, split.op->getLoc(), written.at(result), result.getType()));
  split.op->erase();
}

void DimSplitter::run(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { plan(op); });
  std::vector<SplitOp> taken = takeThoseThatSave();
  for (const SplitOp &one : taken)
    write(one);
  for (const SplitOp &one : llvm::reverse(taken))
    erase(one);
  for (Operation *repeat : repeats)
    if (isOpTriviallyDead(repeat))
      repeat->erase();
}

struct SplitMergedDimsPass
    : impl::SplitMergedDimsPassBase<SplitMergedDimsPass> {
  using SplitMergedDimsPassBase::SplitMergedDimsPassBase;

  void runOnOperation() override {
    std::vector<Merge> merges = findMerges(getOperation());
    if (merges.empty())
      return markAllAnalysesPreserved();
    std::vector<Merge> seeds = findSeeds(getOperation(), std::move(merges));
    if (seeds.empty())
      return markAllAnalysesPreserved();
    DimSplitter(seeds).run(getOperation());
  }
};

} // namespace

} // namespace shardonnay
