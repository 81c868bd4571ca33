//===- Manifest.cpp - what each device feeds and holds --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Manifest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/algebra/Layout.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/SingleDevice.h"
#include "shardonnay/explain/SourceLocation.h"

using namespace mlir;
namespace json = llvm::json;

namespace shardonnay {

namespace {

template <typename T> std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// The function that the outside calls: the first public one with a body.
func::FuncOp getEntry(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      return func;
  return nullptr;
}

class ManifestBuilder {
public:
  explicit ManifestBuilder(func::FuncOp entry) : entry(entry) {
    auto module = entry->getParentOfType<ModuleOp>();
    if (sdy::MeshOp op = sdy::getProgramMesh(module)) {
      meshAttr = op.getMesh();
      mesh = toMesh(meshAttr);
    }
  }

  json::Value build(BoundaryMode boundary) {
    json::Array inputs, outputs;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      inputs.push_back(input(i));
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      outputs.push_back(output(i));
    return json::Object{
        {"devices", mesh.numDevices()},
        {"mesh", meshAttr ? json::Value(print(meshAttr)) : nullptr},
        {"arguments", boundary.wholeArguments ? "whole" : "split"},
        {"results", boundary.wholeResults ? "whole" : "split"},
        {"inputs", std::move(inputs)},
        {"outputs", std::move(outputs)}};
  }

private:
  json::Object input(unsigned i);
  json::Object output(unsigned i);
  json::Object entryOf(unsigned index, std::string name, Type type,
                       sdy::TensorShardingAttr sharding);
  json::Array slices(const Layout &layout, ArrayRef<int64_t> shape,
                     sdy::TensorShardingAttr sharding);
  json::Value partial(const Layout &layout, sdy::MeshAttr on);
  json::Value alias(unsigned argument);
  Layout layoutOf(RankedTensorType type, sdy::TensorShardingAttr);
  /// The program's mesh, or the one of a sharding on another.
  sdy::MeshAttr meshOf(sdy::TensorShardingAttr sharding);

  func::FuncOp entry;
  sdy::MeshAttr meshAttr;
  Mesh mesh;
};

sdy::MeshAttr ManifestBuilder::meshOf(sdy::TensorShardingAttr sharding) {
  sdy::MeshAttr found = sharding ? sdy::getMesh(entry, sharding) : nullptr;
  return found && !found.getAxes().empty() ? found : meshAttr;
}

Layout ManifestBuilder::layoutOf(RankedTensorType type,
                                 sdy::TensorShardingAttr sharding) {
  if (!sharding || sharding.isReplicated())
    return Layout::replicated(type.getShape());
  return Layout::get(toSharding(sharding, meshOf(sharding)), type.getShape());
}

json::Object ManifestBuilder::input(unsigned i) {
  BlockArgument argument = entry.getArgument(i);
  std::string name = getSourceLocation(argument.getLoc()).name;
  json::Object object =
      entryOf(i, name.empty() ? "arg" + std::to_string(i) : name,
              argument.getType(), sdy::getSharding(argument));
  object["alias"] = alias(i);
  return object;
}

json::Object ManifestBuilder::output(unsigned i) {
  auto info = entry.getResultAttrOfType<StringAttr>(i, "jax.result_info");
  return entryOf(i, info ? info.str() : "result" + std::to_string(i),
                 entry.getResultTypes()[i],
                 sdy::getFuncResultSharding(entry, i));
}

json::Object ManifestBuilder::entryOf(unsigned index, std::string name,
                                      Type type,
                                      sdy::TensorShardingAttr sharding) {
  json::Object object{
      {"index", index},
      {"name", std::move(name)},
      {"sharding", sharding ? json::Value(print(sharding)) : nullptr},
      {"alias", nullptr}};
  auto tensor = dyn_cast<RankedTensorType>(type);
  Layout layout;
  ArrayRef<int64_t> shape;
  if (tensor) {
    layout = layoutOf(tensor, sharding);
    shape = tensor.getShape();
  }
  object["dtype"] = print(tensor ? tensor.getElementType() : type);
  object["global_shape"] = json::Array(shape);
  object["local_shape"] = json::Array(layout.localShape());
  sdy::MeshAttr on = meshOf(sharding);
  if (on != meshAttr)
    object["mesh"] = print(on);
  object["slices"] = slices(layout, shape, sharding);
  object["partial"] = partial(layout, on);
  return object;
}

json::Array ManifestBuilder::slices(const Layout &layout,
                                    ArrayRef<int64_t> shape,
                                    sdy::TensorShardingAttr sharding) {
  SmallVector<json::Value> perDevice(mesh.numDevices(), nullptr);
  std::optional<int64_t> only = sdy::getSingleDevice(entry, sharding);
  Mesh on = meshAttr ? toMesh(meshOf(sharding)) : mesh;
  for (int64_t position = 0; position < on.numDevices(); ++position) {
    json::Array dims;
    bool holdsIt = !only || on.deviceAt(position) == *only;
    for (Interval interval : layout.sliceOf(on, position, shape))
      dims.push_back(json::Array{interval.start,
                                 holdsIt ? interval.limit : interval.start});
    perDevice[on.deviceAt(position)] = std::move(dims);
  }
  return json::Array(perDevice);
}

json::Value ManifestBuilder::partial(const Layout &layout, sdy::MeshAttr on) {
  if (layout.partial.empty())
    return nullptr;
  json::Array axes;
  for (sdy::AxisRefAttr axis : fromAxisList(layout.partial, on))
    axes.push_back(axis.toString());
  return json::Object{{"axes", std::move(axes)},
                      {"kind", toString(layout.kind)}};
}

/// Partitioning drops a donation between different local types.
json::Value ManifestBuilder::alias(unsigned argument) {
  auto output =
      entry.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
  if (!output || output.getInt() < 0 ||
      output.getInt() >= entry.getNumResults())
    return nullptr;
  unsigned result = output.getInt();
  auto from = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[argument]);
  auto to = dyn_cast<RankedTensorType>(entry.getResultTypes()[result]);
  if (!from || !to || from.getElementType() != to.getElementType())
    return nullptr;
  Layout source = layoutOf(from, sdy::getSharding(entry.getArgument(argument)));
  Layout target = layoutOf(to, sdy::getFuncResultSharding(entry, result));
  if (source.localShape() != target.localShape())
    return nullptr;
  return output.getInt();
}

} // namespace

json::Value buildManifest(ModuleOp module, BoundaryMode boundary) {
  func::FuncOp entry = getEntry(module);
  if (!entry)
    return nullptr;
  return ManifestBuilder(entry).build(boundary);
}

} // namespace shardonnay
