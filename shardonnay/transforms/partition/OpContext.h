//===- OpContext.h - what an op may ask of its mesh -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_OPCONTEXT_H
#define SHARDONNAY_TRANSFORMS_PARTITION_OPCONTEXT_H

#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/plan/WindowPlan.h"
#include "shardonnay/transforms/partition/LocalCollectives.h"
#include "shardonnay/transforms/partition/OtherStrategies.h"
#include "shardonnay/transforms/partition/Placement.h"

namespace shardonnay {

/// What LocalComputeOpInterface gets: the strategy of one op, and communication
/// as spmd ops on its mesh.
class OpContext : public LocalContext {
public:
  /// All have to outlive this. `factorAxes` shard the factors of `rule`;
  /// the op's tensors are at `placements`, and `resultTypes` are local.
  OpContext(mlir::Operation *op, const FactorRule &rule,
            llvm::ArrayRef<AxisList> factorAxes,
            llvm::ArrayRef<const Placement *> placements,
            llvm::ArrayRef<mlir::Type> resultTypes, const Placer &placer,
            OtherStrategies *others = nullptr, bool forbidsGathers = false)
      : op(op), opRule(rule), axes(factorAxes), placements(placements),
        types(resultTypes), placer(placer), others(others),
        forbidsGathers(forbidsGathers) {}

  /// A window was all of a sharded dim, which is forbidden.
  bool foundForbiddenGather() const { return forbiddenGather; }

  const FactorRule &rule() const override { return opRule; }
  const AxisList &factorAxes(int32_t factor) const override {
    return axes[factor];
  }
  llvm::ArrayRef<mlir::Type> resultTypes() const override { return types; }
  mlir::TypeRange globalOperandTypes() const override {
    return op->getOperandTypes();
  }
  mlir::TypeRange globalResultTypes() const override {
    return op->getResultTypes();
  }
  AxisList deviceAxes() override { return placer.deviceAxes(op); }
  mlir::Value deviceIndex(mlir::OpBuilder &builder, mlir::Location loc,
                          const AxisList &list) override;
  mlir::Value fillEnd(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value tensor, int64_t dim, int64_t globalSize,
                      const AxisList &list, mlir::Value fill) override;
  using LocalContext::fetchWindow;
  mlir::Value fetchWindow(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tensor, const FactorWindow &window,
                          const ShardWindow &shard, mlir::Value fill) override;
  mlir::Value allReduce(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor, const AxisList &list) override;
  mlir::Value allGather(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor, const AxisList &list) override;

private:
  llvm::StringRef alternative() {
    return others->describe(op, opRule, placements, axes);
  }
  /// Says of a collective what it is for and, where causes are wanted, what
  /// else could be done: `other`, or an alternative.
  void setCause(mlir::Operation *made, const llvm::Twine &what,
                llvm::StringRef other = "");
  /// Says so if some device's window of an operand is all of the dim.
  void reportGather(mlir::RankedTensorType local, int64_t dim,
                    const WindowProblem &problem);

  mlir::Operation *op;
  const FactorRule &opRule;
  llvm::ArrayRef<AxisList> axes;
  llvm::ArrayRef<const Placement *> placements;
  llvm::ArrayRef<mlir::Type> types;
  const Placer &placer;
  /// Null if no alternatives are wanted.
  OtherStrategies *others;
  bool forbidsGathers;
  bool forbiddenGather = false;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_OPCONTEXT_H
