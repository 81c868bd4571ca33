//===- PortableArtifact.h - StableHLO's portable artifacts ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_PORTABLEARTIFACT_H
#define SHARDONNAY_DIALECT_STABLEHLO_PORTABLEARTIFACT_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::stablehlo {

/// Portable artifacts, which `jax.export` writes, are bytecode of a dialect
/// `vhlo`. We don't read them; whoever tries is told what to do.
void registerPortableArtifactRefusal(DialectRegistry &registry);

} // namespace mlir::stablehlo

#endif // SHARDONNAY_DIALECT_STABLEHLO_PORTABLEARTIFACT_H
