//===- SymbolicCosts.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/SymbolicCosts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/algebra/LocalShard.h"
#include "shardonnay/algebra/Projection.h"
#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/cost/Liveness.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/plan/PricedShard.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// What a device has of a tensor whose dims `axes` divide, in elements.
AxisFormula localElements(ArrayRef<AxisList> axes, ArrayRef<int64_t> shape,
                          const Mesh &mesh) {
  AxisFormula elements = 1;
  for (auto [dim, size] : llvm::zip_equal(axes, shape))
    elements = elements *
               AxisFormula::ceilDiv(size, AxisFormula::numShards(dim, mesh));
  return elements;
}

/// Writes down what each exchange of a collective sends.
class SymbolicShard : public LocalShard {
public:
  SymbolicShard(ArrayRef<AxisList> dims, ArrayRef<int64_t> shape,
                const Mesh &mesh, int64_t elementBytes)
      : LocalShard(dims, shape), mesh(mesh), elementBytes(elementBytes) {}

  ArrayRef<SymbolicCollective> getCollectives() const { return done; }

protected:
  void onAllGather(int64_t, const AxisList &axes) override {
    add(CollectiveKind::AllGather, axes);
  }
  void onAllSlice(int64_t, const AxisList &, int64_t) override {}
  void onAllToAll(int64_t, int64_t, const AxisList &axes) override {
    add(CollectiveKind::AllToAll, axes);
  }
  void onAllReduce(const AxisList &axes, ReductionKind) override {
    add(CollectiveKind::AllReduce, axes);
  }
  void onReduceScatter(int64_t dim, const AxisList &along, ReductionKind,
                       int64_t) override {
    // The dim has its axes already; what is put in is as it was before.
    SmallVector<AxisList> before(axes());
    before[dim] = before[dim].subtract(along);
    add(CollectiveKind::ReduceScatter, along, before);
  }
  void onPermute(ArrayRef<AxisList> target, bool otherDevices) override {
    add(CollectiveKind::Permute,
        otherDevices ? mesh.allAxes() : axesOfPermute(axes(), target));
  }
  void onShardedToUnreduced(int64_t, const AxisList &) override {}
  void onReplicatedToUnreduced(const AxisList &) override {}
  void onWindow(int64_t, const AxisList &, int64_t) override {}

private:
  void add(CollectiveKind kind, const AxisList &along) {
    add(kind, along, axes());
  }
  void add(CollectiveKind kind, const AxisList &along,
           ArrayRef<AxisList> dims) {
    AxisFormula held =
        AxisFormula(elementBytes) * localElements(dims, globalShape(), mesh);
    done.push_back(
        {kind, along, 1,
         collectiveBytes(kind, AxisFormula::numShards(along, mesh), held)});
  }

  const Mesh &mesh;
  int64_t elementBytes;
  SmallVector<SymbolicCollective> done;
};

class CostReader {
public:
  explicit CostReader(sdy::MeshAttr mesh) : mesh(sdy::toMesh(mesh)) {
    costs.mesh = mesh;
  }

  SymbolicCosts read(ModuleOp module, func::FuncOp func);

private:
  void readCollective(const CollectiveUse &use);
  void add(CollectiveKind kind, const AxisList &axes, int64_t count,
           const AxisFormula &bytes);
  void readContraction(ShardingRuleOpInterface op);
  AxisFormula bytesOf(Value value);
  /// The peak of a block, and its formula. Values of blocks around it are not
  /// counted, nor are those of regions that no op in the block holds.
  std::pair<int64_t, AxisFormula> peakOf(Block &block);
  int64_t number(const AxisFormula &formula) {
    return formula.evaluate(mesh.axisSizes());
  }
  SmallVector<AxisList> axesOf(Value value);

  Mesh mesh;
  SymbolicCosts costs;
};

void CostReader::add(CollectiveKind kind, const AxisList &axes, int64_t count,
                     const AxisFormula &bytes) {
  auto known = llvm::find_if(costs.collectives, [&](const auto &entry) {
    return entry.kind == kind && entry.axes == axes;
  });
  if (known == costs.collectives.end())
    known = costs.collectives.insert(known, {kind, axes, 0, 0});
  known->count += count;
  known->bytes = known->bytes + bytes;
}

SmallVector<AxisList> CostReader::axesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AxisList> axes(type.getRank());
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  if (sharding && sdy::getMesh(value.getParentRegion()->getParentOp(),
                               sharding) == costs.mesh)
    for (auto [dim, stated] :
         llvm::zip_equal(axes, sdy::toSharding(sharding, costs.mesh).dims))
      dim = stated.axes;
  return axes;
}

