//===- CollectiveUses.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/CollectiveUses.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/algebra/Projection.h"
#include "shardonnay/analysis/CallCounts.h"

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/UserCollective.h"
#include "shardonnay/plan/DirectWindow.h"
#include "shardonnay/plan/PricedShard.h"
#include "shardonnay/plan/WindowMessages.h"
#include "shardonnay/support/CompositeKey.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// The axes that devices differ along which send each other data.
AxisList axesOf(spmd::CollectivePermuteOp op, sdy::MeshAttr mesh) {
  // Between orders of the devices anyone may send to anyone.
  if (op.getSourceMeshAttr())
    return toMesh(mesh).allAxes();
  auto read = [&](sdy::ListOfAxisRefListsAttr lists) {
    return llvm::map_to_vector(lists.getValue(),
                               [&](sdy::AxisRefListAttr list) {
                                 return toAxisList(list.getValue(), mesh);
                               });
  };
  return axesOfPermute(read(op.getSource()), read(op.getTarget()));
}
template <typename SpmdOp> AxisList axesOf(SpmdOp op, sdy::MeshAttr mesh) {
  return toAxisList(op.getAxes().getValue(), mesh);
}

template <typename SpmdOp>
CollectiveUse readLocal(SpmdOp op, CollectiveKind kind,
                        llvm::StringRef reduction = "") {
  CollectiveUse use;
  use.op = op;
  use.reduction = reduction;
  use.mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  use.collective.kind = kind;
  use.collective.axes = axesOf(op, use.mesh);
  use.collective.cost = collectiveCost(kind, use.collective.axes.numShards(),
                                       byteSize(op->getOperand(0).getType()));
  return use;
}

using WindowCounter = std::optional<LocalCollective>(const WindowProblem &,
                                                     int64_t sliceBytes);

/// What a window is fetched by, as `counter` counts it.
SmallVector<CollectiveUse, 1>
readWindow(spmd::FetchWindowOp op,
           llvm::function_ref<WindowCounter> counter = windowCollective) {
  if (op.shardingAxes().empty())
    return {};
  CollectiveUse use;
  use.op = op;
  use.mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  WindowProblem problem = spmd::getWindowProblem(op, use.mesh);
  int64_t bytes = byteSize(op->getOperand(0).getType());
  std::optional<LocalCollective> window =
      counter(problem, problem.localSize == 0 ? 0 : bytes / problem.localSize);
  if (!window)
    return {};
  use.collective = *window;
  return {use};
}

SmallVector<CollectiveUse, 1> readSpmd(Operation *op) {
  using Uses = SmallVector<CollectiveUse, 1>;
  return llvm::TypeSwitch<Operation *, Uses>(op)
      .Case([](spmd::AllGatherOp op) {
        return Uses{readLocal(op, CollectiveKind::AllGather)};
      })
      .Case([](spmd::CollectivePermuteOp op) {
        return Uses{readLocal(op, CollectiveKind::Permute)};
      })
      .Case([](spmd::AllToAllOp op) {
        return Uses{readLocal(op, CollectiveKind::AllToAll)};
      })
      .Case([](spmd::AllReduceOp op) {
        return Uses{
            readLocal(op, CollectiveKind::AllReduce, toString(op.getKind()))};
      })
      .Case([](spmd::ReduceScatterOp op) {
        return Uses{readLocal(op, CollectiveKind::ReduceScatter,
                              toString(op.getKind()))};
      })
      .Case([](spmd::FetchWindowOp op) { return readWindow(op); })
      .Default([](Operation *) { return Uses(); });
}

/// What was sent of a value's dim: the program of one device has it once.
using Fetched = CompositeMap<WindowMessages>;

/// What tells windows of one op from those of another: the block, the op's
/// name, and what it fills with.
CompositeKey keyOf(Operation *op) {
  CompositeKey key = makeKey(op->getBlock(), op->getName());
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getRank() == 0;
  };
  for (Value operand : op->getOperands())
    if (isScalar(operand.getType()))
      key.add(operand);
  return key;
}

