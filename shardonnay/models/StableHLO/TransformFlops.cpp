//===- TransformFlops.cpp - work of FFT and linear algebra ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/TransformFlops.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

static int64_t fftFlops(FftOp op) {
  ArrayRef<int64_t> lengths = op.getFftLength();
  double points = llvm::product_of(lengths);
  if (points < 2)
    return 0;
  bool isReal = shapeOf(op.getOperand()) != shapeOf(op.getResult());
  auto batch = shapeOf(op.getOperand()).drop_back(lengths.size());
  return llvm::product_of(batch) *
         std::llround((isReal ? 2.5 : 5) * points * std::log2(points));
}

/// `scale` m n min(m, n) of each matrix.
static int64_t factorFlops(Value matrices, double scale) {
  ArrayRef<int64_t> shape = shapeOf(matrices);
  if (shape.size() < 2)
    return 0;
  ArrayRef<int64_t> last = shape.take_back(2);
  double flops = scale * llvm::product_of(last) * std::min(last[0], last[1]);
  return llvm::product_of(shape.drop_back(2)) * std::llround(flops);
}

/// The multiple of m n k that the factorisations take which JAX and others call
/// by name; 0 for everything else.
static double factorScale(StringRef target) {
  if (target.consume_front("lapack_") && !target.empty()) {
    target.consume_back("_ffi");
    target = target.drop_front(); // the letter of the element type
    return llvm::StringSwitch<double>(target)
        .Case("potrf", 1.0 / 3)
        .Case("getrf", 2.0 / 3)
        .Cases({"geqrf", "orgqr", "ungqr"}, 2)
        .Default(4);
  }
  return llvm::StringSwitch<double>(target)
      .Case("Cholesky", 1.0 / 3)
      .Case("LuDecomposition", 2.0 / 3)
      .Cases({"Qr", "ProductOfElementaryHouseholderReflectors"}, 2)
      .Case("Eigh", 4)
      .Default(0);
}

static int64_t solveFlops(Value a, Value b) {
  ArrayRef<int64_t> shape = shapeOf(a);
  return shape.empty() ? 0 : shape.back() * llvm::product_of(shapeOf(b));
}

/// Every element of lhs meets those of one group of rhs, along its free dims.
static int64_t raggedDotFlops(chlo::RaggedDotOp op) {
  chlo::RaggedDotDimensionNumbersAttr numbers =
      op.getRaggedDotDimensionNumbers();
  int64_t flops = 2 * llvm::product_of(shapeOf(op.getLhs()));
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getRhs())))
    if (!llvm::is_contained(numbers.getRhsBatchingDimensions(), dim) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dim) &&
        !llvm::is_contained(numbers.getRhsGroupDimensions(), dim))
      flops = countProduct(flops, extent);
  return flops;
}

static int64_t callFlops(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (op->getNumOperands() == 0 || !hasStaticShapes(op))
    return 0;
  if (target.starts_with("lapack_") && target.contains("trsm"))
    return op->getNumOperands() < 2
               ? 0
               : solveFlops(op->getOperand(0), op->getOperand(1));
  double scale = factorScale(target);
  return scale == 0 ? 0 : factorFlops(op->getOperand(0), scale);
}

int64_t shardonnay::getTransformFlops(Operation *op) {
  if (auto fft = dyn_cast<FftOp>(op))
    return hasStaticShapes(op) ? fftFlops(fft) : 0;
  if (auto cholesky = dyn_cast<CholeskyOp>(op))
    return hasStaticShapes(op) ? factorFlops(cholesky.getA(), 1.0 / 3) : 0;
  if (auto solve = dyn_cast<TriangularSolveOp>(op))
    return hasStaticShapes(op) ? solveFlops(solve.getA(), solve.getB()) : 0;
  if (auto dot = dyn_cast<chlo::RaggedDotOp>(op))
    return hasStaticShapes(op) ? raggedDotFlops(dot) : 0;
  if (auto call = dyn_cast<CustomCallOp>(op))
    return callFlops(call);
  return 0;
}
