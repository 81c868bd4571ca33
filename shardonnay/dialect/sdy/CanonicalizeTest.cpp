//===- CanonicalizeTest.cpp - canonical programs compute the same ---------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random chains of collectives run on every position of a mesh, element by
// element, before and after canonicalisation: what each collective does is
// written here from the device -> slice map (algebra/Layout.h) alone.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "shardonnay/algebra/Generators.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::AxisRef;
using shardonnay::Layout;
using shardonnay::Mesh;
using shardonnay::TensorSharding;

namespace {

//===----------------------------------------------------------------------===//
// What devices hold
//===----------------------------------------------------------------------===//

constexpr int64_t kRank = 3;
using Element = std::array<int64_t, kRank>;
/// What each position holds: the elements of its slice.
using Held = std::vector<std::map<Element, int64_t>>;

/// The mesh, a shape that every sharding divides, and what follows from them.
class Machine {
public:
  explicit Machine(MeshAttr attr) : attr(attr), mesh(toMesh(attr)) {}

  Layout layout(TensorShardingAttr sharding) const {
    return Layout::get(toSharding(sharding, attr), shape());
  }
  std::vector<int64_t> shape() const {
    return std::vector<int64_t>(kRank, mesh.numDevices());
  }
  template <typename Action>
  void forEach(const Layout &layout, int64_t position, Action action) const {
    auto slice = layout.slice(mesh, position);
    for (int64_t i = slice[0].start; i < slice[0].limit; ++i)
      for (int64_t j = slice[1].start; j < slice[1].limit; ++j)
        for (int64_t k = slice[2].start; k < slice[2].limit; ++k)
          action(Element{i, j, k});
  }
  /// Every element a number of its own, and of its summand.
  Held initial(TensorShardingAttr sharding) const {
    Layout in = layout(sharding);
    Held held(mesh.numDevices());
    for (int64_t p = 0; p < mesh.numDevices(); ++p)
      forEach(in, p, [&](Element e) {
        int64_t number = (e[0] * 31 + e[1]) * 37 + e[2];
        held[p][e] = number * 41 + mesh.index(in.partial, p) * 1000003;
      });
    return held;
  }
  Held run(Operation *op, const Held &in) const;

private:
  /// The same summand of each element that the result holds, from whoever has
  /// it.
  Held move(const Layout &from, const Layout &to, const Held &in) const;
  /// The sum over the positions along `axes`, where the result holds it.
  Held sum(const AxisList &axes, const Layout &to, const Held &in) const;
  AxisList flat(ListOfAxisRefListsAttr lists) const {
    AxisList all;
    for (AxisRefListAttr list : lists.getValue())
      all.append(toAxisList(list.getValue(), attr));
    return all;
  }

  MeshAttr attr;
  Mesh mesh;
};

Held Machine::move(const Layout &from, const Layout &to, const Held &in) const {
  Held out(in.size());
  for (int64_t p = 0; p < mesh.numDevices(); ++p)
    forEach(to, p, [&](Element e) {
      for (int64_t q = 0; q < mesh.numDevices(); ++q)
        if (mesh.index(from.partial, q) == mesh.index(from.partial, p) &&
            in[q].count(e))
          out[p][e] = in[q].at(e);
    });
  return out;
}

Held Machine::sum(const AxisList &axes, const Layout &to,
                  const Held &in) const {
  Held out(in.size());
  for (const auto &group : mesh.groups(axes))
    for (int64_t p : group)
      forEach(to, p, [&](Element e) {
        for (int64_t q : group)
          out[p][e] += in[q].at(e);
      });
  return out;
}

Held Machine::run(Operation *op, const Held &in) const {
  Layout from = layout(getSharding(op->getOperand(0)));
  Layout to = layout(getSharding(op->getResult(0)));
  return TypeSwitch<Operation *, Held>(op)
      .Case([&](AllReduceOp op) {
        return sum(toAxisList(op.getReductionAxes().getValue(), attr), to, in);
      })
      .Case([&](ReduceScatterOp op) {
        return sum(flat(op.getReduceScatterAxes()), to, in);
      })
      .Case([&](ReplicatedToUnreducedOp op) {
        AxisList axes = toAxisList(op.getAxes().getValue(), attr);
        Held out = in;
        for (int64_t p = 0; p < mesh.numDevices(); ++p)
          for (auto &[element, value] : out[p])
            value *= mesh.index(axes, p) == 0;
        return out;
      })
      .Case([&](ShardedToUnreducedOp) {
        Held out = in;
        for (int64_t p = 0; p < mesh.numDevices(); ++p)
          forEach(to, p, [&](Element e) { out[p].try_emplace(e, 0); });
        return out;
      })
      .Default([&](Operation *) { return move(from, to, in); });
}

//===----------------------------------------------------------------------===//
// Random chains
//===----------------------------------------------------------------------===//

/// Grows a chain of collectives on one value. All axes are of one splitting.
class Chain {
public:
  Chain(OpBuilder &builder, MeshAttr mesh, std::vector<AxisRef> parts)
      : builder(builder), mesh(mesh), parts(std::move(parts)) {}