/// The program of one device has none left.
bool hasShardings(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto isSharded = [](Value value) { return sdy::getSharding(value); };
        auto function = dyn_cast<func::FuncOp>(op);
        bool found = llvm::any_of(op->getResults(), isSharded) ||
                     (function && !function.isDeclaration() &&
                      llvm::any_of(function.getArguments(), isSharded));
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The first of a tensor of the op. What has an effect once has it on the
/// devices of the program's, however it is sharded.
sdy::MeshAttr findMesh(LocalComputeOpInterface op) {
  for (ValueRange tensors :
       {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value tensor : tensors)
      if (sdy::TensorShardingAttr sharding = sdy::getSharding(tensor))
        return sdy::getMesh(op, sharding);
  auto module = op->getParentOfType<ModuleOp>();
  sdy::MeshOp program =
      op.hasEffectOnce() ? sdy::getProgramMesh(module) : nullptr;
  return program && hasShardings(module) ? program.getMesh() : nullptr;
}

/// What the op's rule says it fetches and adds up.
SmallVector<CollectiveUse, 1> readRuled(Operation *op, Fetched &fetched) {
  auto local = dyn_cast<LocalComputeOpInterface>(op);
  sdy::MeshAttr mesh = local ? findMesh(local) : nullptr;
  std::optional<FactorRule> rule = mesh && !mesh.getAxes().empty()
                                       ? sdy::getComputationRule(op)
                                       : std::nullopt;
  if (!rule || !rule->communicates())
    return {};
  SmallVector<AxisList> axes(rule->factors.size());
  SmallVector<ArrayRef<int64_t>> shapes;
  SmallVector<int64_t> elementBytes;
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    shapes.push_back(type ? type.getShape() : ArrayRef<int64_t>());
    elementBytes.push_back(type ? byteSize(type.clone(ArrayRef<int64_t>{}))
                                : 0);
    sdy::TensorShardingAttr sharding = sdy::getSharding(tensor);
    if (!sharding)
      continue;
    TensorProjection row = project(sdy::toSharding(sharding, mesh),
                                   rule->tensor(i), rule->factors);
    for (auto [list, cell] : llvm::zip_equal(axes, row.factors))
      if (cell.present)
        list = cell.axes;
  }
  // By tensor, what windows were fetched of before the next.
  SmallVector<std::optional<CompositeKey>, 0> sources(tensors.size());
  auto pricer = [&](const FactorWindow &window, const WindowProblem &problem,
                    int64_t sliceBytes) -> std::optional<LocalCollective> {
    if (isTakenFromWhole(op, *rule, window.tensor))
      return std::nullopt;
    Value tensor = tensors[window.tensor];
    int64_t dim = rule->tensor(window.tensor).dimOf(window.factor);
    // Nothing is done to the value before it is sent.
    bool isAsItIs =
        window.kind != WindowKind::Retiled && problem.globalSize == window.size;
    std::optional<CompositeKey> &source = sources[window.tensor];
    CompositeKey key = source     ? *source
                       : isAsItIs ? makeKey(op->getBlock())
                                  : keyOf(op);
    if (!source)
      source = keyOf(op);
    source->add(tensor, dim, problem.globalSize, problem.start, problem.step,
                problem.size);
    key.add(tensor, dim);
    return fetched.find(key).first.add(problem, sliceBytes);
  };
  SmallVector<CollectiveUse, 1> uses;
  for (const LocalCollective &collective :
       fetchCollectives(sdy::toMesh(mesh), *rule, axes, shapes, elementBytes,
                        sdy::getDeviceAxes(op, mesh), pricer)) {
    bool isSum = collective.kind == CollectiveKind::AllReduce;
    uses.push_back({collective, isSum ? "sum" : "", "", op, mesh, {}});
  }
  return uses;
}

using AxesPerDim = SmallVector<AxisList, 4>;

AxesPerDim axesPerDim(const TensorSharding &sharding) {
  return llvm::map_to_vector<4>(
      sharding.dims, [](const DimSharding &dim) { return dim.axes; });
}

llvm::StringRef reductionOf(Operation *op) {
  if (auto reduce = dyn_cast<sdy::AllReduceOp>(op))
    return toString(reduce.getKind());
  if (auto scatter = dyn_cast<sdy::ReduceScatterOp>(op))
    return toString(scatter.getKind());
  return "";
}

/// The dim that is gathered first, if any.
std::optional<int64_t> firstGathered(sdy::AllGatherOp op) {
  for (auto [dim, axes] : llvm::enumerate(op.getGatheringAxes().getValue()))
    if (!axes.getValue().empty())
      return dim;
  return std::nullopt;
}

SmallVector<CollectiveUse, 1> readGlobal(sdy::CollectiveOpInterface op,
                                         Fetched &fetched) {
  sdy::TensorShardingAttr source = sdy::getSharding(op->getOperand(0));
  sdy::MeshAttr mesh = source ? sdy::getMesh(op, source) : nullptr;
  if (!mesh || mesh.getAxes().empty())
    return {};
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<CollectiveUse, 1> uses;
  for (const LocalCollective &collective :
       simulateCollective(op, mesh, sdy::toSharding(source, mesh),
                          byteSize(type.clone(ArrayRef<int64_t>{}))))
    uses.push_back({collective, reductionOf(op), "", op, mesh, {}});
  auto gather = dyn_cast<sdy::AllGatherOp>(*op);
  std::optional<int64_t> dim = gather ? firstGathered(gather) : std::nullopt;
  if (!dim || uses.empty() ||
      uses.front().collective.kind != CollectiveKind::AllGather)
    return uses;
  WindowMessages &messages =
      fetched.find(makeKey(op->getBlock(), gather.getTensor(), *dim)).first;
  if (!messages.addGather(uses.front().collective.axes))
    uses.erase(uses.begin());
  return uses;
}

/// What a device holds of it, dims that are sharded rounded up.
int64_t localBytes(Value tensor, sdy::MeshAttr mesh) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  sdy::TensorShardingAttr sharding = sdy::getSharding(tensor);
  if (!type || !type.hasStaticShape() || !sharding)
    return byteSize(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] :
       llvm::zip_equal(shape, sdy::toSharding(sharding, mesh).dims))
    size = llvm::divideCeil(size, dim.axes.numShards());
  return byteSize(type.clone(shape));
}

