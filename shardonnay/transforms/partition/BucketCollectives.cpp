//===- BucketCollectives.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is read from its first op to its last. A collective waits in the
// bucket of its group, kind and element type, until an op needs the result of
// one in there. Then all that wait become one collective, and with them those
// that stand further down but could be here as well. Ops that only rearrange
// move with what they rearrange: up before a collective, down behind one.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/plan/LocalCollective.h"
#include "shardonnay/support/NearbyInfo.h"
#include "shardonnay/transforms/partition/LiveBytes.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// So many collectives behind the one that is needed are looked at before one
/// that could be moved up to it is given up for: time stays linear.
constexpr int64_t kMisses = 32;
/// So far does a collective move up.
constexpr int64_t kReach = 4096;

/// A collective that may be done together with others of its key.
struct Member {
  Operation *op = nullptr;
  CollectiveKind kind = CollectiveKind::AllReduce;
  FlatSymbolRefAttr mesh;
  sdy::AxisRefListAttr axes;
  ReductionKind reduction = ReductionKind::Sum;
  /// The dim of the operand, and that of the result, that has a shard for each
  /// device, or of each.
  std::optional<int64_t> scatterDim, gatherDim;
  /// Where it stands.
  int64_t position = 0;

  Value operand() const { return op->getOperand(0); }
  Value result() const { return op->getResult(0); }
  int64_t operandBytes() const { return byteSize(operand().getType()); }
  int64_t resultBytes() const { return byteSize(result().getType()); }
  /// What packing and unpacking touch: each copy is read and written.
  int64_t copiedBytes() const { return 2 * (operandBytes() + resultBytes()); }
};

template <typename SpmdOp> Member readGroup(SpmdOp op, CollectiveKind kind) {
  Member member;
  member.op = op;
  member.kind = kind;
  member.mesh = op.getMeshAttr();
  member.axes = op.getAxesAttr();
  return member;
}

/// A window of the same dim is fetched by the same gather, which is there once
/// if it stays as it is.
bool servesWindow(spmd::AllGatherOp gather) {
  return llvm::any_of(gather.getTensor().getUsers(), [&](Operation *user) {
    auto window = dyn_cast<spmd::FetchWindowOp>(user);
    if (!window || window->getBlock() != gather->getBlock() ||
        window.getDim() != gather.getDim() ||
        window.shardingAxes() != gather.getAxes().getValue())
      return false;
    sdy::MeshAttr mesh = sdy::getMeshOp(gather, gather.getMeshAttr()).getMesh();
    std::optional<LocalCollective> fetch =
        windowCollective(spmd::getWindowProblem(window, mesh), 1);
    return fetch && fetch->kind == CollectiveKind::AllGather;
  });
}

/// Reads a collective on tensors that have elements.
std::optional<Member> readMember(Operation *op) {
  std::optional<Member> member =
      llvm::TypeSwitch<Operation *, std::optional<Member>>(op)
          .Case([](spmd::AllReduceOp op) {
            Member member = readGroup(op, CollectiveKind::AllReduce);
            member.reduction = op.getKind();
            return member;
          })
          .Case([](spmd::AllGatherOp op) -> std::optional<Member> {
            if (servesWindow(op))
              return std::nullopt;
            Member member = readGroup(op, CollectiveKind::AllGather);
            member.gatherDim = op.getDim();
            return member;
          })
          .Case([](spmd::ReduceScatterOp op) {
            Member member = readGroup(op, CollectiveKind::ReduceScatter);
            member.reduction = op.getKind();
            member.scatterDim = op.getDim();
            return member;
          })
          .Case([](spmd::AllToAllOp op) {
            Member member = readGroup(op, CollectiveKind::AllToAll);
            member.scatterDim = op.getSplitDim();
            member.gatherDim = op.getConcatDim();
            return member;
          })
          .Default([](Operation *) { return std::nullopt; });
  if (member &&
      cast<RankedTensorType>(member->operand().getType()).getNumElements() == 0)
    return std::nullopt;
  return member;
}

using Key = std::pair<std::pair<Attribute, Attribute>,
                      std::pair<std::pair<int64_t, int64_t>, Type>>;

