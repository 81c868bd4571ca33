//===- Explain.h - why every value has its sharding -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_EXPLAIN_H
#define SHARDONNAY_PIPELINE_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "llvm/Support/JSON.h"

namespace shardonnay {

/// Keeps each value's name in its location, as MLIR prints the module now: the
/// stages change the values, not the locations.
void rememberNames(mlir::ModuleOp module);

/// Propagates through an imported module, and says of each value with a
/// sharding or a refused axis:
///   {"name": "%5", "what", "location", "source", "type", "sharding",
///    "axes": [{"dim", "axis", "origin", "given_on", "steps": [{"step", "op",
///     "location", "from", "from_dim"}]}],
///    "refused": [{"dim", "axes", "conflict", "rule", "op", "location",
///     "offered_by", "offered_by_dim", "winner", "winner_dim"}]}
/// "steps" go back from the value to where the axis was given. "name" is "" for
/// what import made. The order of propagation is that of a compilation with
/// these options.
llvm::json::Value explainPropagation(mlir::ModuleOp module,
                                     const PipelineOptions &options,
                                     const DeviceModel &model);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_EXPLAIN_H
