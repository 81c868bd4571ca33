//===- Manifest.cpp - what each device feeds and holds --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Manifest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/DebugStringHelper.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include <map>

using namespace mlir;
namespace json = llvm::json;

namespace shardonnay {

namespace {

/// The function that the outside calls: the first public one with a body.
func::FuncOp getEntry(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      return func;
  return nullptr;
}

class ManifestReader {
public:
  explicit ManifestReader(func::FuncOp entry) : entry(entry) {
    auto module = entry->getParentOfType<ModuleOp>();
    if (sdy::MeshOp op = sdy::getProgramMesh(module)) {
      meshAttr = op.getMesh();
      mesh = toMesh(meshAttr);
    }
  }

  Manifest read(BoundaryMode boundary) {
    Manifest manifest;
    manifest.numDevices = mesh.numDevices();
    manifest.mesh = meshAttr ? debugString(meshAttr) : "";
    manifest.boundary = boundary;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      manifest.inputs.push_back(readInput(i));
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      manifest.outputs.push_back(readOutput(i));
    return manifest;
  }

private:
  BoundaryTensor readInput(unsigned i);
  BoundaryTensor readOutput(unsigned i);
  BoundaryTensor readTensor(std::string name, Type type,
                            sdy::TensorShardingAttr sharding);
  std::optional<int64_t> readAlias(unsigned argument);
  Layout layoutOf(RankedTensorType type, sdy::TensorShardingAttr);
  /// The program's mesh, or the one of a sharding on another.
  sdy::MeshAttr meshOf(sdy::TensorShardingAttr sharding);

