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
  json::Array slices(const Layout &layout, ArrayRef<int64_t> shape);
  json::Value partial(const Layout &layout);
  json::Value alias(unsigned argument);
  Layout layoutOf(RankedTensorType type, sdy::TensorShardingAttr);

  func::FuncOp entry;
  sdy::MeshAttr meshAttr;
  Mesh mesh;
};

Layout ManifestBuilder::layoutOf(RankedTensorType type,
                                 sdy::TensorShardingAttr sharding) {
  // All shardings with axes are on one mesh: import refuses others.
  if (!sharding || sharding.isReplicated() ||
      sdy::getMesh(entry, sharding) != meshAttr)
    return Layout::replicated(type.getShape());
  return Layout::get(toSharding(sharding, meshAttr), type.getShape());
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
  object["slices"] = slices(layout, shape);
  object["partial"] = partial(layout);
  return object;
}

json::Array ManifestBuilder::slices(const Layout &layout,
                                    ArrayRef<int64_t> shape) {
  SmallVector<json::Value> perDevice(mesh.numDevices(), nullptr);
  for (int64_t position = 0; position < mesh.numDevices(); ++position) {
    json::Array dims;
    for (Interval interval : layout.sliceOf(mesh, position, shape))
      dims.push_back(json::Array{interval.start, interval.limit});
    perDevice[mesh.deviceAt(position)] = std::move(dims);
  }
  return json::Array(perDevice);
}

json::Value ManifestBuilder::partial(const Layout &layout) {
  if (layout.partial.empty())
    return nullptr;
  json::Array axes;
  for (sdy::AxisRefAttr axis : fromAxisList(layout.partial, meshAttr))
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