/// What is only moved goes with all numbers of as many bits.
Type getPackedElement(const Member &member) {
  Type element = getElementTypeOrSelf(member.result().getType());
  bool onlyMoves = member.kind == CollectiveKind::AllGather ||
                   member.kind == CollectiveKind::AllToAll;
  if (!onlyMoves || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8)
    return element;
  return IntegerType::get(element.getContext(),
                          element.getIntOrFloatBitWidth());
}

Key getKey(const Member &member) {
  return {{member.mesh, member.axes},
          {{static_cast<int64_t>(member.kind),
            static_cast<int64_t>(member.reduction)},
           getPackedElement(member)}};
}

/// Takes no more memory elsewhere, and nothing sees that it moves.
bool mayMove(Operation *op) {
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && isPure(op) &&
         !isa<spmd::SpmdDialect>(op->getDialect()) &&
         byteSize(op->getResult(0).getType()) <=
             byteSize(op->getOperand(0).getType());
}

/// The collectives of one key.
struct Bucket {
  Bucket(const Member &first, const DeviceModel &model);

  /// The price of one that each device puts so many bytes in, and the same
  /// without its latency.
  std::pair<double, double> priceOf(int64_t operandBytes) const;
  /// Whether copying takes less time than what is saved.
  bool pays(const Member &member) const;
  bool pays(ArrayRef<Member> members) const;

  CollectiveKind kind;
  MeshCosts costs;
  int64_t groupSize;
  SmallVector<int64_t> axes;
  /// In order; those from `next` on have not been passed yet.
  std::vector<Member> all;
  size_t next = 0;
  SmallVector<Member> waiting;
  /// What is made of those that wait, in order, and is not needed either.
  SmallVector<Operation *> behind;
};

Bucket::Bucket(const Member &first, const DeviceModel &model)
    : kind(first.kind) {
  sdy::MeshAttr mesh = sdy::getMeshOp(first.op, first.mesh).getMesh();
  costs = toMeshCosts(model, mesh);
  AxisList list = toAxisList(first.axes.getValue(), mesh);
  groupSize = list.numShards();
  axes = llvm::map_to_vector(
      list, [](AxisRef axis) { return static_cast<int64_t>(axis.axis); });
}

std::pair<double, double> Bucket::priceOf(int64_t operandBytes) const {
  Cost cost = collectiveCost(kind, groupSize, operandBytes);
  return {costs.price(cost, axes),
          costs.price({cost.bytes, /*steps=*/0}, axes)};
}

bool Bucket::pays(const Member &member) const {
  auto [price, withoutLatency] = priceOf(member.operandBytes());
  double copying = costs.computePrice(/*flops=*/0, member.copiedBytes());
  return copying > 0 && copying < price - withoutLatency;
}

bool Bucket::pays(ArrayRef<Member> members) const {
  int64_t bytes = 0, copied = 0;
  double apart = 0;
  for (const Member &member : members) {
    bytes += member.operandBytes();
    copied += member.copiedBytes();
    apart += priceOf(member.operandBytes()).first;
  }
  return members.size() > 1 &&
         priceOf(bytes).first + costs.computePrice(/*flops=*/0, copied) < apart;
}

/// One block.
class Bucketer {
public:
  /// `ops` are those of the block; `outside` bytes are alive around it.
  Bucketer(Block &block, ProgramOps ops, const DeviceModel &model,
           int64_t memoryLimit, int64_t outside);

  /// Whether it has changed anything.
  bool run();
  /// What is alive while this op of the block runs, if there is a limit.
  int64_t aliveAt(Operation *op) const {
    return live ? live->at(positions.lookup(op)) : 0;
  }

private:
  using Members = SmallVector<Member>;

  bool putOff(Operation *op);
  void closeNeeded(Operation *op, int64_t here);
  /// The op at position `here` needs one that waits.
  void close(Bucket &bucket, int64_t here);
  void addFromBelow(Bucket &bucket, int64_t here, Members &members,
                    int64_t &packed);
  bool isReady(Value value, int64_t here) const;
  void moveUp(Value value, int64_t here);
  bool makeRoom(const Member &member, int64_t here, int64_t &packed);
  void replace(ArrayRef<Member> members, int64_t groupSize, Operation *place,
               int64_t here);

