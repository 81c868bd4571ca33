//===- Bytecode.h - the sdy dialect in bytecode ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect writes its version and every attribute in a compact form; it
// reads every version that Shardonnay ever wrote. Each version has a golden
// file in test/bytecode/.
//
// To change the form of an attribute, or to add one:
//   1. raise kBytecodeVersion and say what is new at its enumerator,
//   2. let the reader ask for the version where the form differs,
//   3. write test/bytecode/v<N>.mlirbc from test/bytecode/v<N>.mlir.
// Codes and forms that were written once are never reused.
//
// `sdy` bytecode of other producers, jaxlib's for one, has other forms without
// a version: it is refused.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_BYTECODE_H
#define SHARDONNAY_DIALECT_SDY_BYTECODE_H

#include <cstdint>

namespace mlir::sdy {

class SdyDialect;

/// What is written.
///   1: meshes, axes, shardings, rules, parameters of collectives, records of
///      propagation. An axis of size 0 is one without a size, which readers
///      before refuse.
inline constexpr uint64_t kBytecodeVersion = 1;

/// Adds the dialect's BytecodeDialectInterface.
void addBytecodeInterface(SdyDialect &dialect);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_BYTECODE_H