  func::FuncOp entry;
  sdy::MeshAttr meshAttr;
  Mesh mesh;
};

sdy::MeshAttr ManifestReader::meshOf(sdy::TensorShardingAttr sharding) {
  sdy::MeshAttr found = sharding ? sdy::getMesh(entry, sharding) : nullptr;
  return found && !found.getAxes().empty() ? found : meshAttr;
}

Layout ManifestReader::layoutOf(RankedTensorType type,
                                sdy::TensorShardingAttr sharding) {
  if (!sharding || sharding.isReplicated())
    return Layout::replicated(type.getShape());
  return Layout::get(toSharding(sharding, meshOf(sharding)), type.getShape());
}

BoundaryTensor ManifestReader::readInput(unsigned i) {
  BlockArgument argument = entry.getArgument(i);
  std::string name = getSourceLocation(argument.getLoc()).name;
  BoundaryTensor tensor =
      readTensor(name.empty() ? "arg" + std::to_string(i) : name,
                 argument.getType(), sdy::getSharding(argument));
  tensor.alias = readAlias(i);
  return tensor;
}

BoundaryTensor ManifestReader::readOutput(unsigned i) {
  auto info = entry.getResultAttrOfType<StringAttr>(i, "jax.result_info");
  return readTensor(info ? info.str() : "result" + std::to_string(i),
                    entry.getResultTypes()[i],
                    sdy::getFuncResultSharding(entry, i));
}

BoundaryTensor ManifestReader::readTensor(std::string name, Type type,
                                          sdy::TensorShardingAttr sharding) {
  BoundaryTensor found;
  found.name = std::move(name);
  found.sharding = sharding ? debugString(sharding) : "";
  auto tensor = dyn_cast<RankedTensorType>(type);
  found.elementType = debugString(tensor ? tensor.getElementType() : type);
  if (tensor) {
    found.layout = layoutOf(tensor, sharding);
    found.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  }
  sdy::MeshAttr on = meshOf(sharding);
  found.mesh = on != meshAttr ? debugString(on) : "";
  found.devices = meshAttr ? toMesh(on) : mesh;
  found.onlyDevice = sdy::getSingleDevice(entry, sharding);
  for (sdy::AxisRefAttr axis : fromAxisList(found.layout.partial, on))
    found.partialAxes.push_back(axis.toString());
  return found;
}

/// Partitioning drops a donation between different local types.
std::optional<int64_t> ManifestReader::readAlias(unsigned argument) {
  auto output =
      entry.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
  if (!output || output.getInt() < 0 ||
      output.getInt() >= entry.getNumResults())
    return std::nullopt;
  unsigned result = output.getInt();
  auto from = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[argument]);
  auto to = dyn_cast<RankedTensorType>(entry.getResultTypes()[result]);
  if (!from || !to || from.getElementType() != to.getElementType())
    return std::nullopt;
  Layout source = layoutOf(from, sdy::getSharding(entry.getArgument(argument)));
  Layout target = layoutOf(to, sdy::getFuncResultSharding(entry, result));
  if (source.localShape() != target.localShape())
    return std::nullopt;
  return output.getInt();
}

json::Value orNull(const std::string &text) {
  return text.empty() ? json::Value(nullptr) : json::Value(text);
}

/// What each device holds: distinct shards, and by device the index of its own.
struct Shards {
  json::Array distinct;
  std::vector<size_t> indices;
};

Shards findShards(const BoundaryTensor &tensor, int64_t numDevices) {
  Shards shards;
  shards.indices.resize(numDevices);
  std::map<SmallVector<int64_t, 8>, size_t> known;
  for (int64_t at = 0; at < tensor.devices.numDevices(); ++at) {
    int64_t device = tensor.devices.deviceAt(at);
    bool holdsIt = !tensor.onlyDevice || device == *tensor.onlyDevice;
    SmallVector<int64_t, 8> bounds;
    for (Interval slice :
         tensor.layout.sliceOf(tensor.devices, at, tensor.shape))
      bounds.append({slice.start, holdsIt ? slice.limit : slice.start});
    auto [entry, isNew] = known.try_emplace(bounds, shards.distinct.size());
    if (isNew) {
      json::Array dims;
      dims.reserve(bounds.size() / 2);
      for (size_t dim = 0; dim < bounds.size(); dim += 2)
        dims.push_back(json::Array{bounds[dim], bounds[dim + 1]});
      shards.distinct.push_back(std::move(dims));
    }
    shards.indices[device] = entry->second;
  }
  return shards;
}

json::Object toJson(const BoundaryTensor &tensor, size_t index,
                    int64_t numDevices) {
  json::Object object{{"index", static_cast<int64_t>(index)},
                      {"name", tensor.name},
                      {"sharding", orNull(tensor.sharding)},
                      {"dtype", tensor.elementType},
                      {"global_shape", json::Array(tensor.shape)},
                      {"local_shape", json::Array(tensor.layout.localShape())},
                      {"partial", nullptr},
                      {"alias", nullptr}};
  if (tensor.alias)
    object["alias"] = *tensor.alias;
  if (!tensor.mesh.empty())
    object["mesh"] = tensor.mesh;
  if (!tensor.partialAxes.empty())
    object["partial"] = json::Object{{"axes", json::Array(tensor.partialAxes)},
                                     {"kind", toString(tensor.layout.kind)}};
  Shards shards = findShards(tensor, numDevices);
  if (numDevices > kMostListedDevices) {
    object["pieces"] = std::move(shards.distinct);
    object["piece"] = json::Array(shards.indices);
    return object;
  }
  json::Array slices;
  slices.reserve(shards.indices.size());
  for (size_t shard : shards.indices)
    slices.push_back(shards.distinct[shard]);
  object["slices"] = std::move(slices);
  return object;
}

json::Array toJson(ArrayRef<BoundaryTensor> tensors, int64_t numDevices) {
  json::Array all;
  for (auto [index, tensor] : llvm::enumerate(tensors))
    all.push_back(toJson(tensor, index, numDevices));
  return all;
}

} // namespace

json::Value Manifest::toJson() const {
  return json::Object{
      {"devices", numDevices},
      {"mesh", orNull(mesh)},
      {"arguments", boundary.wholeArguments ? "whole" : "split"},
      {"results", boundary.wholeResults ? "whole" : "split"},
      {"inputs", shardonnay::toJson(inputs, numDevices)},
      {"outputs", shardonnay::toJson(outputs, numDevices)}};
}

std::optional<Manifest> readManifest(ModuleOp module, BoundaryMode boundary) {
  func::FuncOp entry = getEntry(module);
  if (!entry)
    return std::nullopt;
  return ManifestReader(entry).read(boundary);
}

} // namespace shardonnay
