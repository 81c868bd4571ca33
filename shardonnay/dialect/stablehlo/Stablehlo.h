//===- Stablehlo.h - the StableHLO-compatible dialect -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H
#define SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardonnay/dialect/stablehlo/Enums.h.inc"

namespace mlir::stablehlo {
/// Where an error goes; a builder that infers types has no such place.
using MaybeLoc = std::optional<Location>;
/// The types that are inferred.
using Types = SmallVectorImpl<Type>;

LogicalResult verifyCompatibleTypes(Operation *op);
LogicalResult verifyCompatibleElementTypes(Operation *op);
} // namespace mlir::stablehlo

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Attributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Types.h.inc"

#include "shardonnay/dialect/stablehlo/Dialect.h.inc"

namespace mlir::stablehlo {

/// Whether each pair of types has one element type, and shapes that agree
/// wherever both sizes are known, within the bounds of those that are not.
bool areCompatible(TypeRange a, TypeRange b);

/// Whether the elements are of one type, or quantized with the same storage
/// and expressed types along the same dim, if any.
bool haveCompatibleElements(Type a, Type b);

/// A tensor type quantized per axis has that axis, with as many slices as there
/// are scales.
bool hasScalePerSlice(Type type);

template <typename OpT>
class CompatibleOperandsAndResultTypes
    : public OpTrait::TraitBase<OpT, CompatibleOperandsAndResultTypes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyCompatibleTypes(op);
  }
};

template <typename OpT>
class CompatibleOperandsAndResultElementTypes
    : public OpTrait::TraitBase<OpT, CompatibleOperandsAndResultElementTypes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyCompatibleElementTypes(op);
  }
};

class ReturnOp; // named by traits of other families

/// One dim of a window that slides over a tensor. The base is the tensor with
/// `baseDilation` - 1 elements between neighbours, `low` before and `high`
/// after it; window k begins at position `stride` * k of it, and its element j
/// is `dilation` * j further (of `size` - 1 - j, if the window is reversed).
struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0;
  int64_t baseDilation = 1, dilation = 1;
  bool reversed = false;

  /// What one window covers of the base.
  int64_t extent() const { return size == 0 ? 0 : (size - 1) * dilation + 1; }
  /// The size of the base of a dim of `size`.
  int64_t baseSize(int64_t size) const;
  /// How many windows a dim of `size` has; unknown if that is.
  int64_t count(int64_t size) const;
  /// One window an element: sliding it changes nothing.
  bool isTrivial() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 &&
           baseDilation == 1;
  }
  bool operator==(const WindowDim &o) const;
};

/// What an absent `result_accuracy` means.
ResultAccuracyAttr defaultAccuracy(MLIRContext *context);

} // namespace mlir::stablehlo

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Shape.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Dot.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Reduce.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Gather.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Control.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Batched.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Random.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Collective.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Convolution.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Window.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Custom.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Transfer.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Norm.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Dynamic.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Quantize.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Legacy.h.inc"

#endif // SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H
