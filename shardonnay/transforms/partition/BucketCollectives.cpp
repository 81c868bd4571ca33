//===- BucketCollectives.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is read from its first op to its last. An all_reduce goes into the
// open bucket of its kind; an op that needs a result of one closes that bucket:
// its members become one all_reduce, where the last of them stands.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/explain/Report.h"
#include "shardonnay/transforms/partition/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "shardonnay/transforms/partition/Passes.h.inc"

namespace {

/// Copied into the packed tensor and out of it again, read and written.
constexpr double kCopies = 4;

class Bucketer {
public:
  explicit Bucketer(const DeviceModel &model) : model(model) {}

  void run(Block &block);

private:
  /// Mesh, axes, kind and element type.
  using Key =
      std::pair<std::pair<Attribute, Attribute>, std::pair<int64_t, Type>>;
  using Members = SmallVector<spmd::AllReduceOp>;

  /// The price of an all_reduce, and of it without its latency.
  std::pair<double, double> priceOf(spmd::AllReduceOp op,
                                    const MeshCosts &costs, int64_t bytes);
  void closeIfNeeded(Operation *op);
  void close(Members members);

  const DeviceModel &model;
  llvm::MapVector<Key, Members> open;
};

void Bucketer::run(Block &block) {
  open.clear();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    closeIfNeeded(&op);
    auto reduce = dyn_cast<spmd::AllReduceOp>(op);
    if (reduce && reduce.getType().getNumElements() > 0)
      open[{{reduce.getMeshAttr(), reduce.getAxesAttr()},
            {static_cast<int64_t>(reduce.getKind()),
             reduce.getType().getElementType()}}]
          .push_back(reduce);
  }
  for (auto &[key, members] : open)
    close(members);
  open.clear();
}

void Bucketer::closeIfNeeded(Operation *op) {
  if (open.empty())
    return;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  open.remove_if([&](auto &entry) {
    bool isNeeded = llvm::any_of(entry.second, [&](spmd::AllReduceOp member) {
      return used.contains(member.getResult());
    });
    if (isNeeded)
      close(entry.second);
    return isNeeded;
  });
}

std::pair<double, double>
Bucketer::priceOf(spmd::AllReduceOp op, const MeshCosts &costs, int64_t bytes) {
  sdy::MeshAttr mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  AxisList axes = toAxisList(op.getAxes().getValue(), mesh);
  SmallVector<int64_t> numbers = llvm::map_to_vector(
      axes, [](AxisRef axis) { return static_cast<int64_t>(axis.axis); });
  Cost cost =
      collectiveCost(CollectiveKind::AllReduce, axes.numShards(), bytes);
  return {costs.price(cost, numbers),
          costs.price({cost.bytes, /*steps=*/0}, numbers)};
}

void Bucketer::close(Members members) {
  sdy::MeshAttr mesh =
      sdy::getMeshOp(members.front(), members.front().getMeshAttr()).getMesh();
  MeshCosts costs = toMeshCosts(model, mesh);
  if (costs.computePrice(/*flops=*/0, /*bytesTouched=*/1) == 0)
    return;
  Members small;
  int64_t bytes = 0;
  double before = 0;
  for (spmd::AllReduceOp member : members) {
    int64_t size = byteSize(member.getType());
    auto [price, withoutLatency] = priceOf(member, costs, size);
    if (costs.computePrice(0, kCopies * size) >= price - withoutLatency)
      continue;
    small.push_back(member);
    bytes += size;
    before += price;
  }
  if (small.size() < 2 || priceOf(small.front(), costs, bytes).first +
                                  costs.computePrice(0, kCopies * bytes) >=
                              before)
    return;

  spmd::AllReduceOp last = small.back();
  OpBuilder builder(last);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> places;
  int64_t elements = 0;
  for (spmd::AllReduceOp member : small) {
    operands.push_back(member.getTensor());
    types.push_back(member.getType());
    places.push_back(member.getLoc());
    elements += member.getType().getNumElements();
  }
  Location loc = builder.getFusedLoc(places);
  Value packed = spmd::PackOp::create(
      builder, loc,
      RankedTensorType::get({elements}, last.getType().getElementType()),
      operands);
  auto sum = spmd::AllReduceOp::create(builder, loc, packed.getType(), packed,
                                       last.getMeshAttr(), last.getAxesAttr(),
                                       last.getKindAttr());
  if (Attribute cause = small.front()->getAttr(sdy::kCauseAttr))
    sum->setAttr(sdy::kCauseAttr,
                 builder.getStringAttr("sums up " + Twine(small.size()) +
                                       " tensors at once; the first one " +
                                       cast<StringAttr>(cause).getValue()));
  auto unpacked = spmd::UnpackOp::create(builder, loc, types, sum.getResult());
  for (auto [member, result] : llvm::zip_equal(small, unpacked.getResults())) {
    member.replaceAllUsesWith(result);
    member.erase();
  }
}

struct BucketCollectivesPass
    : impl::BucketCollectivesPassBase<BucketCollectivesPass> {
  using BucketCollectivesPassBase::BucketCollectivesPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    return loadDeviceModel(deviceModel, context, model);
  }
  void runOnOperation() override {
    Bucketer bucketer(*model);
    getOperation().walk([&](Block *block) { bucketer.run(*block); });
  }

  std::shared_ptr<const DeviceModel> model;
};

} // namespace

} // namespace shardonnay