  Value value;
  void step();

private:
  TensorSharding current() { return toSharding(getSharding(value), mesh); }
  TensorShardingAttr attr(const TensorSharding &sharding) {
    return NamedMesh{mesh, SymbolRefAttr::get(builder.getContext(), "m")}.write(
        sharding);
  }
  ListOfAxisRefListsAttr attr(ArrayRef<AxisList> lists) {
    return ListOfAxisRefListsAttr::get(
        builder.getContext(),
        llvm::map_to_vector(lists,
                            [&](const AxisList &list) { return attr(list); }));
  }
  AxisRefListAttr attr(const AxisList &list) {
    return AxisRefListAttr::get(builder.getContext(), fromAxisList(list, mesh));
  }
  /// Some of the parts that the value does not use.
  std::vector<AxisRef> unused() {
    std::vector<AxisRef> result;
    TensorSharding sharding = current();
    for (AxisRef part : parts)
      if (!sharding.uses(part) && shardonnay::gen::below(2))
        result.push_back(part);
    return result;
  }
  /// A major part of each dim goes away; what goes is returned.
  SmallVector<AxisList> shorten(TensorSharding &sharding) {
    SmallVector<AxisList> lists;
    for (shardonnay::DimSharding &dim : sharding.dims) {
      AxisList prefix;
      for (AxisRef axis : dim.axes) {
        if (shardonnay::gen::below(2))
          break;
        prefix.append(axis);
      }
      lists.push_back(dim.axes.dropPrefix(prefix));
      dim.axes = prefix;
    }
    return lists;
  }
  SmallVector<AxisList> lengthen(TensorSharding &sharding,
                                 ArrayRef<AxisRef> axes) {
    SmallVector<AxisList> lists(sharding.dims.size());
    for (AxisRef axis : axes)
      lists[shardonnay::gen::below(lists.size())].append(axis);
    for (auto [dim, list] : llvm::zip_equal(sharding.dims, lists))
      dim.axes.append(list);
    return lists;
  }
  template <typename OpT, typename AxesT>
  void append(AxesT axes, const TensorSharding &out) {
    value = OpT::create(builder, builder.getUnknownLoc(), value.getType(),
                        value, axes, attr(out));
  }
  template <typename OpT, typename AxesT>
  void appendReduction(AxesT axes, const TensorSharding &out) {
    value = OpT::create(builder, builder.getUnknownLoc(), value.getType(),
                        value, axes, attr(out), ReductionKindAttr());
  }
  void moveAxes(TensorSharding sharding);
  void reduce(TensorSharding sharding, bool scatter);

  OpBuilder &builder;
  MeshAttr mesh;
  std::vector<AxisRef> parts;
};

void Chain::moveAxes(TensorSharding sharding) {
  int64_t source = shardonnay::gen::below(kRank);
  int64_t target = (source + 1 + shardonnay::gen::below(kRank - 1)) % kRank;
  AxisList all = sharding.dims[source].axes;
  if (all.empty())
    return;
  AxisList prefix(all.refs().drop_back());
  AxisList moved = all.dropPrefix(prefix);
  sharding.dims[source].axes = prefix;
  sharding.dims[target].axes.append(moved);
  append<AllToAllOp>(
      AllToAllParamListAttr::get(
          builder.getContext(),
          AllToAllParamAttr::get(builder.getContext(),
                                 fromAxisList(moved, mesh), source, target)),
      sharding);
}

void Chain::reduce(TensorSharding sharding, bool scatter) {
  std::vector<AxisRef> axes = unused();
  llvm::append_range(axes, sharding.unreduced);
  AxisList all = AxisList(axes).sorted();
  sharding.unreduced = sharding.unreduced.subtract(all);
  if (!scatter)
    return appendReduction<AllReduceOp>(attr(all), sharding);
  SmallVector<AxisList> lists = lengthen(sharding, all.refs());
  appendReduction<ReduceScatterOp>(attr(lists), sharding);
}

void Chain::step() {
  TensorSharding sharding = current();
  SmallVector<AxisList> lists;
  switch (shardonnay::gen::below(8)) {
  case 0:
    lists = shorten(sharding);
    append<AllGatherOp>(attr(lists), sharding);
    if (shardonnay::gen::below(2)) { // and back
      for (auto [dim, list] : llvm::zip_equal(sharding.dims, lists))
        dim.axes.append(list);
      append<AllSliceOp>(attr(lists), sharding);
    }
    return;
  case 1:
    lists = lengthen(sharding, unused());
    return append<AllSliceOp>(attr(lists), sharding);
  case 2:
    return moveAxes(sharding);
  case 3:
    value = CollectivePermuteOp::create(builder, builder.getUnknownLoc(),
                                        value.getType(), value, attr(sharding));
    return;
  case 4:
    return reduce(sharding, /*scatter=*/false);
  case 5:
    return reduce(sharding, /*scatter=*/true);
  case 6: {
    AxisList axes = AxisList(unused()).sorted();
    if (axes.empty())
      return;
    sharding.unreduced.append(axes);
    sharding.unreduced = sharding.unreduced.sorted();
    append<ReplicatedToUnreducedOp>(attr(axes), sharding);
    sharding.unreduced = sharding.unreduced.subtract(axes);
    if (shardonnay::gen::below(2))
      appendReduction<AllReduceOp>(attr(axes), sharding);
    return;
  }
  default:
    for (const AxisList &list : lists = shorten(sharding))
      sharding.unreduced.append(list);
    sharding.unreduced = sharding.unreduced.sorted();
    return append<ShardedToUnreducedOp>(attr(lists), sharding);
  }
}

//===----------------------------------------------------------------------===//
// The property
//===----------------------------------------------------------------------===//

class CanonicalizeTest : public ::testing::Test {
protected:
  CanonicalizeTest() { context.loadDialect<SdyDialect, func::FuncDialect>(); }

