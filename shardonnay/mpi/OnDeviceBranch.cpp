//===- OnDeviceBranch.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/mpi/OnDeviceBranch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace shardonnay {

void branchOnDevice(OpBuilder &builder, spmd::OnDeviceOp op, Value device) {
  Location loc = op.getLoc();
  Value number = arith::ConstantIndexOp::create(builder, loc, op.getDevice());
  Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       device, number);
  auto choice = scf::IfOp::create(builder, loc, op->getResultTypes(), isHere,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  Block &body = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(input);
  Operation *end = body.getTerminator();
  Block *here = choice.thenBlock();
  here->getOperations().splice(here->end(), body.getOperations(), body.begin(),
                               end->getIterator());
  builder.setInsertionPointToEnd(here);
  scf::YieldOp::create(builder, loc, end->getOperands());
  builder.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(builder, loc, op.getOtherwise());
  op->replaceAllUsesWith(choice->getResults());
  op->erase();
}

} // namespace shardonnay
