//===- Attach.h - external models from plain functions ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model. An op's rule is a function
//   std::optional<FactorRule> rule(OpT)
// that is only asked about static shapes, and its local computation, where
// cloning with local types is not enough, a function
//   LocalResults local(OpT, OpBuilder &, ValueRange, LocalContext &)
// which does with windowed factors that are sharded.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_ATTACH_H
#define SHARDONNAY_MODELS_STABLEHLO_ATTACH_H

#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/models/StableHLO/Linear.h"
#include "shardonnay/models/StableHLO/TransformFlops.h"

namespace shardonnay {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// A slice of shape `to` out of one of shape `from` has, of some dim, one
/// position of several.
inline bool picksAny(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  return llvm::any_of(llvm::zip_equal(from, to), [](auto sizes) {
    return std::get<0>(sizes) > 1 && std::get<1>(sizes) == 1;
  });
}

template <typename OpT, auto kRule, PropagationClass kClass,
          bool kLooksAtOperands, bool kIsContraction>
struct RuleModel
    : ShardingRuleOpInterface::ExternalModel<
          RuleModel<OpT, kRule, kClass, kLooksAtOperands, kIsContraction>,
          OpT> {
  std::optional<FactorRule> getFactorRule(mlir::Operation *op) const {
    if (!hasStaticShapes(op))
      return std::nullopt;
    return kRule(llvm::cast<OpT>(op));
  }
  bool looksAtOperands(mlir::Operation *) const { return kLooksAtOperands; }
  bool isContraction(mlir::Operation *) const { return kIsContraction; }
  PropagationClass getPropagationClass(mlir::Operation *) const {
    return kClass;
  }
  bool isLinear(mlir::Operation *op, ReductionKind kind,
                const llvm::SmallBitVector &partial) const {
    return shardonnay::isLinear(op, kind, partial);
  }
  int64_t getTransformFlops(mlir::Operation *op) const {
    return shardonnay::getTransformFlops(op);
  }
};

template <typename OpT>
struct CloneModel
    : LocalComputeOpInterface::ExternalModel<CloneModel<OpT>, OpT> {};

/// What factors a local computation does with, in its model: those that
/// propagation shards, or all.
inline bool mayShardKnown(mlir::Operation *, const FactorRule &rule,
                          int32_t factor) {
  return rule.factors[factor].kind != FactorKind::NeedReplication;
}
inline bool mayShardAny(mlir::Operation *, const FactorRule &, int32_t) {
  return true;
}

/// Of an op without a rule, or without a picking one.
template <typename OpT> std::optional<FactorRule> noRule(OpT) {
  return std::nullopt;
}

template <typename OpT, auto kLocal, auto kMayShard, auto kPickingRule>
struct LocalModel : LocalComputeOpInterface::ExternalModel<
                        LocalModel<OpT, kLocal, kMayShard, kPickingRule>, OpT> {
  bool mayShard(mlir::Operation *op, const FactorRule &rule,
                int32_t factor) const {
    return kMayShard(op, rule, factor);
  }
  std::optional<FactorRule> getPickingRule(mlir::Operation *op) const {
    if (!hasStaticShapes(op))
      return std::nullopt;
    return kPickingRule(llvm::cast<OpT>(op));
  }
  LocalResults computeLocally(mlir::Operation *op, mlir::OpBuilder &builder,
                              mlir::ValueRange operands,
                              LocalContext &context) const {
    return kLocal(llvm::cast<OpT>(op), builder, operands, context);
  }
};

template <typename OpT>
struct ConstantModel
    : ConstantExpressionOpInterface::ExternalModel<ConstantModel<OpT>, OpT> {};

template <typename OpT, auto kRule,
          PropagationClass kClass = PropagationClass::Compute,
          bool kLooksAtOperands = false, bool kIsContraction = false>
void attachRule(mlir::MLIRContext &context) {
  OpT::template attachInterface<
      RuleModel<OpT, kRule, kClass, kLooksAtOperands, kIsContraction>>(context);
}

template <typename OpT, auto kRule>
void attachContraction(mlir::MLIRContext &context) {
  attachRule<OpT, kRule, PropagationClass::Compute, /*kLooksAtOperands=*/false,
             /*kIsContraction=*/true>(context);
}

/// The local computation is the op itself on local types.
template <typename OpT> void attachClone(mlir::MLIRContext &context) {
  OpT::template attachInterface<CloneModel<OpT>>(context);
}

template <typename OpT, auto kLocal, auto kMayShard = mayShardKnown>
void attachLocal(mlir::MLIRContext &context) {
  OpT::template attachInterface<
      LocalModel<OpT, kLocal, kMayShard, noRule<OpT>>>(context);
}

/// Of an op that may pick one position of a dim.
template <typename OpT, auto kLocal, auto kPickingRule,
          auto kMayShard = mayShardKnown>
void attachPicking(mlir::MLIRContext &context) {
  OpT::template attachInterface<
      LocalModel<OpT, kLocal, kMayShard, kPickingRule>>(context);
}

/// The ops are constants where all their operands are.
template <typename... OpTs>
void attachConstantExpression(mlir::MLIRContext &context) {
  (OpTs::template attachInterface<ConstantModel<OpTs>>(context), ...);
}

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_ATTACH_H