  MeshAttr randomMesh() {
    static const std::vector<std::vector<int64_t>> kMeshes = {
        {2, 2}, {4, 2}, {2, 2, 2}, {6}, {8}};
    auto sizes = *rc::gen::elementOf(kMeshes);
    SmallVector<MeshAxisAttr> axes;
    for (auto [index, size] : llvm::enumerate(sizes))
      axes.push_back(MeshAxisAttr::get(
          &context, std::string(1, static_cast<char>('a' + index)), size));
    return MeshAttr::get(&context, axes, {});
  }

  /// A module with the mesh @m and a function of one random chain.
  OwningOpRef<ModuleOp> randomProgram(MeshAttr mesh) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
    builder.setInsertionPointToStart(module->getBody());
    MeshOp::create(builder, loc, "m", mesh);
    Mesh devices = toMesh(mesh);
    auto type =
        RankedTensorType::get(SmallVector<int64_t>(kRank, devices.numDevices()),
                              builder.getI64Type());
    auto func = func::FuncOp::create(builder, loc, "f",
                                     builder.getFunctionType(type, type));
    builder.setInsertionPointToStart(func.addEntryBlock());
    std::vector<AxisRef> parts = shardonnay::gen::splitting(devices);
    Layout start =
        shardonnay::gen::unpadded(parts, kRank, /*allowPartial=*/true);
    setSharding(func.getArgument(0),
                NamedMesh{mesh, SymbolRefAttr::get(&context, "m")}.write(
                    start.toSharding()));
    Chain chain(builder, mesh, parts);
    chain.value = func.getArgument(0);
    for (int64_t i = 0, n = 1 + shardonnay::gen::below(6); i < n; ++i)
      chain.step();
    func::ReturnOp::create(builder, loc, chain.value);
    return module;
  }

  /// What every position returns.
  static Held run(ModuleOp module, MeshAttr mesh) {
    Machine machine(mesh);
    auto func = *module.getOps<func::FuncOp>().begin();
    llvm::DenseMap<Value, Held> values;
    values[func.getArgument(0)] =
        machine.initial(getSharding(func.getArgument(0)));
    for (Operation &op : func.getBody().front().without_terminator()) {
      Held held = machine.run(&op, values.at(op.getOperand(0)));
      values[op.getResult(0)] = std::move(held);
    }
    return values.at(func.getBody().front().getTerminator()->getOperand(0));
  }

  static int64_t countOps(ModuleOp module) {
    int64_t count = 0;
    module.walk([&](Operation *) { ++count; });
    return count;
  }

  MLIRContext context;
};

TEST_F(CanonicalizeTest, EveryDeviceHoldsTheSame) {
  int64_t shrunk = 0;
  EXPECT_TRUE(rc::check("chains of collectives", [&] {
    MeshAttr mesh = randomMesh();
    OwningOpRef<ModuleOp> module = randomProgram(mesh);
    RC_ASSERT(succeeded(verify(*module)));
    Held before = run(*module, mesh);
    int64_t size = countOps(*module);
    PassManager pm(&context);
    pm.addPass(createCanonicalizerPass());
    RC_ASSERT(succeeded(pm.run(*module)));
    RC_ASSERT(succeeded(verify(*module)));
    RC_ASSERT(run(*module, mesh) == before);
    shrunk += countOps(*module) < size;
  }));
  EXPECT_GT(shrunk, 10) << "hardly anything was canonicalised";
}

} // namespace
