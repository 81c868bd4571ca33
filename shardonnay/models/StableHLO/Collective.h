//===- Collective.h - rules of collectives ----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_COLLECTIVE_H
#define SHARDONNAY_MODELS_STABLEHLO_COLLECTIVE_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Factor.h"

namespace shardonnay {

/// A factor a dim, but `exchanged` dims are needed whole on either side. None
/// for operands of unlike shapes.
std::optional<FactorRule> exchangeRule(mlir::Operation *op,
                                       llvm::ArrayRef<int64_t> exchanged);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_COLLECTIVE_H