/// What the user wrote, on what devices hold of the operands.
SmallVector<CollectiveUse, 1> readWritten(UserCollectiveOpInterface op) {
  std::optional<UserCollective> written = op.getUserCollective();
  sdy::MeshOp program = sdy::getProgramMesh(op->getParentOfType<ModuleOp>());
  if (!written || !program || program.getMesh().getAxes().empty())
    return {};
  CollectiveUse use;
  use.op = op;
  use.reduction = written->reduction;
  use.written = written->name;
  use.mesh = program.getMesh();
  use.collective.kind = written->kind;
  use.collective.axes = sdy::getAxes(*written, use.mesh);
  int64_t size = use.collective.axes.numShards();
  if (!written->groups.empty()) {
    size = 0;
    for (ArrayRef<int64_t> group : written->groups)
      size = std::max<int64_t>(size, group.size());
  }
  int64_t bytes = 0;
  for (Value sent : written->sent)
    bytes += localBytes(sent, use.mesh);
  if (use.collective.axes.empty())
    return {};
  use.collective.cost = collectiveCost(written->kind, size, bytes);
  return {use};
}

} // namespace

SmallVector<LocalCollective> simulateCollective(sdy::CollectiveOpInterface op,
                                                sdy::MeshAttr mesh,
                                                const TensorSharding &source,
                                                int64_t elementBytes) {
  Mesh algebra = sdy::toMesh(mesh);
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  PricedShard shard(algebra, axesPerDim(source), type.getShape(), elementBytes);
  op.applyTo(shard, mesh);
  return SmallVector<LocalCollective>(shard.collectives());
}

bool isMove(Operation *op) {
  return isa<spmd::AllGatherOp, spmd::AllToAllOp, spmd::CollectivePermuteOp>(
      op);
}

std::vector<CollectiveUse> readCollectives(ModuleOp module) {
  std::vector<CollectiveUse> all;
  Fetched fetched;
  CallCounts calls(module);
  module.walk([&](Operation *op) {
    auto global = dyn_cast<sdy::CollectiveOpInterface>(op);
    SmallVector<CollectiveUse, 1> uses =
        global ? readGlobal(global, fetched) : readSpmd(op);
    if (auto written = dyn_cast<UserCollectiveOpInterface>(op);
        written && uses.empty())
      uses = readWritten(written);
    if (uses.empty())
      uses = readRuled(op, fetched);
    if (uses.empty())
      return;
    sdy::Trips trips = sdy::getTrips(op);
    for (CollectiveUse &use : uses) {
      use.trips = trips;
      use.calls = calls.of(op);
      use.executedCalls = calls.executed(op);
      all.push_back(use);
    }
  });
  return all;
}

/// Slices alone make `dim` of the value, in one step, of what each device has
/// whole; or it is not sharded.
static bool isSliceOfWhole(Value value, int64_t dim) {
  auto axesOf = [&](Value tensor) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(tensor);
    return sharding ? sharding.getDimShardings()[dim].getAxes()
                    : ArrayRef<sdy::AxisRefAttr>();
  };
  ArrayRef<sdy::AxisRefAttr> axes = axesOf(value), before = axes;
  while (before == axes) {
    auto slice = value.getDefiningOp<sdy::AllSliceOp>();
    if (!slice)
      break;
    value = slice.getOperand();
    before = axesOf(value);
  }
  return before.empty();
}

