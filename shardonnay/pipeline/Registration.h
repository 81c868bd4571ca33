//===- Registration.h - every dialect, pass and pipeline --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_REGISTRATION_H
#define SHARDONNAY_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardonnay {

/// The dialects that programs may use, with their sharding models.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The passes of every stage, by name. Call at most once in a process.
void registerAllPasses();

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_REGISTRATION_H
