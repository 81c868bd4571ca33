//===- ReadInitsAsInputs.cpp - generics that read what they write to ------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR 22's fusion of elementwise ops puts a generic without reductions into
// one that has more loops. If its result has other uses, or its body reads the
// tensor that it writes to, the result stays one of the fused op, which
// computes it anew for each step of the loops more. That changes nothing unless
// it reads what the last step wrote. So here nothing is read there.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/mpi/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_READINITSASINPUTSPASS
#include "shardonnay/mpi/Passes.h.inc"

namespace {

/// Makes `op` read its init number `index` as its last input.
void readAsInput(linalg::GenericOp op, int64_t index) {
  OpOperand &init = op.getDpsInitsMutable()[index];
  Value value = init.get();
  int64_t numInputs = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + numInputs, op.getMatchingIndexingMap(&init));
  BlockArgument written = op.getMatchingBlockArgument(&init);
  BlockArgument read = op.getBody()->insertArgument(
      numInputs, written.getType(), written.getLoc());
  written.replaceAllUsesWith(read);

  OpBuilder builder(op);
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  op.getInputsMutable().append(value);
  auto type = cast<RankedTensorType>(value.getType());
  op.getDpsInitsMutable()[index].set(tensor::EmptyOp::create(
      builder, op.getLoc(), type.getShape(), type.getElementType()));
}

/// Each element of `init` is written to; not so of a diagonal.
bool isWrittenWhole(linalg::GenericOp op, OpOperand &init) {
  auto type = cast<RankedTensorType>(init.get().getType());
  int64_t steps = 1;
  for (int64_t size : op.getStaticLoopRanges())
    steps *= size;
  return op.getMatchingIndexingMap(&init).isProjectedPermutation(
             /*allowZeroInResults=*/true) &&
         steps == type.getNumElements();
}

struct ReadInitsAsInputsPass
    : impl::ReadInitsAsInputsPassBase<ReadInitsAsInputsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<linalg::GenericOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics() ||
          op.getNumParallelLoops() != op.getNumLoops())
        return;
      for (int64_t i = 0, e = op.getNumDpsInits(); i < e; ++i)
        if (OpOperand &init = op.getDpsInitsMutable()[i];
            op.payloadUsesValueFromOperand(&init) && isWrittenWhole(op, init))
          readAsInput(op, i);
    });
  }
};

} // namespace
} // namespace shardonnay
