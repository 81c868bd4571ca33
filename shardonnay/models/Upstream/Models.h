//===- Models.h - the sides of MLIR's own dialects --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the core asks of an op, answered for linalg, tosa, tensor, arith, math
// and scf on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_MODELS_H
#define SHARDONNAY_MODELS_UPSTREAM_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace shardonnay {

/// Adds the dialects; the models are attached when a dialect is loaded.
void registerUpstreamDialects(mlir::DialectRegistry &registry);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_UPSTREAM_MODELS_H
