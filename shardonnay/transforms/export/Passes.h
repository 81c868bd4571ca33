//===- Passes.h - finishing what propagation decided ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_EXPORT_PASSES_H
#define SHARDONNAY_TRANSFORMS_EXPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "shardonnay/dialect/sdy/Dialect.h"

namespace shardonnay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardonnay/transforms/export/Passes.h.inc"

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_EXPORT_PASSES_H
