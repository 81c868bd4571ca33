//===- Manifest.h - what each device feeds and holds ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The per-device program says nothing of the global tensors that it came from.
// The manifest does: whoever runs the program cuts the inputs and joins the
// outputs by it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_MANIFEST_H
#define SHARDONNAY_PIPELINE_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "llvm/Support/JSON.h"

namespace shardonnay {

/// The manifest of @main, read after `collectives`, when the shardings of
/// arguments and results are final:
///   {"devices": N, "mesh": "#sdy.mesh<...>" or null,
///    "arguments": "split" or "whole", "results": likewise,
///    "inputs": [E...], "outputs": [E...]}
/// with E =
///   {"index", "name", "dtype", "global_shape", "local_shape",
///    "sharding": "#sdy.sharding<...>" or null if there is none,
///    "slices": for each partition id a [start, limit) for each global dim,
///              start = limit if that device holds nothing,
///    "mesh": only if the sharding is on another one, that mesh,
///    "partial": {"axes": [...], "kind"} or null,
///    "alias": the index of the output that may reuse the input's memory, or
///             null}
/// "name" is the argument's name in the source or the result's
/// `jax.result_info`. `boundary` is how the program was compiled: whole
/// arguments are in "slices" too. Null if there is no function to describe.
llvm::json::Value buildManifest(mlir::ModuleOp module,
                                BoundaryMode boundary = {});

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_MANIFEST_H
