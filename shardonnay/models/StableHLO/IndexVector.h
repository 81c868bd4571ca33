//===- IndexVector.h - the components of gather's indices -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model. Gather and scatter index by vectors that run
// along one dim of a tensor (or are that tensor's elements, if the dim is past
// the last one). Component k of all vectors is a tensor that has size 1 there.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_INDEXVECTOR_H
#define SHARDONNAY_MODELS_STABLEHLO_INDEXVECTOR_H

#include "shardonnay/models/StableHLO/LocalMath.h"

namespace shardonnay {

/// Where `value` stands in `list`, or -1.
int64_t positionIn(llvm::ArrayRef<int64_t> list, int64_t value);

/// A sharded operand dim of which the windows have a part, from an index on.
struct ShardedDim {
  int64_t globalSize;
  int64_t localSize;
  AxisList axes;
  /// Which component is the index; -1: the index is 0.
  int64_t component;
  /// How many elements the windows have in this dim.
  int64_t window = 1;
  /// The operand's dim.
  int64_t dim = 0;
};

/// Index vectors whose components can be replaced.
class IndexVector {
public:
  /// Converts `indices` to integers that hold positions of all of `dims`.
  IndexVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value indices,
              int64_t vectorDim, llvm::ArrayRef<ShardedDim> dims);

  /// The type of all components.
  mlir::IntegerType elementType() const { return integer; }
  mlir::Value component(int64_t k) const { return components[k]; }
  void setComponent(int64_t k, mlir::Value value) { components[k] = value; }
  /// The vectors of the present components.
  mlir::Value join() const;

  /// The shape of a component without its dim of size 1.
  llvm::SmallVector<int64_t> batchShape() const;

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t vectorDim;
  mlir::IntegerType integer;
  /// All vectors, as they were.
  mlir::Value vectors;
  llvm::SmallVector<mlir::Value> components;
};

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_INDEXVECTOR_H
