//===- PropagationAttributes.h - a propagation, written on its ops --------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `sdy.sharding_origins` and `sdy.propagation_edges`, as Model Explorer reads
// them: for each axis of a value the constraint that it came from, and for each
// op the steps that moved axes through it. A constraint is named by what it
// stands on: "input: 0" and "output: 0" are arguments and results of functions,
// the others have a name of their own (`sdy.sharding_origin_name`).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_PROPAGATIONATTRIBUTES_H
#define SHARDONNAY_REPORT_PROPAGATIONATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/dialect/sdy/Ops.h"

namespace shardonnay {

/// "constraint_0", "mc_0", "op_0": how origins call an op.
inline constexpr llvm::StringLiteral
    kOriginNameAttr("sdy.sharding_origin_name");

/// Names each constraint "constraint_N" and each manual computation "mc_N",
/// in the order of the text, that has no name yet.
void nameOrigins(mlir::ModuleOp module);

/// Names `op` if it has no name, and returns its name.
mlir::StringAttr getOrMakeOriginName(mlir::Operation *op);

/// `x`, or `x:(1)2` for a part of an axis.
std::string axisKey(mlir::sdy::AxisRefAttr axis);

/// A value that carries a sharding, or the result of a function.
struct ShardedPlace {
  mlir::Value value;
  mlir::func::FuncOp func = nullptr;
  unsigned result = 0;
};

/// Null if there are none.
mlir::DictionaryAttr getOrigins(const ShardedPlace &place);
/// Where `getOrigins` finds them; nowhere for other block arguments.
void setOrigins(const ShardedPlace &place, mlir::DictionaryAttr origins);

/// Appends a step to those of `op`, or of the result of a function.
void addStep(mlir::Operation *op, mlir::sdy::PropagationOneStepAttr step);
void addStep(mlir::func::FuncOp func, unsigned result,
             mlir::sdy::PropagationOneStepAttr step);

/// One more than the largest number of a step in the module; 0 if there is
/// none.
int64_t getNextStep(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_PROPAGATIONATTRIBUTES_H
