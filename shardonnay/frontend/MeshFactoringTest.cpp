//===- MeshFactoringTest.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/MeshFactoring.h"
#include "shardonnay/frontend/Generators.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

HloSharding parse(llvm::StringRef text) {
  HloShardingError error;
  return *parseHloSharding(text, error);
}

/// The meshes of these shardings, and what each of them is on its mesh.
std::string factored(int64_t numDevices,
                     std::initializer_list<llvm::StringRef> texts) {
  MeshFactoring factoring(numDevices);
  for (llvm::StringRef text : texts)
    EXPECT_TRUE(factoring.add(parse(text))) << text.str();
  factoring.finish();
  std::string result;
  llvm::raw_string_ostream os(result);
  for (const Mesh &mesh : factoring.meshes())
    os << mesh << "\n";
  for (llvm::StringRef text : texts) {
    HloSharding sharding = parse(text);
    FactoredSharding found = factoring.get(sharding, sharding.rank());
    os << found.mesh << ":";
    for (const DimSharding &dim : found.sharding.dims)
      os << " " << dim.axes;
    if (!found.manual.empty())
      os << " manual " << found.manual;
    if (!found.sharding.unreduced.empty())
      os << " unreduced " << found.sharding.unreduced;
    os << "\n";
  }
  return result;
}

