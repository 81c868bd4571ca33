//===- OpList.h - a program's ops as plain values ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who runs a per-device program by other means than PJRT need not know MLIR:
// this is all that the module says, as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_OPLIST_H
#define SHARDONNAY_PIPELINE_OPLIST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace shardonnay {

/// The module as
///   {"attributes": A, "functions": [{"name", "body": B, "argument_attributes":
///    [A...], "result_attributes": [A...]}...]}
/// with, for a block,
///   B = {"arguments": [V...], "ops": [O...]},
///   O = [name, operands: [number...], results: [V...], attributes: A,
///        regions: [B...], location: "file:line:col" or ""]
/// A value V is [its number in the module, shape, element], or [its number, the
/// text of the type] of what is no tensor of known sizes. A is an object:
/// numbers, strings, lists and flags as they are, elements of a tensor as
/// {"shape", "element", "splat", "data": base64 of the bytes, little-endian, a
/// byte for each i1}, all else as {"text": ...}.
/// What each op has is an array, as LLVM's objects are tables of 64 entries.
/// Fails with an error at a region of several blocks.
mlir::FailureOr<llvm::json::Value> listOps(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_OPLIST_H
