//===- OpAlternative.h - how else an op could be sharded --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a collective is there for follows from how an op is sharded. Next to it
// belongs what the op would have cost otherwise (OpSolver::alternative).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_OPALTERNATIVE_H
#define SHARDONNAY_REPORT_OPALTERNATIVE_H

#include "mlir/IR/Operation.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/strategy/OpSolver.h"

namespace shardonnay {

/// How a cause begins of what an op fetches for itself. How else the op could
/// be sharded follows behind "; ".
inline constexpr llvm::StringLiteral kFetchCause("what ");

/// {x, y:(1)2}: without quotes, which would be escaped in an attribute.
std::string toText(const AxisList &axes, mlir::sdy::MeshAttr mesh);

/// What is said of `op`, on `mesh`, but what the user requires.
OpFeatures readFeatures(mlir::Operation *op, mlir::sdy::MeshAttr mesh);

/// What `op`'s tensors ask for, where `read` says how they are sharded on
/// `mesh`. Requires that `rule` fits the op.
OpProblem
readProblem(mlir::Operation *op, const FactorRule &rule,
            mlir::sdy::MeshAttr mesh,
            llvm::function_ref<const TensorSharding &(mlir::Value)> read);

/// What `op`, sharded as `taken`, costs, and its next best strategy; or that
/// there is none.
std::string describeAlternative(mlir::Operation *op, const OpProblem &problem,
                                const FactorStrategy &taken, OpSolver &solver,
                                mlir::sdy::MeshAttr mesh);

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_OPALTERNATIVE_H
