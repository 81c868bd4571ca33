//===- SinkDataFlowEdges.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SINKDATAFLOWEDGESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
/// What is known of how the edges of one op got their axes, in the order of the
/// edges: of its results and of its block arguments. An edge without a record
/// is left out.
struct Records {
  SmallVector<Attribute> ofResults, ofArguments;
};
using RecordsOfOps = llvm::MapVector<Operation *, Records>;

struct SinkDataFlowEdgesPass
    : impl::SinkDataFlowEdgesPassBase<SinkDataFlowEdgesPass> {
  using SinkDataFlowEdgesPassBase::SinkDataFlowEdgesPassBase;

  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::DataFlowEdgeOp>())
      return markAllAnalysesPreserved();
    if (sinkShardingOrigins)
      sinkRecords(sdy::kShardingOriginsAttr, sdy::kResultShardingOriginsAttr,
                  sdy::kBlockArgShardingOriginsAttr);
    if (sinkPropagationEdges)
      sinkRecords(sdy::kPropagationEdgesAttr, sdy::kResultPropagationEdgesAttr,
                  sdy::kBlockArgPropagationEdgesAttr);
    getOperation().walk([](sdy::DataFlowEdgeOp edge) {
      Value owner = edge.getInput();
      if (sdy::TensorShardingAttr sharding = edge.getShardingAttr())
        sdy::setSharding(owner, sharding);
      edge.replaceAllUsesWith(owner);
      edge.erase();
    });
  }

private:
  void sinkRecords(StringRef name, StringRef resultsName,
                   StringRef argumentsName) {
    RecordsOfOps records;
    getOperation().walk([&](sdy::DataFlowEdgeOp edge) {
      Value owner = edge.getInput();
      auto argument = dyn_cast<BlockArgument>(owner);
      Records &ofOp = records[argument ? argument.getOwner()->getParentOp()
                                       : owner.getDefiningOp()];
      if (Attribute record = edge->getAttr(name))
        (argument ? ofOp.ofArguments : ofOp.ofResults).push_back(record);
    });
    Builder builder(&getContext());
    for (auto &[op, ofOp] : records) {
      op->setAttr(resultsName, builder.getArrayAttr(ofOp.ofResults));
      op->setAttr(argumentsName, builder.getArrayAttr(ofOp.ofArguments));
    }
  }
};
} // namespace

} // namespace shardonnay
