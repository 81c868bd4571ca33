//===- DeviceModel.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/DeviceModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cmath>

namespace json = llvm::json;

namespace shardonnay {

static DeviceModel makeModel(llvm::StringRef name, Link link, double flops,
                             double memoryBandwidth, int64_t memoryBytes) {
  DeviceModel model;
  model.name = name.str();
  model.link = link;
  model.flopsPerSecond = flops;
  model.memoryBandwidth = memoryBandwidth;
  model.memoryBytes = memoryBytes;
  return model;
}

static const std::vector<DeviceModel> &builtIns() {
  static const std::vector<DeviceModel> models = [] {
    constexpr int64_t kGiB = int64_t{1} << 30;
    std::vector<DeviceModel> list;
    list.push_back(
        makeModel("bytes", {1, MeshCosts::kTieBreakingLatency}, 0, 0, 0));
    list.push_back(makeModel("cpu", {4e9, 2e-6}, 5e10, 2e10, 0));
    list.push_back(
        makeModel("gpu-node", {4.5e11, 2e-6}, 9.9e14, 3.35e12, 80 * kGiB));
    DeviceModel cluster =
        makeModel("gpu-cluster", {4.5e11, 2e-6}, 9.9e14, 3.35e12, 80 * kGiB);
    for (llvm::StringRef axis : {"node", "data"})
      cluster.axisLinks[axis] = {5e10, 8e-6};
    list.push_back(cluster);
    list.push_back(
        makeModel("tpu-torus", {1e11, 1e-6}, 4.59e14, 2.765e12, 95 * kGiB));
    return list;
  }();
  return models;
}

const DeviceModel &DeviceModel::getDefault() { return *find("cpu"); }

const DeviceModel *DeviceModel::find(llvm::StringRef name) {
  auto model = llvm::find_if(
      builtIns(), [&](const DeviceModel &known) { return known.name == name; });
  return model == builtIns().end() ? nullptr : &*model;
}

std::vector<llvm::StringRef> DeviceModel::builtInNames() {
  std::vector<llvm::StringRef> names;
  for (const DeviceModel &model : builtIns())
    names.push_back(model.name);
  return names;
}

std::optional<DeviceModel> DeviceModel::load(llvm::StringRef nameOrPath,
                                             std::string &error) {
  if (const DeviceModel *model = find(nameOrPath))
    return *model;
  auto file = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true);
  if (!file) {
    error = "device model '" + nameOrPath.str() + "': expected one of " +
            llvm::join(builtInNames(), ", ") +
            ", or the path of a JSON file (" + file.getError().message() + ")";
    return std::nullopt;
  }
  std::optional<DeviceModel> model = parse((*file)->getBuffer(), error);
  if (!model)
    error = nameOrPath.str() + ": " + error;
  return model;
}

double DeviceModel::computeTime(double flops, double bytesTouched) const {
  double time = 0;
  if (flopsPerSecond > 0)
    time = flops / flopsPerSecond;
  if (memoryBandwidth > 0)
    time = std::max(time, bytesTouched / memoryBandwidth);
  return time;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// Reads the fields of one object, and knows which were read.
class Fields {
public:
  Fields(const json::Object &object, std::string where, std::string &error)
      : object(object), where(std::move(where)), error(error) {}

  /// A number above `least`, or at least `least` if `orEqual`.
  bool number(llvm::StringRef key, double &value, bool required, double least,
              bool orEqual) {
    known.push_back(key);
    const json::Value *field = object.get(key);
    if (!field)
      return !required || fail("has no \"" + key.str() + "\"");
    std::optional<double> found = field->getAsNumber();
    if (!found || !std::isfinite(*found) || *found < least ||
        (!orEqual && *found == least))
      return fail("\"" + key.str() + "\": expected a number " +
                  (orEqual ? "of at least " : "above ") +
                  std::to_string(static_cast<int64_t>(least)));
    value = *found;
    return true;
  }
  bool link(Link &link) {
    return number("bandwidth", link.bandwidth, true, 0, false) &&
           number("latency", link.latency, true, 0, true);
  }
  bool text(llvm::StringRef key, std::string &value) {
    known.push_back(key);
    std::optional<llvm::StringRef> found = object.getString(key);
    if (!found)
      return fail("has no \"" + key.str() + "\" that is a string");
    value = found->str();
    return true;
  }
  const json::Value *optional(llvm::StringRef key) {
    known.push_back(key);
    return object.get(key);
  }
  /// No field is left that nobody asked for.
  bool done() {
    for (const auto &[key, value] : object)
      if (!llvm::is_contained(known, llvm::StringRef(key)))
        return fail("has an unknown field \"" + llvm::StringRef(key).str() +
                    "\"");
    return true;
  }

private:
  bool fail(const std::string &what) {
    error = where + " " + what;
    return false;
  }

  const json::Object &object;
  std::string where;
  std::string &error;
  std::vector<llvm::StringRef> known;
};

} // namespace