  Block &block;
  int64_t memoryLimit;
  std::optional<LiveBytes> live;
  ProgramOps ops;
  /// Before the op at this position there is what the op makes.
  DenseMap<Operation *, int64_t, NearbyInfo<Operation *>> positions;
  /// Done together with others, and erased in the end.
  llvm::SetVector<Operation *> done;
  llvm::MapVector<Key, Bucket> buckets;
  /// The bucket of each collective, and of each op that waits with it.
  DenseMap<Operation *, Bucket *> bucketOf;
  /// What is not there yet.
  DenseSet<Operation *> waiting;
};

Bucketer::Bucketer(Block &block, ProgramOps opsOfBlock,
                   const DeviceModel &model, int64_t memoryLimit,
                   int64_t outside)
    : block(block), memoryLimit(memoryLimit), ops(std::move(opsOfBlock)) {
  for (auto [position, op] : llvm::enumerate(ops)) {
    std::optional<Member> member = readMember(op);
    if (!member)
      continue;
    member->position = static_cast<int64_t>(position);
    Bucket &bucket =
        buckets.try_emplace(getKey(*member), *member, model).first->second;
    if (bucket.pays(*member))
      bucket.all.push_back(*member);
  }
  for (auto &[key, bucket] : buckets)
    if (bucket.all.size() > 1)
      for (const Member &member : bucket.all)
        bucketOf[member.op] = &bucket;
  if (bucketOf.empty() && memoryLimit == 0)
    return;
  positions.reserve(ops.size());
  for (auto [position, op] : llvm::enumerate(ops))
    positions[op] = position;
  if (memoryLimit > 0)
    live.emplace(block, outside);
}

bool Bucketer::run() {
  if (bucketOf.empty())
    return false;
  for (auto [here, op] : llvm::enumerate(ops)) {
    if (done.contains(op) || putOff(op))
      continue;
    closeNeeded(op, here);
    Bucket *bucket = bucketOf.lookup(op);
    if (!bucket || done.contains(op))
      continue;
    while (bucket->all[bucket->next].op != op)
      ++bucket->next;
    bucket->waiting.push_back(bucket->all[bucket->next++]);
    waiting.insert(op);
  }
  for (Operation *op : done)
    op->erase();
  return !done.empty();
}

/// What may move waits with what it is made of.
bool Bucketer::putOff(Operation *op) {
  if (waiting.empty() || op->getNumOperands() != 1)
    return false;
  Operation *source = op->getOperand(0).getDefiningOp();
  if (!source || !waiting.contains(source) || !mayMove(op))
    return false;
  Bucket *bucket = bucketOf.lookup(source);
  bucket->behind.push_back(op);
  bucketOf[op] = bucket;
  waiting.insert(op);
  return true;
}

void Bucketer::closeNeeded(Operation *op, int64_t here) {
  auto closeIfWaiting = [&](Value value) {
    if (Operation *source = value.getDefiningOp();
        source && waiting.contains(source))
      close(*bucketOf.lookup(source), here);
  };
  if (waiting.empty())
    return;
  llvm::for_each(op->getOperands(), closeIfWaiting);
  if (op->getNumRegions() == 0)
    return;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  llvm::for_each(used, closeIfWaiting);
}

void Bucketer::close(Bucket &bucket, int64_t here) {
  Members members;
  int64_t packed = 0;
  for (const Member &member : bucket.waiting)
    if (makeRoom(member, here, packed))
      members.push_back(member);
  size_t waited = members.size();
  addFromBelow(bucket, here, members, packed);
  bool isTogether = bucket.pays(members);
  if (isTogether)
    replace(members, bucket.groupSize,
            members.size() > waited ? ops[here] : members.back().op, here);
  for (const Member &member : bucket.waiting)
    waiting.erase(member.op);
  for (Operation *op : bucket.behind) {
    if (isTogether)
      op->moveBefore(ops[here]);
    waiting.erase(op);
    positions[op] = here - 1;
  }
  bucket.waiting.clear();
  bucket.behind.clear();
}

