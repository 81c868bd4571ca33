//===- ReshardedOp.h - an op with other shardings ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives move past an op where the op can be computed on the other side of
// them: on the shards that an operand was gathered from, on the parts of a sum.
// Its factor rule says how the other operands must then be sharded, and how the
// result does; what they are resharded by is planned and priced.
//
// Factors that positions name (windows, lookups) keep their sharding: what they
// fetch is not priced here.
//
// Known zeros that an op adds to parts of a sum are not moved, nor is what an
// op makes of scalars alone: they are there in any sharding.
//
// Worked example: add(gather(x), gather(y)) on shards is add(x, y), whose
// result is sharded as x is, and is gathered. tanh(gather(x)) * c with a whole
// c takes a slice of c.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_RESHARDEDOP_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_RESHARDEDOP_H

#include "shardonnay/strategy/FactorStrategy.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "llvm/ADT/MapVector.h"

namespace shardonnay {

/// `value` is a constant of zeros, or ops make it of such that keep zeros.
bool isKnownZeros(mlir::Value value);
/// Zeros sharded as `sharding`, of the shape and at the location of `value`.
mlir::Value makeZeros(mlir::OpBuilder &builder, mlir::Value value,
                      const TensorSharding &sharding,
                      const mlir::sdy::NamedMesh &mesh);

class ReshardedOp {
public:
  /// Reads a pure op with a rule and one ranked result, in a block of the
  /// program (not in the body of a reduction). Nothing is returned for another
  /// op.
  static std::optional<ReshardedOp> get(mlir::Operation *op,
                                        const mlir::sdy::NamedMesh &mesh);

  /// Takes for each operand in `sources` that value in the place of the
  /// operand, and leaves the result sharded as it then comes out. False if the
  /// op can't be computed so.
  bool replaceOperands(const llvm::MapVector<unsigned, mlir::Value> &sources);
  /// The same of one operand, whose `source` comes to be sharded as `sharding`
  /// before `apply`: the result of another op that is computed on another
  /// sharding.
  bool replaceOperand(unsigned number, mlir::Value source,
                      const TensorSharding &sharding);
  /// The op puts what is sharded as `sharding`, in parts, into what a loop
  /// carries (it adds the two, or updates a slice). `carried` comes to be in
  /// the same parts, and sharded as the result. False where that is not so, or
  /// others had to be moved.
  bool passParts(unsigned carried, unsigned summand,
                 const TensorSharding &sharding);
  /// Has the result sharded as `result`, and the operands as it then needs.
  bool shardResult(const TensorSharding &result);

  /// Plans the reshards of the operands that stay, and the one of the result to
  /// what it was. False if there is no plan.
  bool plan(CollectivePlanner &planner);
  /// The prices of what `plan` found: of the operands' reshards together, and
  /// of the result's.
  double operandPrice() const { return priceOfOperands; }
  double resultPrice() const { return resultPlan->price; }
  /// How the op needs an operand, and how it leaves its result.
  const TensorSharding &getNeeded(unsigned number) const {
    return needed[number];
  }
  const TensorSharding &getResult() const { return result; }
  /// Bytes that a device reads and writes at the op, before and after.
  double touchedBefore() const;
  double touchedAfter() const;

  /// Changes the op. Its former result is a chain behind it, or, with
  /// `keepSharding`, nothing: the result is left in its new sharding.
  void apply(mlir::Attribute cause, bool keepSharding = false);
  /// Leaves the result in its new sharding, where the operands have come to be
  /// as they are needed.
  void applyToResult();

private:
  ReshardedOp(mlir::Operation *op, FactorRule rule,
              const mlir::sdy::NamedMesh &mesh);

  /// Operands that need not be moved: zeros beside parts of a sum, and what is
  /// made of scalars alone.
  bool isMadeAnew(unsigned number) const;
  bool isZerosBesideParts(unsigned number) const;
  mlir::Value makeAnew(mlir::OpBuilder &builder, unsigned number) const;
  bool reshardFrom(llvm::ArrayRef<bool> replaced);
  bool setFactors(const FactorStrategy &strategy);
  std::optional<FactorStrategy> strategyOf(llvm::ArrayRef<bool> replaced);
  bool addPartial();

  mlir::Operation *op;
  FactorRule rule;
  mlir::sdy::NamedMesh mesh;
  /// What shards the factors now.
  FactorStrategy before;
  /// What goes into the op, and how that is sharded now.
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<TensorSharding, 0> present;
  /// How the op needs it, and how it leaves its result.
  llvm::SmallVector<TensorSharding, 0> needed;
  TensorSharding result;

  /// Null where an operand is made anew.
  llvm::SmallVector<const ReshardPlan *> plans;
  const ReshardPlan *resultPlan = nullptr;
  double priceOfOperands = 0;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_RESHARDEDOP_H
