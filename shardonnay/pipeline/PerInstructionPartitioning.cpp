//===- PerInstructionPartitioning.cpp -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The operations that can be partitioned alone are counted, and the filter
//    selects some (isSelected).
// 2. Each of them becomes a manual computation (OperationPartitioner).
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/pipeline/AloneOperation.h"
#include "shardonnay/pipeline/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PERINSTRUCTIONPARTITIONINGPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// One entry of the filter: a name, with its dialect or without, or numbers of
/// operations.
struct Selection {
  StringRef name;
  uint64_t first = 0, last = 0;

  static FailureOr<Selection> parse(StringRef text) {
    Selection selection;
    if (!llvm::isDigit(text.front())) {
      selection.name = text;
      return selection;
    }
    auto [first, last] = text.split('-');
    if (first.getAsInteger(10, selection.first) ||
        (last.empty() ? first : last).getAsInteger(10, selection.last) ||
        selection.last < selection.first)
      return failure();
    return selection;
  }
  bool selects(OperationName op, uint64_t number) const {
    return name.empty()
               ? first <= number && number <= last
               : name == op.getStringRef() || name == op.stripDialect();
  }
};

struct PerInstructionPartitioning
    : impl::PerInstructionPartitioningPassBase<PerInstructionPartitioning> {
  using PerInstructionPartitioningPassBase::PerInstructionPartitioningPassBase;

  void runOnOperation() override {
    sdy::MeshOp mesh = sdy::getMostUsedMesh(getOperation());
    if (!mesh)
      return;
    if (failed(parseFilter()))
      return signalPassFailure();
    OperationPartitioner::Options alone;
    alone.enableHaloExchange = enableHaloExchange;
    alone.replicaCount = replicaCount;
    alone.partitionCount = partitionCount;
    OperationPartitioner partitioner(mesh, alone);
    SmallVector<Operation *> selected;
    uint64_t number = 0;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (!OperationPartitioner::isComputation(op))
        return WalkResult::advance();
      if (partitioner.isEligible(op) && isSelected(op, number++))
        selected.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : selected)
      if (failed(partitioner.partition(op)))
        return signalPassFailure();
  }

private:
  LogicalResult parseFilter();
  bool isSelected(Operation *op, uint64_t number) {
    return selections.empty() ||
           llvm::any_of(selections, [&](const Selection &selection) {
             return selection.selects(op->getName(), number);
           });
  }
  SmallVector<Selection> selections;
};

LogicalResult PerInstructionPartitioning::parseFilter() {
  SmallVector<StringRef> entries;
  StringRef(filter.getValue())
      .split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    FailureOr<Selection> selection = Selection::parse(entry);
    if (failed(selection))
      return getOperation().emitError()
             << "filter: expected names of operations, or numbers such as 3 or "
                "2-5, got '"
             << entry << "'";
    selections.push_back(*selection);
  }
  return success();
}

} // namespace

} // namespace shardonnay