static bool readAxes(const json::Value &field, DeviceModel &model,
                     std::string &error) {
  const json::Object *axes = field.getAsObject();
  if (!axes) {
    error = "device model \"axes\": expected an object with the axes' links";
    return false;
  }
  for (const auto &[name, value] : *axes) {
    std::string where = "axis \"" + llvm::StringRef(name).str() + "\"";
    const json::Object *object = value.getAsObject();
    if (!object) {
      error = where + ": expected an object with bandwidth and latency";
      return false;
    }
    Fields fields(*object, where, error);
    if (!fields.link(model.axisLinks[llvm::StringRef(name)]) || !fields.done())
      return false;
  }
  return true;
}

std::optional<DeviceModel> DeviceModel::parse(llvm::StringRef text,
                                              std::string &error) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    error = "device model: " + llvm::toString(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  if (!object) {
    error = "device model: expected a JSON object";
    return std::nullopt;
  }
  DeviceModel model;
  double memory = 0;
  Fields fields(*object, "device model", error);
  if (!fields.text("name", model.name) || !fields.link(model.link) ||
      !fields.number("flops", model.flopsPerSecond, false, 0, true) ||
      !fields.number("memory_bandwidth", model.memoryBandwidth, false, 0,
                     true) ||
      !fields.number("memory", memory, false, 0, true))
    return std::nullopt;
  if (const json::Value *axes = fields.optional("axes"))
    if (!readAxes(*axes, model, error))
      return std::nullopt;
  if (!fields.done())
    return std::nullopt;
  model.memoryBytes = static_cast<int64_t>(std::min(memory, 9e18));
  return model;
}

//===----------------------------------------------------------------------===//
// MeshCosts
//===----------------------------------------------------------------------===//

MeshCosts::MeshCosts(const DeviceModel &model,
                     llvm::ArrayRef<llvm::StringRef> axisNames)
    : device(&model) {
  for (llvm::StringRef name : axisNames) {
    auto own = model.axisLinks.find(name);
    links.push_back(own == model.axisLinks.end() ? model.link : own->second);
  }
  Link best = links.empty() ? Link{model.link.bandwidth, 0} : links.front();
  for (const Link &link : links) {
    best.bandwidth = std::max(best.bandwidth, link.bandwidth);
    best.latency = std::min(best.latency, link.latency);
    equalLinks &= link == links.front();
  }
  fastest = best.bandwidth;
  leastLatency = best.latency;
}

double MeshCosts::price(const Cost &cost, llvm::ArrayRef<int64_t> axes) const {
  Link slowest = {fastest, 0};
  if (!device)
    slowest.latency = kTieBreakingLatency;
  for (int64_t axis : axes) {
    if (links.empty())
      break;
    slowest.bandwidth = std::min(slowest.bandwidth, links[axis].bandwidth);
    slowest.latency = std::max(slowest.latency, links[axis].latency);
  }
  return cost.bytes * (fastest / slowest.bandwidth) +
         cost.steps * slowest.latency * fastest;
}

double MeshCosts::computePrice(double flops, double bytesTouched) const {
  if (weighsCompute && !pricesCompute())
    return std::max(flops / kFlopsOfByte, bytesTouched);
  double time = device ? device->computeTime(flops, bytesTouched) : 0;
  return time * fastest * (weighsCompute ? kComputeWeight : 1);
}

std::string MeshCosts::str(double price) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (fastest == 1) {
    os << static_cast<int64_t>(price) << " bytes";
    return text;
  }
  static constexpr llvm::StringLiteral kUnits[] = {"us", "ms", "s"};
  llvm::ArrayRef<llvm::StringLiteral> units(kUnits);
  double time = price / fastest * 1e6;
  // What three digits round to 1,000 is of the next unit.
  for (; time >= 999.5 && units.size() > 1; units = units.drop_front())
    time /= 1000;
  os << llvm::format("%.3g ", time) << units.front();
  return text;
}

} // namespace shardonnay