void CostReader::readCollective(const CollectiveUse &use) {
  int64_t runs = use.trips.count * use.executedCalls;
  auto global = dyn_cast<sdy::CollectiveOpInterface>(use.op);
  if (!global)
    return add(use.collective.kind, use.collective.axes,
               use.collective.count * runs, runs * use.collective.cost.bytes);
  // All exchanges of an op are read with its first.
  Value operand = use.op->getOperand(0);
  auto type = cast<RankedTensorType>(operand.getType());
  SymbolicShard shard(axesOf(operand), type.getShape(), mesh,
                      sdy::getElementBytes(type));
  global.applyTo(shard, use.mesh);
  for (const SymbolicCollective &exchange : shard.getCollectives())
    add(exchange.kind, exchange.axes, runs, AxisFormula(runs) * exchange.bytes);
}

void CostReader::readContraction(ShardingRuleOpInterface op) {
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  if (!rule || !op.isContraction())
    return;
  SmallVector<AxisList> strategy(rule->factors.size());
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(tensor);
    if (!sharding || sdy::getMesh(op, sharding) != costs.mesh)
      continue;
    TensorProjection row = project(sdy::toSharding(sharding, costs.mesh),
                                   rule->tensor(i), rule->factors);
    for (auto [axes, cell] : llvm::zip_equal(strategy, row.factors))
      if (cell.present && axes.empty())
        axes = cell.axes;
  }
  int64_t trips = sdy::getTrips(op).count, whole = 2 * trips;
  AxisFormula local = whole;
  for (auto [factor, axes] : llvm::zip_equal(rule->factors, strategy)) {
    whole = countProduct(whole, factor.size);
    local = local * AxisFormula::ceilDiv(factor.size,
                                         AxisFormula::numShards(axes, mesh));
  }
  costs.flops = costs.flops + local;
  costs.redundantFlops =
      costs.redundantFlops +
      (AxisFormula::numShards(mesh.allAxes(), mesh) * local - whole);
}

AxisFormula CostReader::bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return AxisFormula(sdy::getElementBytes(type)) *
         localElements(axesOf(value), type.getShape(), mesh);
}

std::pair<int64_t, AxisFormula> CostReader::peakOf(Block &block) {
  MemoryBlock memory;
  memory.argumentsStay = isa<func::FuncOp>(block.getParentOp());
  std::vector<AxisFormula> formulas;
  llvm::DenseMap<Value, int32_t> numbers;
  std::vector<AxisFormula> inside;
  auto add = [&](Value value) {
    numbers[value] = formulas.size();
    formulas.push_back(bytesOf(value));
    memory.bytes.push_back(number(formulas.back()));
    return numbers[value];
  };
  for (BlockArgument argument : block.getArguments())
    memory.arguments.push_back(add(argument));
  for (Operation &op : block) {
    MemoryOp &entry = memory.ops.emplace_back();
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (auto known = numbers.find(operand); known != numbers.end())
          entry.uses.push_back(known->second);
    });
    for (Value result : op.getResults())
      entry.makes.push_back(add(result));
    inside.emplace_back();
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        auto [bytes, formula] = peakOf(inner);
        if (bytes > entry.inside) {
          entry.inside = bytes;
          inside.back() = formula;
        }
      }
    entry.hasRegions = op.getNumRegions() > 0;
  }
  MemoryPeak peak = findPeak(memory);
  AxisFormula formula = peak.op < 0 ? AxisFormula() : inside[peak.op];
  for (int32_t buffer : peak.live)
    formula = formula + formulas[buffer];
  return {peak.bytes, formula};
}

SymbolicCosts CostReader::read(ModuleOp module, func::FuncOp func) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (const CollectiveUse &use : readCollectives(module))
    if (use.mesh == costs.mesh && (!isa<sdy::CollectiveOpInterface>(use.op) ||
                                   seen.insert(use.op).second))
      readCollective(use);
  module.walk([&](ShardingRuleOpInterface op) { readContraction(op); });
  costs.peakBytes = peakOf(func.getBody().front()).second;
  return std::move(costs);
}

} // namespace

SymbolicCosts readSymbolicCosts(ModuleOp module) {
  sdy::MeshOp mesh = sdy::getProgramMesh(module);
  for (auto func : module.getOps<func::FuncOp>())
    if (mesh && func.isPublic() && !func.isExternal())
      return CostReader(mesh.getMesh()).read(module, func);
  return {};
}

} // namespace shardonnay
