//===- Scf.cpp - loops and branches ---------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops have RegionBranchOpInterface, which the defaults read. Not scf.forall
// and scf.parallel: what their bodies do with slices at computed offsets is a
// partition of its own.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
template <typename OpT>
struct FlowModel
    : ShardableDataFlowOpInterface::ExternalModel<FlowModel<OpT>, OpT> {};
} // namespace

template <typename... OpTs> static void attachFlow(MLIRContext &context) {
  (OpTs::template attachInterface<FlowModel<OpTs>>(context), ...);
}

void shardonnay::upstream::attachScfModels(MLIRContext &context) {
  attachFlow<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp>(context);
}
