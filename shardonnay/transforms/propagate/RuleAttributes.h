//===- RuleAttributes.h - rules as the IR shows them ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_RULEATTRIBUTES_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_RULEATTRIBUTES_H

namespace mlir {
class Operation;
} // namespace mlir

namespace shardonnay {

/// Gives each op of the module that has a rule, and no attribute of it, the
/// attribute.
void writeRuleAttributes(mlir::Operation *module, bool conservative = false);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_RULEATTRIBUTES_H
