//===- Manifest.h - what each device feeds and holds ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The per-device program says nothing of the global tensors that it came from.
// The manifest does: whoever runs the program divides the inputs and joins the
// outputs by it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_MANIFEST_H
#define SHARDONNAY_PIPELINE_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/algebra/Layout.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace shardonnay {

/// With more devices than this, an entry lists each distinct shard once and an
/// index per device: values x devices are hundreds of megabytes there.
inline constexpr int64_t kMostListedDevices = 64;

/// An argument or a result of the program.
struct BoundaryTensor {
  /// In the source: the argument's name or the result's `jax.result_info`.
  std::string name;
  /// As MLIR writes them; `sharding` is empty if there is none, and `mesh` if
  /// it is the program's.
  std::string elementType, sharding, mesh;
  llvm::SmallVector<int64_t, 4> shape;
  Layout layout;
  /// What `layout` is on.
  Mesh devices;
  /// The one device that holds it.
  std::optional<int64_t> onlyDevice;
  /// `layout.partial` as MLIR writes it.
  std::vector<std::string> partialAxes;
  /// For an argument, the index of the result that may reuse its memory.
  std::optional<int64_t> alias;
};

/// What crosses the boundary of @main, as values: the module may be gone.
struct Manifest {
  int64_t numDevices = 1;
  /// Empty if there is none.
  std::string mesh;
  /// How the program was compiled.
  BoundaryMode boundary;
  std::vector<BoundaryTensor> inputs, outputs;

  /// The manifest:
  ///   {"devices": N, "mesh": "#sdy.mesh<...>" or null,
  ///    "arguments": "split" or "whole", "results": likewise,
  ///    "inputs": [E...], "outputs": [E...]}
  /// with E =
  ///   {"index", "name", "dtype", "global_shape", "local_shape",
  ///    "sharding": "#sdy.sharding<...>" or null if there is none,
  ///    "slices": for each partition id a [start, limit) for each global dim,
  ///              start = limit if that device holds nothing; whole arguments
  ///              have them too,
  ///    "mesh": only if the sharding is on another one, that mesh,
  ///    "partial": {"axes": [...], "kind"} or null,
  ///    "alias": the index of the output that may reuse the input's memory, or
  ///             null}
  /// With more than kMostListedDevices devices there are, instead of "slices",
  /// `pieces`, each distinct one once, and `piece`, for each partition id its
  /// index among them.
  llvm::json::Value toJson() const;
};

/// Reads the manifest after `collectives`, when the shardings of arguments and
/// results are final. Nothing if there is no function to describe.
std::optional<Manifest> readManifest(mlir::ModuleOp module,
                                     BoundaryMode boundary = {});

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_MANIFEST_H
