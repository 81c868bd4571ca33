//===- NeutralElement.h - what does not count in a reduction ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_NEUTRALELEMENT_H
#define SHARDONNAY_INTERFACES_NEUTRALELEMENT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "shardonnay/algebra/Reduction.h"

namespace shardonnay {

/// The scalar tensor e of `element` with kind(e, a) = a for all a. Of sums of
/// floats it is -0.0 (where there is one), since 0.0 + -0.0 is 0.0; of maxima
/// and minima of floats that have no infinity, the farthest finite number. Null
/// for elements that are no numbers (quantized ones).
mlir::DenseElementsAttr getNeutralElement(mlir::Type element,
                                          ReductionKind kind);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_NEUTRALELEMENT_H
