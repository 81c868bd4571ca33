//===- Passes.h - other spellings of shardings ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_PASSES_H
#define SHARDONNAY_FRONTEND_PASSES_H

#include "mlir/Pass/Pass.h"

namespace shardonnay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardonnay/frontend/Passes.h.inc"

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_PASSES_H
