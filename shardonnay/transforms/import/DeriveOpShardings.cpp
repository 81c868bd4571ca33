//===- DeriveOpShardings.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of an op with a rule and without an op sharding, and of its annotated
// tensors:
//   1. Results: the factors of a dim have the axes of the dim; the factor that
//      the op reduces over has the axes along which the result is partial.
//   2. Operands: factors without axes as yet have those of the dim, up to the
//      first axis that a factor has.
//   3. The rest is whole.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/NamedMesh.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/strategy/FactorStrategy.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_DERIVEOPSHARDINGSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class OptionReader {
public:
  OptionReader(Operation *op, FactorRule rule)
      : op(op), rule(std::move(rule)), strategy(this->rule.factors.size()) {}

  /// The op sharding; null, and `why` says so, if annotations contradict each
  /// other, or nothing if no tensor has one.
  sdy::TensorShardingAttr read(std::string &why);

private:
  TensorProjection rowOf(Value value, int64_t tensor, TensorSharding &sharding);
  bool readResult(OpResult result, std::string &why);
  bool readParts(const TensorSharding &sharding, std::string &why);
  bool set(size_t factor, const AxisList &axes, std::string &why);
  void readOperand(OpOperand &operand);

  Operation *op;
  FactorRule rule;
  FactorStrategy strategy;
  AxisList used;
  Attribute meshOrRef;
  sdy::MeshAttr mesh;
};

/// Of another mesh than the first one nothing is read: no factor is there.
TensorProjection OptionReader::rowOf(Value value, int64_t tensor,
                                     TensorSharding &sharding) {
  sdy::TensorShardingAttr attr = sdy::getSharding(value);
  if (!attr)
    return {};
  sdy::MeshAttr on = sdy::getMesh(op, attr);
  if (!mesh) {
    mesh = on;
    meshOrRef = attr.getMeshOrRef();
  }
  if (on != mesh)
    return {};
  sharding = sdy::toSharding(attr, mesh);
  return project(sharding, rule.tensor(tensor), rule.factors);
}

bool OptionReader::set(size_t factor, const AxisList &axes, std::string &why) {
  if (axes.empty() || strategy[factor] == axes)
    return true;
  if (!strategy[factor].empty() || used.excludes(axes)) {
    why =
        "factor " + factorName(factor) +
        " is sharded in two ways by the op's results, or by axes that another "
        "factor has";
    return false;
  }
  strategy[factor] = axes;
  used.append(axes);
  return true;
}

/// The partial values are those of the one factor that the op reduces over.
bool OptionReader::readParts(const TensorSharding &sharding, std::string &why) {
  if (sharding.unreduced.empty())
    return true;
  std::optional<size_t> reduced;
  for (size_t factor = 0; factor < rule.factors.size(); ++factor) {
    if (!rule.reducesOver(factor))
      continue;
    if (reduced) {
      why =
          "it reduces over several factors, so of which the result is partial "
          "is not known";
      return false;
    }
    reduced = factor;
  }
  if (!reduced || rule.factors[*reduced].combiner != sharding.kind) {
    why = "it does not reduce by " + toString(sharding.kind).str();
    return false;
  }
  return set(*reduced, sharding.unreduced, why);
}

bool OptionReader::readResult(OpResult result, std::string &why) {
  TensorSharding sharding;
  TensorProjection row =
      rowOf(result, op->getNumOperands() + result.getResultNumber(), sharding);
  for (auto [factor, cell] : llvm::enumerate(row.factors))
    if (cell.present && !set(factor, cell.axes, why))
      return false;
  return readParts(sharding, why);
}

void OptionReader::readOperand(OpOperand &operand) {
  TensorSharding sharding;
  TensorProjection row =
      rowOf(operand.get(), operand.getOperandNumber(), sharding);
  for (auto [factor, cell] : llvm::enumerate(row.factors)) {
    if (!cell.present || !strategy[factor].empty() ||
        !canBeSharded(rule.factors[factor]))
      continue;
    strategy[factor] = cell.axes.prefixWithoutOverlap(used);
    used.append(strategy[factor]);
  }
}

sdy::TensorShardingAttr OptionReader::read(std::string &why) {
  for (OpResult result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && !readResult(result, why))
      return nullptr;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      readOperand(operand);
  if (!mesh || used.empty())
    return nullptr;
  if (!isLawful(strategy, rule)) {
    why = "it can't be computed as its tensors are sharded";
    return nullptr;
  }
  TensorSharding option = TensorSharding::fullyClosed(strategy.size());
  for (auto [dim, axes] : llvm::zip_equal(option.dims, strategy))
    dim.axes = axes;
  return sdy::NamedMesh{mesh, meshOrRef}.write(option);
}

bool hasPartialResult(Operation *op) {
  return llvm::any_of(op->getResults(), [](Value result) {
    if (!isa<RankedTensorType>(result.getType()))
      return false;
    sdy::TensorShardingAttr sharding = sdy::getSharding(result);
    return sharding && !sharding.getUnreducedAxes().empty();
  });
}

struct DeriveOpShardingsPass
    : impl::DeriveOpShardingsPassBase<DeriveOpShardingsPass> {
  using DeriveOpShardingsPassBase::DeriveOpShardingsPassBase;

  LogicalResult derive(Operation *op) {
    std::optional<FactorRule> rule = sdy::getComputationRule(op);
    if (!rule || rule->factors.empty())
      return success();
    std::string why;
    sdy::TensorShardingAttr option = OptionReader(op, *rule).read(why);
    if (option)
      op->setAttr(sdy::kOpShardingAttr, option);
    else if (!why.empty() && all)
      return op->emitOpError()
             << "has annotations that give no sharding of the op: " << why
             << "; expected annotations that agree";
    return success();
  }

  void runOnOperation() override {
    for (Operation *op : getAnalysis<ProgramOps>())
      if (op->getNumResults() && !sdy::getOpSharding(op) &&
          !isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
          (all || hasPartialResult(op)) && failed(derive(op)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace shardonnay
