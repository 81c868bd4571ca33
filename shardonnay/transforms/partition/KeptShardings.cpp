//===- KeptShardings.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/KeptShardings.h"

#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"

using namespace mlir;

namespace shardonnay {

void keepShardings(Operation *op, ValueRange operands, ValueRange local) {
  auto shardings =
      op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::kShardingAttr);
  if (!shardings || local.empty())
    return;
  Operation *made = local.front().getDefiningOp();
  if (!made || !llvm::equal(made->getResults(), local) ||
      isa<spmd::SpmdDialect>(made->getDialect()) ||
      llvm::is_contained(operands, local.front()))
    return;
  made->setAttr(sdy::kShardingAttr, shardings);
}

} // namespace shardonnay
