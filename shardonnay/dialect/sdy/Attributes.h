//===- Attributes.h - meshes, axes, shardings, rules ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ATTRIBUTES_H
#define SHARDONNAY_DIALECT_SDY_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "shardonnay/algebra/Reduction.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include <optional>

#include "shardonnay/dialect/sdy/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/sdy/Attributes.h.inc"

namespace mlir {
class AsmParser;
class AsmPrinter;
} // namespace mlir

namespace mlir::sdy {

/// The assembly directive `custom<OptionalReductionKind>`: `sum`, `max` or
/// `min`; nothing, and a null attribute, stand for sum.
ParseResult parseOptionalReductionKind(AsmParser &parser,
                                       ReductionKindAttr &kind);
void printOptionalReductionKind(AsmPrinter &printer, Operation *op,
                                ReductionKindAttr kind);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ATTRIBUTES_H
