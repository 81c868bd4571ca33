//===- Constraints.h - checks that several ops share ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each emits an error at `location`, if there is one (a builder that infers
// types has none), and fails.
#ifndef SHARDONNAY_DIALECT_STABLEHLO_CONSTRAINTS_H
#define SHARDONNAY_DIALECT_STABLEHLO_CONSTRAINTS_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"

namespace mlir::stablehlo {

inline RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether two sizes may be equal, unknown ones matching every size.
inline bool sizesMatch(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

/// That `count`, of what `what` names, is `expected`.
LogicalResult checkCount(MaybeLoc location, StringRef what, int64_t count,
                         int64_t expected);

/// That all `dims` are in [0, rank) and none comes twice.
LogicalResult checkDims(MaybeLoc location, StringRef what,
                        ArrayRef<int64_t> dims, int64_t rank);

/// That `dims` are in increasing order.
LogicalResult checkSorted(MaybeLoc location, StringRef what,
                          ArrayRef<int64_t> dims);

/// That the shapes agree wherever both sizes are known.
LogicalResult checkShape(MaybeLoc location, StringRef what,
                         ArrayRef<int64_t> shape, ArrayRef<int64_t> expected);

/// That each dim of the operand of `op` has size 1 or that of dim `dims[i]` of
/// its result.
LogicalResult checkBroadcast(Operation *op, ArrayRef<int64_t> dims);

/// That operand and result of `op`, both of known sizes, have as many elements.
LogicalResult checkNumElements(Operation *op);

/// That `op` has inputs and as many initial values.
LogicalResult checkInits(Operation *op);

/// That `body`, of `op`, combines elements: its arguments are scalars of one
/// type per result, the left ones, then the right ones, and it returns such
/// scalars. The elements of `tensors` and `inits` must be promotable to them:
/// to any other float, or to an integer of as many bits or more. The results
/// hold what the body returns.
LogicalResult checkCombiner(Operation *op, Region &body, TypeRange tensors,
                            TypeRange inits, TypeRange results);

/// The attributes that describe a window, one entry per dim; absent and empty
/// ones mean ones and zeros.
struct WindowAttributes {
  ArrayRef<int64_t> sizes;
  std::optional<ArrayRef<int64_t>> strides;
  std::optional<DenseIntElementsAttr> padding;
  std::optional<ArrayRef<int64_t>> baseDilations, dilations;
  std::optional<ArrayRef<bool>> reversals;
};

/// Their meaning, checked.
FailureOr<SmallVector<WindowDim>>
readWindow(MaybeLoc location, const WindowAttributes &attributes);
/// That no base of dims of `shape` is too large.
LogicalResult checkBase(MaybeLoc location, ArrayRef<int64_t> shape,
                        ArrayRef<WindowDim> window);

} // namespace mlir::stablehlo

#endif // SHARDONNAY_DIALECT_STABLEHLO_CONSTRAINTS_H
