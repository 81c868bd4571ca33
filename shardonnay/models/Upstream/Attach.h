//===- Attach.h - models for ops by name ------------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A class of *hooks*, static functions on Operation *, says what the interfaces
// ask of an op; the same hooks serve many ops, named by class or found by a
// trait. To write: `rule`, or `nest` below NestHooks; the rest has a default.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_ATTACH_H
#define SHARDONNAY_MODELS_UPSTREAM_ATTACH_H

#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/models/Upstream/LoopNest.h"

namespace shardonnay::upstream {

/// Hooks for an op whose rule is written out.
struct OpHooks {
  static PropagationClass propagationClass(mlir::Operation *) {
    return PropagationClass::Compute;
  }
  static bool isElementwise(mlir::Operation *) { return false; }
  static bool isContraction(mlir::Operation *) { return false; }
  static bool isLinear(mlir::Operation *, ReductionKind,
                       const llvm::SmallBitVector &) {
    return false;
  }
  static bool mayShard(mlir::Operation *, const FactorRule &, int32_t) {
    return false;
  }
  static LocalResults computeLocally(mlir::Operation *op,
                                     mlir::OpBuilder &builder,
                                     mlir::ValueRange operands,
                                     LocalContext &context) {
    return cloneLocally(op, builder, operands, context);
  }
};

/// Of an op whose windowed factors its local computation fetches.
struct WindowedHooks : OpHooks {
  static bool mayShard(mlir::Operation *, const FactorRule &rule,
                       int32_t factor) {
    return rule.factors[factor].kind == FactorKind::Windowed;
  }
};

/// Hooks for an op that says its loops: `static LoopNest nest(Operation *)` of
/// HooksT, which derives from this.
template <typename HooksT> struct NestHooks : OpHooks {
  static std::optional<FactorRule> rule(mlir::Operation *op) {
    return ruleOf(op, HooksT::nest(op));
  }
  static PropagationClass propagationClass(mlir::Operation *op) {
    return propagationClassOf(HooksT::nest(op));
  }
  static bool isElementwise(mlir::Operation *op) {
    return upstream::isElementwise(op, HooksT::nest(op));
  }
};

/// For any op: what the interface's defaults ask of the op, they ask through
/// the interface.
template <typename HooksT>
struct HookedRule
    : ShardingRuleOpInterface::ExternalModel<HookedRule<HooksT>,
                                             ShardingRuleOpInterface> {
  std::optional<FactorRule> getFactorRule(mlir::Operation *op) const {
    return HooksT::rule(op);
  }
  PropagationClass getPropagationClass(mlir::Operation *op) const {
    return HooksT::propagationClass(op);
  }
  bool isElementwise(mlir::Operation *op) const {
    return HooksT::isElementwise(op);
  }
  bool isContraction(mlir::Operation *op) const {
    return HooksT::isContraction(op);
  }
  bool isLinear(mlir::Operation *op, ReductionKind kind,
                const llvm::SmallBitVector &partial) const {
    return HooksT::isLinear(op, kind, partial);
  }
};

template <typename HooksT>
struct HookedLocal
    : LocalComputeOpInterface::ExternalModel<HookedLocal<HooksT>,
                                             LocalComputeOpInterface> {
  bool mayShard(mlir::Operation *op, const FactorRule &rule,
                int32_t factor) const {
    return HooksT::mayShard(op, rule, factor);
  }
  LocalResults computeLocally(mlir::Operation *op, mlir::OpBuilder &builder,
                              mlir::ValueRange operands,
                              LocalContext &context) const {
    return HooksT::computeLocally(op, builder, operands, context);
  }
};

struct AnyConstantExpression
    : ConstantExpressionOpInterface::ExternalModel<
          AnyConstantExpression, ConstantExpressionOpInterface> {
  bool isConstantExpression(mlir::Operation *) const { return true; }
};

/// An op with a model of its own keeps it.
template <typename HooksT> void attachTo(mlir::RegisteredOperationName op) {
  if (op.hasInterface<ShardingRuleOpInterface>())
    return;
  op.attachInterface<HookedRule<HooksT>, HookedLocal<HooksT>>();
}

template <typename OpT>
mlir::RegisteredOperationName nameOf(mlir::MLIRContext &context) {
  return *mlir::RegisteredOperationName::lookup(OpT::getOperationName(),
                                                &context);
}

template <typename HooksT, typename... OpTs>
void attach(mlir::MLIRContext &context) {
  (attachTo<HooksT>(nameOf<OpTs>(context)), ...);
}

/// The ops are constants where all their operands are.
template <typename... OpTs>
void attachConstantExpression(mlir::MLIRContext &context) {
  (nameOf<OpTs>(context).template attachInterface<AnyConstantExpression>(),
   ...);
}

/// The registered ops of `dialect` that `isWanted`. Of all ops: MLIR 22's
/// getRegisteredOperationsByDialect finds those of the first dialect only (its
/// search takes a three-way comparison for "less").
template <typename HooksT, typename PredicateT>
void attachIf(mlir::MLIRContext &context, llvm::StringRef dialect,
              PredicateT isWanted) {
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == dialect && isWanted(op))
      attachTo<HooksT>(op);
}

/// The ranks of tensors; 0 of what is none.
inline llvm::SmallVector<int64_t> ranksOf(mlir::TypeRange types) {
  return llvm::map_to_vector(types, [](mlir::Type type) -> int64_t {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor ? tensor.getRank() : 0;
  });
}

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_ATTACH_H