/// Those whose operands are there, or come there by ops that may move as well.
void Bucketer::addFromBelow(Bucket &bucket, int64_t here, Members &members,
                            int64_t &packed) {
  int64_t misses = 0;
  for (const Member &member : ArrayRef(bucket.all).drop_front(bucket.next)) {
    if (member.position > here + kReach || misses == kMisses)
      return;
    if (done.contains(member.op))
      continue;
    if (isReady(member.operand(), here) && makeRoom(member, here, packed))
      members.push_back(member);
    else
      ++misses;
  }
}

bool Bucketer::isReady(Value value, int64_t here) const {
  Operation *source = value.getDefiningOp();
  if (!source || source->getBlock() != &block)
    return true;
  if (waiting.contains(source))
    return false;
  return positions.lookup(source) < here ||
         (mayMove(source) && isReady(source->getOperand(0), here));
}

void Bucketer::moveUp(Value value, int64_t here) {
  Operation *source = value.getDefiningOp();
  if (!source || source->getBlock() != &block ||
      positions.lookup(source) < here)
    return;
  moveUp(source->getOperand(0), here);
  source->moveBefore(ops[here]);
  positions[source] = here - 1;
}

/// Whether memory suffices for `member` at position `here`, in one tensor with
/// `packed` bytes of others.
bool Bucketer::makeRoom(const Member &member, int64_t here, int64_t &packed) {
  if (!live)
    return true;
  // Copies of what is sent, and of what comes back.
  int64_t copies = member.operandBytes() + member.resultBytes();
  int64_t from = std::min(here, member.position);
  int64_t to = std::max(here, member.position);
  // A result that is there earlier, or an operand that is there longer.
  int64_t more =
      member.position > here
          ? member.resultBytes()
          : std::max<int64_t>(0, member.operandBytes() - member.resultBytes());
  if (live->most(from, to) + more > memoryLimit ||
      live->at(here) + more + packed + copies > memoryLimit)
    return false;
  live->add(from, to, more);
  packed += copies;
  return true;
}

/// Why `members` are there.
std::string explain(ArrayRef<Member> members) {
  CollectiveKind kind = members.front().kind;
  StringRef what = kind == CollectiveKind::AllGather   ? "gathers"
                   : kind == CollectiveKind::AllReduce ? "sums up"
                   : kind == CollectiveKind::AllToAll  ? "exchanges shards of"
                                                       : "sums up and scatters";
  std::string text =
      (what + " " + Twine(members.size()) + " tensors at once").str();
  if (auto cause =
          members.front().op->getAttrOfType<StringAttr>(sdy::kCauseAttr))
    text += ("; the first one " + cause.getValue()).str();
  return text;
}

/// One dim for the elements of `values`, of their type if it is the same.
RankedTensorType getPackedType(ArrayRef<Member> members, ValueRange values) {
  int64_t elements = 0;
  for (Value value : values)
    elements += cast<RankedTensorType>(value.getType()).getNumElements();
  Type element = getElementTypeOrSelf(values.front().getType());
  bool isOne = llvm::all_of(values, [&](Value value) {
    return getElementTypeOrSelf(value.getType()) == element;
  });
  return RankedTensorType::get(
      {elements}, isOne ? element : getPackedElement(members.front()));
}

/// What `first` does, of `packed`.
Operation *buildTogether(OpBuilder &builder, Location loc, const Member &first,
                         Value packed, Type result) {
  IntegerAttr dim = builder.getI64IntegerAttr(0);
  auto kind =
      sdy::ReductionKindAttr::get(builder.getContext(), first.reduction);
  switch (first.kind) {
  case CollectiveKind::AllGather:
    return spmd::AllGatherOp::create(builder, loc, result, packed, dim,
                                     first.mesh, first.axes);
  case CollectiveKind::ReduceScatter:
    return spmd::ReduceScatterOp::create(builder, loc, result, packed, dim,
                                         first.mesh, first.axes, kind);
  case CollectiveKind::AllToAll:
    return spmd::AllToAllOp::create(builder, loc, result, packed, dim, dim,
                                    first.mesh, first.axes);
  default:
    return spmd::AllReduceOp::create(builder, loc, result, packed, first.mesh,
                                     first.axes, kind);
  }
}

