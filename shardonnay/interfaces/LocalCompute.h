//===- LocalCompute.h - an op on one device's slices -------------*- C++
//-*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_LOCALCOMPUTE_H
#define SHARDONNAY_INTERFACES_LOCALCOMPUTE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/algebra/Factor.h"

namespace shardonnay {

/// What an op is told when it writes its local computation. Implemented by the
/// `partition` stage.
class LocalContext {
public:
  virtual ~LocalContext() = default;
  /// The op's rule on its global types.
  virtual const FactorRule &rule() const = 0;
  /// The axes that cut factor `factor`: the same in every tensor that has it.
  virtual const AxisList &factorAxes(int32_t factor) const = 0;
  /// The local types of the results.
  virtual llvm::ArrayRef<mlir::Type> resultTypes() const = 0;
  /// This device's index along `axes`, 0 .. numShards-1, as a tensor<i32>; the
  /// constant 0 is never asked for.
  virtual mlir::Value deviceIndex(mlir::OpBuilder &builder, mlir::Location loc,
                                  const AxisList &axes) = 0;
};

/// `op` with `operands` and the context's result types; attributes and regions
/// as they are, shardings dropped.
llvm::SmallVector<mlir::Value> cloneLocally(mlir::Operation *op,
                                            mlir::OpBuilder &builder,
                                            mlir::ValueRange operands,
                                            const LocalContext &context);

} // namespace shardonnay

#include "shardonnay/interfaces/LocalCompute.h.inc"

#endif // SHARDONNAY_INTERFACES_LOCALCOMPUTE_H
