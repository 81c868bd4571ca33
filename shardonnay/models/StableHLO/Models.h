//===- Models.h - StableHLO's side of the interfaces ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the core asks of an op (factor rule, propagation class, local
// computation, data-flow edges, constant expressions), answered for every op of
// the StableHLO and CHLO dialects by external models.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_MODELS_H
#define SHARDONNAY_MODELS_STABLEHLO_MODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace shardonnay {

/// Attaches the models when the dialects are loaded.
void registerStablehloModels(mlir::DialectRegistry &registry);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_MODELS_H