bool isTakenFromWhole(Operation *op, const FactorRule &rule, int32_t tensor) {
  if (static_cast<size_t>(tensor) >= op->getNumOperands())
    return false;
  Value operand = op->getOperand(tensor);
  return llvm::all_of(rule.windows, [&](const FactorWindow &window) {
    return window.tensor != tensor ||
           (window.kind != WindowKind::Retiled && !window.periodic &&
            window.baseDilation == 1 &&
            isSliceOfWhole(operand, rule.tensor(tensor).dimOf(window.factor)));
  });
}

void countDirectWindows(std::vector<CollectiveUse> &uses) {
  llvm::erase_if(uses, [](CollectiveUse &use) {
    auto window = dyn_cast<spmd::FetchWindowOp>(use.op);
    if (!window)
      return false;
    SmallVector<CollectiveUse, 1> direct = readWindow(window, directWindow);
    if (!direct.empty())
      use.collective = direct.front().collective;
    return direct.empty();
  });
}

void countSharedWindows(std::vector<CollectiveUse> &uses) {
  Fetched known;
  auto messagesOf = [&](auto op) -> WindowMessages & {
    return known.find(makeKey(op->getBlock(), op.getTensor(), op.getDim()))
        .first;
  };
  llvm::erase_if(uses, [&](CollectiveUse &use) {
    if (auto gather = dyn_cast<spmd::AllGatherOp>(use.op))
      return !messagesOf(gather).addGather(use.collective.axes);
    auto window = dyn_cast<spmd::FetchWindowOp>(use.op);
    if (!window)
      return false;
    auto add = [&](const WindowProblem &problem, int64_t sliceBytes) {
      return messagesOf(window).add(problem, sliceBytes);
    };
    SmallVector<CollectiveUse, 1> rest = readWindow(window, add);
    if (!rest.empty())
      use.collective = rest.front().collective;
    return rest.empty();
  });
}

int64_t directWindowBytes(ArrayRef<CollectiveUse> uses) {
  std::vector<int64_t> sent = {0};
  for (const CollectiveUse &use : uses) {
    auto window = dyn_cast<spmd::FetchWindowOp>(use.op);
    if (!window)
      continue;
    int64_t runs = countProduct(use.trips.count, use.executedCalls);
    auto add = [&](const WindowProblem &problem, int64_t sliceBytes) {
      std::vector<int64_t> positions = positionsSent(problem);
      sent.resize(std::max(sent.size(), positions.size()));
      for (auto [total, mine] : llvm::zip(sent, positions))
        total = countSum(total, countProduct(mine * runs, sliceBytes));
      return std::optional<LocalCollective>();
    };
    readWindow(window, add);
  }
  return *llvm::max_element(sent);
}

static std::vector<CollectiveUse> filter(ArrayRef<CollectiveUse> uses,
                                         bool written) {
  std::vector<CollectiveUse> found;
  llvm::copy_if(uses, std::back_inserter(found), [&](const auto &use) {
    return use.written.empty() != written;
  });
  return found;
}

std::vector<CollectiveUse> onlyWritten(ArrayRef<CollectiveUse> uses) {
  return filter(uses, /*written=*/true);
}

std::vector<CollectiveUse> onlyPlanned(ArrayRef<CollectiveUse> uses) {
  return filter(uses, /*written=*/false);
}

CommunicationCost costOf(ArrayRef<CollectiveUse> uses,
                         const DeviceModel &model) {
  CommunicationCost sum;
  llvm::DenseMap<Attribute, MeshCosts> costs;
  for (const CollectiveUse &use : uses) {
    auto [entry, isNew] = costs.try_emplace(use.mesh);
    if (isNew)
      entry->second = toMeshCosts(model, use.mesh);
    int64_t bytes = use.collective.cost.bytes;
    int64_t runs = countProduct(use.trips.count, use.executedCalls);
    sum.bytes = countSum(sum.bytes, countProduct(bytes, use.calls));
    sum.executedBytes = countSum(sum.executedBytes, countProduct(bytes, runs));
    sum.unknownTrips += use.trips.known ? 0 : use.calls;
    sum.price +=
        use.collective.price(entry->second) * static_cast<double>(runs);
  }
  return sum;
}

} // namespace shardonnay
