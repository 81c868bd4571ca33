//===- Passes.h - deciding every sharding -----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/transforms/propagate/PropagationEngine.h"

namespace shardonnay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardonnay/transforms/propagate/Passes.h.inc"

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_H