/// One collective of what they have in common, before `place`.
void Bucketer::replace(ArrayRef<Member> members, int64_t groupSize,
                       Operation *place, int64_t here) {
  const Member &first = members.front();
  for (const Member &member : members)
    moveUp(member.operand(), here);
  OpBuilder builder(place);
  SmallVector<Value> operands, results;
  SmallVector<Location> places;
  // Shards stand one after the other where there is one for each device, or of
  // each.
  SmallVector<int64_t> scatterDims, gatherDims;
  for (const Member &member : members) {
    operands.push_back(member.operand());
    results.push_back(member.result());
    places.push_back(member.op->getLoc());
    scatterDims.push_back(member.scatterDim.value_or(0));
    gatherDims.push_back(member.gatherDim.value_or(0));
  }
  Location loc = builder.getFusedLoc(places);
  RankedTensorType sent = getPackedType(members, operands);
  RankedTensorType received = getPackedType(members, results);
  IntegerAttr pieces = builder.getI64IntegerAttr(groupSize);
  auto pack = spmd::PackOp::create(
      builder, loc, sent, operands, first.scatterDim ? pieces : nullptr,
      first.scatterDim ? builder.getDenseI64ArrayAttr(scatterDims) : nullptr);
  Operation *together = buildTogether(builder, loc, first, pack, received);
  together->setAttr(sdy::kCauseAttr, builder.getStringAttr(explain(members)));
  auto unpack = spmd::UnpackOp::create(
      builder, loc, TypeRange(results), together->getResult(0),
      first.gatherDim ? pieces : nullptr,
      first.gatherDim ? builder.getDenseI64ArrayAttr(gatherDims) : nullptr);
  for (auto [member, result] : llvm::zip_equal(members, unpack.getResults())) {
    member.result().replaceAllUsesWith(result);
    done.insert(member.op);
  }
  for (Operation *op : {pack.getOperation(), together, unpack.getOperation()})
    positions[op] = here - 1;
}

/// The blocks of a function in which something communicates, and the blocks
/// around them.
class BlockTree {
public:
  struct Node {
    ProgramOps ops;
    SmallVector<Block *> inner;
  };

  BlockTree(func::FuncOp func, const ProgramOps &ops) : func(func) {
    for (Operation *op : ops)
      if (isa_and_present<spmd::SpmdDialect>(op->getDialect()))
        enter(op->getBlock());
    if (nodes.empty())
      return;
    for (Operation *op : ops)
      if (auto found = nodes.find(op->getBlock()); found != nodes.end())
        found->second.ops.append(op);
  }

  ArrayRef<Block *> outermost() const { return roots; }
  Node &at(Block &block) { return nodes.find(&block)->second; }

private:
  void enter(Block *block) {
    if (!nodes.try_emplace(block).second)
      return;
    Operation *parent = block->getParentOp();
    if (parent == func)
      return roots.push_back(block);
    enter(parent->getBlock());
    nodes.find(parent->getBlock())->second.inner.push_back(block);
  }

  func::FuncOp func;
  llvm::DenseMap<Block *, Node> nodes;
  SmallVector<Block *> roots;
};

struct BucketCollectivesPass
    : PricedPass<impl::BucketCollectivesPassBase<BucketCollectivesPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    const auto &ops = getAnalysis<ProgramOps>();
    BlockTree tree(getOperation(), ops);
    bool changed = false;
    for (Block *block : tree.outermost())
      changed |= run(*block, tree, /*outside=*/0);
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  bool run(Block &block, BlockTree &tree, int64_t outside) {
    int64_t limit = memoryLimit > 0 ? memoryLimit : model->memoryBytes;
    BlockTree::Node &node = tree.at(block);
    Bucketer bucketer(block, std::move(node.ops), *model, limit, outside);
    bool changed = bucketer.run();
    for (Block *inner : node.inner)
      changed |= run(*inner, tree, bucketer.aliveAt(inner->getParentOp()));
    return changed;
  }
};

} // namespace

} // namespace shardonnay
