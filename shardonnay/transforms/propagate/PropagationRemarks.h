//===- PropagationRemarks.h - a record as remarks ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONREMARKS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONREMARKS_H

#include "mlir/IR/Remarks.h"
#include "shardonnay/transforms/propagate/RecordAttributes.h"

namespace shardonnay {

inline constexpr llvm::StringLiteral kRemarkCategory("sdy-propagation");

/// "argument 0", "result 0 of stablehlo.add", "function result 0".
std::string describe(const ModuleGraph &module, int32_t tensor);

mlir::Location locationOf(const ModuleGraph &module, int32_t tensor);

/// "a", "b:(1)2", in the mesh of `tensor` or, if it has none yet, of `other`.
std::string axisText(const ModuleGraph &module, int32_t tensor, int32_t other,
                     const AxisList &axes);

/// The context's engine if its filters let ours pass, else null. Where they do,
/// emits a remark "Propagation" about the size of the graph: the engine can't
/// be asked without emitting one.
mlir::remark::detail::RemarkEngine *askForRemarks(const ModuleGraph &module);

/// A remark "AxisTaken" (passed) for each axis that came in a step, and
/// "AxisRefused" (missed) for each one that a tensor did not take.
void emitRemarks(mlir::remark::detail::RemarkEngine &engine,
                 const ModuleGraph &module, const PropagationRecord &record);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONREMARKS_H
