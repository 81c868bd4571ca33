//===- RuleVerifier.cpp - sharding rules against an operation -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of a dim's factors need not multiply to the size of the dim: rules
// of windowed operations do not.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

class RuleVerifier {
public:
  RuleVerifier(OpShardingRuleAttr rule, Operation *op)
      : rule(rule), op(op), sizes(rule.getFactorSizes()), used(sizes.size()),
        inResults(sizes.size()), special(sizes.size()) {}

  LogicalResult verify();

private:
  LogicalResult verifyTensors(ArrayRef<TensorMappingAttr> mappings,
                              ValueRange values, StringRef what);
  LogicalResult verifyTensor(TensorMappingAttr mapping, Type type,
                             EmitError emitError);
  LogicalResult verifyFactor(int64_t factor, EmitError emitError);
  /// Ascending, so without repetition. Marks `seen`; a factor that is marked
  /// already has a second kind.
  LogicalResult verifyList(ArrayRef<int64_t> factors, StringRef what,
                           llvm::SmallBitVector *seen);

  OpShardingRuleAttr rule;
  Operation *op;
  ArrayRef<int64_t> sizes;
  llvm::SmallBitVector used, inResults, special;
};

} // namespace

LogicalResult RuleVerifier::verifyFactor(int64_t factor, EmitError emitError) {
  if (factor >= 0 && factor < static_cast<int64_t>(sizes.size())) // C45
    return success();
  return emitError() << "factor number " << factor << " has no size, expected "
                     << "a factor of the " << sizes.size() << " listed";
}

LogicalResult RuleVerifier::verifyTensor(TensorMappingAttr mapping, Type type,
                                         EmitError emitError) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape()) // C44
    return emitError() << "expected a ranked tensor of static shape, got "
                       << type << ": an operation with others has no rule";
  int64_t rank = shaped.getRank(), mapped = mapping.getDimMappings().size();
  if (mapped != rank) // C43
    return emitError() << "mapping has " << mapped << " dims, expected " << rank
                       << " as in " << type;
  llvm::SmallBitVector seen(sizes.size());
  for (auto [index, dim] : llvm::enumerate(mapping.getDimMappings())) {
    ArrayRef<int64_t> factors = dim.getFactorIndices();
    if (factors.empty()) // C46
      return emitError() << "dim " << index
                         << " has no factor, expected at least one";
    for (int64_t factor : factors) {
      if (failed(verifyFactor(factor, emitError)))
        return failure();
      if (seen.test(factor)) // C47
        return emitError() << "factor number " << factor << " occurs twice";
      if (sizes[factor] == 1 && factors.size() > 1) // C48
        return emitError() << "dim " << index
                           << " has a factor of size 1 among others";
      seen.set(factor);
    }
  }
  used |= seen;
  return success();
}

LogicalResult RuleVerifier::verifyTensors(ArrayRef<TensorMappingAttr> mappings,
                                          ValueRange values, StringRef what) {
  if (mappings.size() != values.size()) // C42
    return op->emitOpError() << "sharding rule has " << mappings.size() << " "
                             << what << " mappings, expected " << values.size();
  for (auto [index, mapping, value] : llvm::enumerate(mappings, values)) {
    auto emitError = [&, index = index, value = value] {
      return shardonnay::pointAtOperand(op->emitOpError()
                                            << "sharding rule, " << what << " "
                                            << index << ": ",
                                        value);
    };
    if (failed(verifyTensor(mapping, value.getType(), emitError)))
      return failure();
  }
  return success();
}

LogicalResult RuleVerifier::verifyList(ArrayRef<int64_t> factors,
                                       StringRef what,
                                       llvm::SmallBitVector *seen) {
  auto emitError = [&] {
    return op->emitOpError() << "sharding rule, " << what << ": ";
  };
  for (auto [index, factor] : llvm::enumerate(factors)) {
    if (failed(verifyFactor(factor, emitError)))
      return failure();
    if (index > 0 && factors[index - 1] >= factor) // C50
      return emitError() << "expected ascending factors";
    if (!seen)
      continue;
    if (seen->test(factor)) // C51
      return emitError() << "factor number " << factor
                         << " has another kind already";
    seen->set(factor);
  }
  return success();
}

LogicalResult RuleVerifier::verify() {
  for (auto [factor, size] : llvm::enumerate(sizes))
    if (size < 0) // C53
      return op->emitOpError() << "sharding rule: factor number " << factor
                               << " has the negative size " << size;
  if (rule.getOperandMappings().empty() ||
      rule.getResultMappings().empty()) // C41
    return op->emitOpError() << "sharding rule: expected mappings of at least "
                                "one operand and one result";
  if (failed(verifyTensors(rule.getOperandMappings(), op->getOperands(),
                           "operand")))
    return failure();
  llvm::SmallBitVector inOperands = used;
  used.reset();
  if (failed(
          verifyTensors(rule.getResultMappings(), op->getResults(), "result")))
    return failure();
  inResults = used;
  used |= inOperands;
  if (int unused = used.find_first_unset(); unused >= 0) // C49
    return op->emitOpError()
           << "sharding rule: factor number " << unused << " of size "
           << sizes[unused] << " is in no operand and no result";
  if (failed(verifyList(rule.getReductionFactors(), "reduction", &special)) ||
      failed(verifyList(rule.getNeedReplicationFactors(), "need_replication",
                        &special)) ||
      failed(
          verifyList(rule.getPermutationFactors(), "permutation", &special)) ||
      failed(verifyList(rule.getBlockedPropagationFactors(),
                        "blocked_propagation", nullptr)))
    return failure();
  for (int64_t factor : rule.getReductionFactors())
    if (inResults.test(factor)) // C52
      return op->emitOpError() << "sharding rule: reduction factor number "
                               << factor << " is in a result";
  return success();
}

LogicalResult mlir::sdy::verifyRule(OpShardingRuleAttr rule, Operation *op) {
  return RuleVerifier(rule, op).verify();
}
