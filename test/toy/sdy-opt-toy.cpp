//===- sdy-opt-toy.cpp - propagation in a dialect that it does not know ---===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/models/Upstream/ShardInterface.h"
#include "shardonnay/transforms/import/Passes.h"
#include "shardonnay/transforms/propagate/Passes.h"

// What is generated names MLIR's types as in its own namespace.
using namespace mlir;

#include "ToyDialect.h.inc"
#define GET_OP_CLASSES
#include "Toy.h.inc"

#include "ToyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Toy.cpp.inc"

void toy::ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Toy.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// The two methods of an op that says its loops
//===----------------------------------------------------------------------===//

// docs/add-a-dialect.md, begin
SmallVector<utils::IteratorType> toy::MatmulOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel,
          utils::IteratorType::reduction};
}

SmallVector<AffineMap> toy::MatmulOp::getIndexingMaps() {
  AffineExpr m, n, k;
  bindDims(getContext(), m, n, k);
  return {AffineMap::get(3, 0, {m, k}, getContext()),
          AffineMap::get(3, 0, {k, n}, getContext()),
          AffineMap::get(3, 0, {m, n}, getContext())};
}
// docs/add-a-dialect.md, end

//===----------------------------------------------------------------------===//
// Ops that state a rule and their place in the order themselves
//===----------------------------------------------------------------------===//

static std::optional<shardonnay::FactorRule> dimByDim(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t rank = shape.size();
  shardonnay::FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim}, {dim});
  return builder.build();
}

std::optional<shardonnay::FactorRule> toy::ForwardOp::getFactorRule() {
  return dimByDim(getInput());
}

shardonnay::PropagationClass toy::ForwardOp::getPropagationClass() {
  return shardonnay::PropagationClass::PassThroughForward;
}

std::optional<shardonnay::FactorRule> toy::EitherOp::getFactorRule() {
  return dimByDim(getInput());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, sdy::SdyDialect, toy::ToyDialect>();
  // docs/add-a-dialect.md, begin
  registry.addExtension(+[](MLIRContext *context, toy::ToyDialect *) {
    shardonnay::attachShardingInterfaceModels(*context, "toy");
  });
  // docs/add-a-dialect.md, end
  shardonnay::registerImportPasses();
  shardonnay::registerPropagatePasses();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "Propagation in a toy dialect\n", registry));
}