TEST(MeshFactoring, oneMeshForAll) {
  EXPECT_EQ(
      factored(8, {"{devices=[4,2]<=[8]}", "{devices=[1,2,4]<=[4,2]T(1,0) "
                                           "last_tile_dim_replicate}"}),
      "<4x2>\n0: [0:(1)4] [1:(1)2]\n0: [] [1:(1)2]\n");
  EXPECT_EQ(factored(8, {"{devices=[4,2]<=[8]}",
                         "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}),
            "<2x2x2>\n0: [0:(1)2, 1:(1)2] [2:(1)2]\n0: [0:(1)2] []\n");
  // Halves and thirds have no common refinement.
  EXPECT_EQ(factored(6, {"{devices=[2,3]<=[6] last_tile_dim_replicate}",
                         "{devices=[3,2]<=[6] last_tile_dim_replicate}"}),
            "<6>\n0: [0:(1)2]\n0: [0:(1)3]\n");
}

TEST(MeshFactoring, subgroups) {
  EXPECT_EQ(factored(8, {"{devices=[1,2,2,2]<=[8] "
                         "last_tile_dims={manual, replicated}}",
                         "{devices=[2,4]<=[2,4] last_tile_dims={unreduced}}"}),
            "<2x2x2>\n0: [] [0:(1)2] manual [1:(1)2]\n"
            "0: [0:(1)2] unreduced [1:(1)2, 2:(1)2]\n");
}

TEST(MeshFactoring, listedDevicesInAnIotasOrder) {
  EXPECT_EQ(factored(8, {"{devices=[2,4]0,2,4,6,1,3,5,7}"}),
            "<4x2>\n0: [1:(1)2] [0:(1)4]\n");
  // The order of copies does not matter.
  EXPECT_EQ(factored(8, {"{devices=[2,4]6,0,4,2,1,7,5,3 "
                         "last_tile_dim_replicate}"}),
            "<4x2>\n0: [1:(1)2]\n");
}

TEST(MeshFactoring, otherOrdersHaveDeviceIds) {
  EXPECT_EQ(
      factored(4, {"{devices=[2,2]0,1,3,2}", "{devices=[4]0,1,3,2}",
                   "{devices=[2,2]<=[4]}"}),
      "<2x2>\n<2x2> device_ids=[0, 1, 3, 2]\n"
      "1: [0:(1)2] [1:(1)2]\n1: [0:(1)2, 1:(1)2]\n0: [0:(1)2] [1:(1)2]\n");
  // An iota that its tiles split in the middle.
  EXPECT_EQ(factored(6, {"{devices=[2,3]<=[2,3]T(1,0)}"}),
            "<6>\n<2x3> device_ids=[0, 3, 1, 4, 2, 5]\n"
            "1: [0:(1)2] [1:(1)3]\n");
}

TEST(MeshFactoring, otherDevicesAreRefused) {
  MeshFactoring factoring(2);
  EXPECT_FALSE(factoring.add(parse("{devices=[2]4,5}")));
  EXPECT_FALSE(factoring.add(parse("{devices=[4]<=[4]}")));
}

TEST(MeshToHlo, asOthersSpellThem) {
  Mesh mesh({4, 2});
  auto spelled = [&](AxisList rows, AxisList columns, AxisList manual = {},
                     AxisList unreduced = {}) {
    TensorSharding sharding = TensorSharding::fullyClosed(2);
    sharding.dims[0].axes = rows;
    sharding.dims[1].axes = columns;
    sharding.unreduced = unreduced;
    return toHloSharding(mesh, sharding, manual).str();
  };
  AxisRef x = mesh.fullAxis(0), y = mesh.fullAxis(1);
  EXPECT_EQ(spelled({}, {}), "{replicated}");
  EXPECT_EQ(spelled({x}, {y}), "{devices=[4,2]<=[8]}");
  EXPECT_EQ(spelled({x}, {}), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(spelled({}, {y}),
            "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(spelled({y, x}, {}), "{devices=[8,1]<=[4,2]T(1,0)}");
  EXPECT_EQ(spelled({{0, 2, 2}}, {}),
            "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}");
  EXPECT_EQ(spelled({}, {y}, {x}),
            "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={manual}}");
  EXPECT_EQ(spelled({}, {}, {}, {x}),
            "{devices=[1,1,4,2]<=[8] last_tile_dims={unreduced, replicated}}");
  EXPECT_EQ(spelled({}, {}, {x, y}), "{manual}");
  EXPECT_EQ(spelled({}, {}, {}, {x, y}), "{unreduced}");
}

/// The sizes of the last tile dims of this kind, multiplied.
int64_t subgroupSize(const HloSharding &tiled, Subgroup wanted) {
  int64_t size = 1;
  for (auto [index, kind] : llvm::enumerate(tiled.subgroups))
    if (kind == wanted)
      size *= tiled.tiles[tiled.rank() + index];
  return size;
}

/// Every device holds the same under both, and has the same others in its
/// manual and unreduced subgroups.
void checkSame(const HloSharding &hlo, const Mesh &mesh,
               const FactoredSharding &factored,
               llvm::ArrayRef<int64_t> shape) {
  Layout layout = Layout::get(factored.sharding, shape);
  for (int64_t place = 0; place < mesh.numDevices(); ++place)
    RC_ASSERT(layout.sliceOf(mesh, place, shape) ==
              *hlo.slice(shape, mesh.deviceAt(place)));
  auto check = [&](Subgroup kind, const AxisList &axes) {
    RC_ASSERT(axes.numShards() == subgroupSize(hlo, kind));
    // The members of a device's group: those that differ in these dims only.
    std::set<std::vector<int64_t>> theirs, ours;
    std::map<std::vector<int64_t>, std::vector<int64_t>> groups;
    for (int64_t place = 0; place < hlo.devices.size(); ++place) {
      std::vector<int64_t> key;
      int64_t rest = place;
      for (size_t dim = hlo.tiles.size(); dim-- > 0; rest /= hlo.tiles[dim]) {
        int64_t subgroup = static_cast<int64_t>(dim) - hlo.rank();
        if (subgroup < 0 || hlo.subgroups[subgroup] != kind)
          key.push_back(rest % hlo.tiles[dim]);
      }
      groups[key].push_back(hlo.devices.deviceAt(place));
    }
    for (auto &[key, members] : groups) {
      llvm::sort(members);
      theirs.insert(members);
    }
    for (llvm::ArrayRef<int64_t> places : mesh.groups(axes)) {
      std::vector<int64_t> members;
      for (int64_t place : places)
        members.push_back(mesh.deviceAt(place));
      llvm::sort(members);
      ours.insert(members);
    }
    RC_ASSERT(theirs == ours);
  };
  check(Subgroup::Manual, factored.manual);
  check(Subgroup::Unreduced, factored.sharding.unreduced);
}

RC_GTEST_PROP(MeshFactoring, keepsTheMapAndComesBack, ()) {
  int64_t numDevices =
      *rc::gen::elementOf(std::vector<int64_t>{1, 2, 6, 8, 12, 16, 24});
  MeshFactoring factoring(numDevices);
  std::vector<HloSharding> shardings;
  for (int64_t count = 1 + gen::below(5); count > 0; --count) {
    shardings.push_back(gen::tiledSharding(numDevices, 1 + gen::below(3)));
    RC_ASSERT(factoring.add(shardings.back()));
  }
  factoring.finish();
  for (const HloSharding &sharding : shardings) {
    llvm::SmallVector<int64_t> shape;
    for (int64_t dim = 0; dim < sharding.rank(); ++dim)
      shape.push_back(1 + gen::below(30));
    FactoredSharding found = factoring.get(sharding, sharding.rank());
    const Mesh &mesh = factoring.meshes()[found.mesh];
    std::string text;
    llvm::raw_string_ostream(text)
        << sharding << " is " << found.sharding << " on " << mesh;
    RC_LOG(text);
    RC_ASSERT(mesh.numDevices() == numDevices);
    checkSame(sharding, mesh, found, shape);
    HloSharding again = toHloSharding(mesh, found.sharding, found.manual);
    if (again.kind == HloSharding::Kind::Tiled)
      checkSame(again, mesh, found, shape);
    else
      RC_ASSERT(subgroupSize(sharding, Subgroup::Replicated) == numDevices ||
                subgroupSize(sharding, Subgroup::Manual) == numDevices ||
                subgroupSize(sharding, Subgroup::Unreduced) == numDevices);
  }
}

} // namespace
