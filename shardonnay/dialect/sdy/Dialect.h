//===- Dialect.h - the sdy dialect ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_DIALECT_H
#define SHARDONNAY_DIALECT_SDY_DIALECT_H

#include "mlir/IR/Dialect.h"

#include "shardonnay/dialect/sdy/Dialect.h.inc"

namespace mlir::sdy {

/// A TensorShardingAttr on function arguments and results, a
/// TensorShardingPerValueAttr (one for each result) on operations.
inline constexpr llvm::StringLiteral kShardingAttr("sdy.sharding");
/// On a function: what its plan costs, written by InsertExplicitReshards.
inline constexpr llvm::StringLiteral kPlanCostAttr("sdy.plan_cost");
/// On the module: which given shardings propagate after the others, written by
/// PropagateByPrice.
inline constexpr llvm::StringLiteral
    kPropagationOrderAttr("sdy.propagation_order");
/// A FloatAttr, of an op: what a byte of its results that a device holds costs,
/// in byte times, from where the memory is found to be too small to where the
/// op is sharded; of a loop, to where it is decided what leaves it.
inline constexpr llvm::StringLiteral kMemoryPriceAttr("sdy.memory_price");
/// On a reshard or a collective: a sentence that says why it is there.
inline constexpr llvm::StringLiteral kCauseAttr("sdy.cause");
/// A TensorShardingPerValueAttr on an operation that passes values on: one for
/// each class of values that a block argument owns, in their order.
inline constexpr llvm::StringLiteral
    kBlockArgumentShardingsAttr("sdy.block_argument_shardings");
/// An OpShardingRuleAttr, on operations.
inline constexpr llvm::StringLiteral kShardingRuleAttr("sdy.sharding_rule");
/// A StringAttr on functions that are copies, or were computations of that
/// name: the name of the function that they were.
inline constexpr llvm::StringLiteral
    kOriginalFuncNameAttr("sdy.original_func_name");
/// A ManualAxesAttr on functions that were computations inside of manual ones:
/// the axes that are manual there.
inline constexpr llvm::StringLiteral kManualAxesAttr("sdy.func_manual_axes");
/// A TensorShardingAttr on function arguments and results, from propagation to
/// export: the sharding as it was given, where its open dims have axes that do
/// not divide them or are not full. (Others are told by their closed dims.)
inline constexpr llvm::StringLiteral kGivenShardingAttr("sdy.given_sharding");

/// Where the axes of a sharding came from, axis -> origin:
/// `{x = "input: 0", "y:(1)2" = "constraint_0"}` beside a sharding of a
/// function argument or result and of an operation that states its own; an
/// array of such dictionaries, one for each result, on other operations.
inline constexpr llvm::StringLiteral
    kShardingOriginsAttr("sdy.sharding_origins");
/// Array of origin dictionaries for the block arguments and the results of an
/// operation with data-flow edges.
inline constexpr llvm::StringLiteral
    kBlockArgShardingOriginsAttr("sdy.block_arg_sharding_origins");
inline constexpr llvm::StringLiteral
    kResultShardingOriginsAttr("sdy.result_sharding_origins");
/// A PropagationEdgesAttr, on operations: which axes came in which step.
inline constexpr llvm::StringLiteral
    kPropagationEdgesAttr("sdy.propagation_edges");
/// Array of PropagationEdgesAttr for the block arguments and the results of an
/// operation with data-flow edges.
inline constexpr llvm::StringLiteral
    kBlockArgPropagationEdgesAttr("sdy.block_arg_propagation_edges");
inline constexpr llvm::StringLiteral
    kResultPropagationEdgesAttr("sdy.result_propagation_edges");

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_DIALECT_H
