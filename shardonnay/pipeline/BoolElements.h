//===- BoolElements.h - bool constants between MLIR versions ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR prints the elements of a large constant as hex digits: `dense<"0x...">`.
// Of i1, LLVM 22 packs eight into a byte, the lowest bit first; MLIR 23, which
// is jaxlib's, gives a byte to each. Neither parser takes the other's form.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_BOOLELEMENTS_H
#define SHARDONNAY_PIPELINE_BOOLELEMENTS_H

#include <string>

namespace shardonnay {

/// Writes the i1 constants in the text of a module as LLVM 22 reads them; those
/// that stand so already stay.
void packBoolElements(std::string &text);

/// Writes the i1 constants in a text that LLVM 22 printed as MLIR 23 reads
/// them.
void unpackBoolElements(std::string &text);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_BOOLELEMENTS_H
