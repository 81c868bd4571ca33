//===- DeviceModelTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/DeviceModel.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

TEST(DeviceModel, builtIns) {
  for (llvm::StringRef name : DeviceModel::builtInNames())
    EXPECT_EQ(DeviceModel::find(name)->name, name);
  EXPECT_EQ(DeviceModel::find("abacus"), nullptr);
  EXPECT_EQ(DeviceModel::getDefault().name, "cpu");
}

std::string errorOf(llvm::StringRef text) {
  std::string error;
  return DeviceModel::parse(text, error) ? "" : error;
}

TEST(DeviceModel, parses) {
  std::string error;
  std::optional<DeviceModel> model = DeviceModel::parse(
      R"({"name": "mine", "bandwidth": 1e11, "latency": 1e-6, "flops": 2,
          "memory": 64, "memory_bandwidth": 8,
          "axes": {"data": {"bandwidth": 2.5e10, "latency": 5e-6}}})",
      error);
  ASSERT_TRUE(model) << error;
  EXPECT_EQ(model->name, "mine");
  EXPECT_EQ(model->link, (Link{1e11, 1e-6}));
  EXPECT_EQ(model->axisLinks.lookup("data"), (Link{2.5e10, 5e-6}));
  EXPECT_EQ(model->memoryBytes, 64);
  EXPECT_EQ(model->computeTime(6, 8), 3);
  EXPECT_EQ(model->computeTime(6, 80), 10);
}

TEST(DeviceModel, refusesWhatItCannotRead) {
  EXPECT_NE(errorOf("{"), "");
  EXPECT_EQ(errorOf("[]"), "device model: expected a JSON object");
  EXPECT_EQ(errorOf("{}"), "device model has no \"name\" that is a string");
  EXPECT_EQ(errorOf(R"({"name": "a", "latency": 0})"),
            "device model has no \"bandwidth\"");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 0, "latency": 0})"),
            "device model \"bandwidth\": expected a number above 0");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1, "latency": -1})"),
            "device model \"latency\": expected a number of at least 0");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1, "latency": 0, "x": 1})"),
            "device model has an unknown field \"x\"");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1e400, "latency": 0})"),
            "device model \"bandwidth\": expected a number above 0");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1, "latency": 0,
                        "axes": ["d"]})"),
            "device model \"axes\": expected an object with the axes' links");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1, "latency": 0,
                        "axes": {"d": 1}})"),
            "axis \"d\": expected an object with bandwidth and latency");
  EXPECT_EQ(errorOf(R"({"name": "a", "bandwidth": 1, "latency": 0,
                        "axes": {"d": {"bandwidth": 1}}})"),
            "axis \"d\" has no \"latency\"");
}

TEST(DeviceModel, loadsByNameOrSaysWhatThereIs) {
  std::string error;
  EXPECT_EQ(DeviceModel::load("tpu-torus", error)->name, "tpu-torus");
  EXPECT_FALSE(DeviceModel::load("/no/such/file", error));
  EXPECT_EQ(error, "device model '/no/such/file': expected one of bytes, cpu, "
                   "gpu-node, gpu-cluster, tpu-torus, or the path of a JSON "
                   "file (No such file or directory)");
}

TEST(MeshCosts, theSlowestAxisRules) {
  DeviceModel model;
  model.link = {100, 1};
  model.axisLinks["slow"] = {50, 3};
  model.flopsPerSecond = 10;
  MeshCosts costs(model, {"fast", "slow"});
  EXPECT_EQ(costs.price({100, 2}, {0}), 100 + 2 * 1 * 100);
  EXPECT_EQ(costs.price({100, 2}, {1}), 200 + 2 * 3 * 100);
  EXPECT_EQ(costs.price({100, 2}, {0, 1}), costs.price({100, 2}, {1}));
  EXPECT_EQ(costs.computePrice(20, 0), 200);
}

TEST(MeshCosts, bytesAloneWithoutAModel) {
  MeshCosts none, bytes(*DeviceModel::find("bytes"), {"x"});
  EXPECT_EQ(none.price({7, 1024}, {0}), 8);
  EXPECT_EQ(bytes.price({7, 1024}, {0}), 8);
  EXPECT_EQ(none.str(7.9), "7 bytes");
  MeshCosts cpu(*DeviceModel::find("cpu"), {"x"});
  EXPECT_EQ(cpu.str(cpu.price({4000, 1}, {0})), "3 us");
  EXPECT_EQ(cpu.str(cpu.price({4'000'000, 1}, {0})), "1 ms");
  EXPECT_EQ(cpu.str(cpu.price({80'000'000'000, 1}, {0})), "20 s");
  EXPECT_EQ(none.computePrice(1e9, 1e9), 0);
  EXPECT_EQ(bytes.computePrice(1e9, 1e9), 0);
}

} // namespace
