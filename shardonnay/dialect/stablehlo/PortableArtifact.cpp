//===- PortableArtifact.cpp - StableHLO's portable artifacts --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/PortableArtifact.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "shardonnay/interfaces/ForeignBytecode.h"

using namespace mlir;

namespace {

/// Has no operations: it is there to be asked about its bytecode.
class VhloDialect : public Dialect {
public:
  explicit VhloDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<VhloDialect>()) {
    shardonnay::addForeignBytecodeRefusal(*this);
  }

  static StringRef getDialectNamespace() { return "vhlo"; }

  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VhloDialect)
};

} // namespace

void mlir::stablehlo::registerPortableArtifactRefusal(
    DialectRegistry &registry) {
  registry.insert<VhloDialect>();
}
