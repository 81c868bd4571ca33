//===- CallCounts.cpp - how often a function runs -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/CallCounts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace shardonnay {

namespace {
/// Callers before callees. Recursive calls, which import refuses, count once.
class CallOrder {
public:
  explicit CallOrder(ModuleOp module) : symbols(module) {
    for (auto func : module.getOps<func::FuncOp>())
      visit(func);
    std::reverse(order.begin(), order.end());
  }

  func::FuncOp calleeOf(func::CallOp call) const {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }
  ArrayRef<func::FuncOp> functions() const { return order; }

private:
  void visit(func::FuncOp func) {
    if (!seen.insert(func).second)
      return;
    func.walk([&](func::CallOp call) {
      if (func::FuncOp callee = calleeOf(call))
        visit(callee);
    });
    order.push_back(func);
  }

  SymbolTable symbols;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<func::FuncOp> order;
};
} // namespace

CallCounts::CallCounts(ModuleOp module) {
  CallOrder order(module);
  for (func::FuncOp func : order.functions()) {
    Counts own = counts.lookup(func);
    if (func.isPublic())
      own = {std::max<int64_t>(own.calls, 1),
             std::max<int64_t>(own.executed, 1)};
    counts[func] = own;
    func.walk([&](func::CallOp call) {
      func::FuncOp callee = order.calleeOf(call);
      if (!callee)
        return;
      Counts &of = counts[callee];
      of.calls += own.calls;
      of.executed =
          std::min(sdy::kMostTrips,
                   of.executed + own.executed * sdy::getTrips(call).count);
    });
  }
}

CallCounts::Counts CallCounts::find(Operation *op) const {
  auto func = dyn_cast<func::FuncOp>(op);
  if (!func)
    func = op->getParentOfType<func::FuncOp>();
  return func ? counts.lookup(func) : Counts{1, 1};
}

int64_t CallCounts::of(Operation *op) const { return find(op).calls; }

int64_t CallCounts::executed(Operation *op) const { return find(op).executed; }

} // namespace shardonnay
