//===- CollectivePlanner.h - prices and chains of collectives ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all passes of this stage compare: the price of the collectives that are
// there, and of the cheapest chain between two shardings of one tensor. Both
// count by cost/Collective.h, collective by collective as `partition` writes
// them (plan/PricedShard.h): a gather along two dims is two gathers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVEPLANNER_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVEPLANNER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/AnalysisManager.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "llvm/ADT/StringMap.h"

namespace shardonnay {

/// The operand of a collective, if `value` is the result of one that the
/// planner could have written: on one mesh, and settling only what is stated to
/// be partial. Null otherwise.
mlir::Operation *getPlannedCollective(mlir::Value value);

/// The mesh that a collective's result is on.
mlir::sdy::NamedMesh getNamedMesh(mlir::Operation *collective);

/// How often `op` runs in one run of the function: the product of the trip
/// counts of the loops around it (sdy::countTrips).
double countRuns(mlir::Operation *op);

/// Plans for devices like `model`.
struct ModelPlans {
  std::shared_ptr<const DeviceModel> model;
  ReshardPlanner planner = ReshardPlanner();
};

/// An analysis that lets the passes of the stage share their plans: what was a
/// reshard is asked for again as a chain that may be shorter. A plan knows no
/// operation, so it stays valid whatever a pass does.
class SharedPlans {
public:
  explicit SharedPlans(mlir::Operation *) {}
  /// Those for the device model that the option `name` stands for.
  ModelPlans &get(llvm::StringRef name,
                  const std::shared_ptr<const DeviceModel> &model);
  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  llvm::StringMap<std::unique_ptr<ModelPlans>> entries;
};

class CollectivePlanner {
public:
  /// `plans` have to outlive this.
  explicit CollectivePlanner(ModelPlans &plans)
      : model(*plans.model), planner(plans.planner) {}

  /// What one run of `op` costs a device; nothing but the collectives costs.
  Cost cost(mlir::Operation *op);
  /// The same in byte times.
  double price(mlir::Operation *op);
  /// The cheapest chain; null if there is none.
  const ReshardPlan *plan(mlir::RankedTensorType type,
                          const TensorSharding &from, const TensorSharding &to,
                          mlir::sdy::MeshAttr mesh);
  /// Bytes that a device reads and writes, in byte times.
  double memoryPrice(double bytes, mlir::sdy::MeshAttr mesh) {
    return costs(mesh).computePrice(/*flops=*/0, bytes);
  }
  const MeshCosts &costs(mlir::sdy::MeshAttr mesh);

private:
  const DeviceModel &model;
  ReshardPlanner &planner;
  llvm::DenseMap<mlir::Attribute, std::unique_ptr<MeshCosts>> meshCosts;
};

/// Writes `plan` at `builder`, from `input` on; `cause` (may be null) says why.
mlir::Value buildPlan(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value input, const ReshardPlan &plan,
                      const mlir::sdy::NamedMesh &mesh, mlir::Attribute cause);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVEPLANNER_H
