//===- Passes.h - the import stage ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_IMPORT_PASSES_H
#define SHARDONNAY_TRANSFORMS_IMPORT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "shardonnay/dialect/sdy/Dialect.h"

namespace shardonnay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardonnay/transforms/import/Passes.h.inc"

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_IMPORT_PASSES_H
