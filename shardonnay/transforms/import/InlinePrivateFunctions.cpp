//===- InlinePrivateFunctions.cpp - bodies in place of calls --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Of several public functions, make those private that another op than a
//    call names (the comparator of JAX's approx_max_k): they are no entries.
// 2. Order the functions, callees before callers: recursion is an error.
// 3. In that order, inline the calls of private functions in each, but those of
//    functions that are to be kept: what is inlined has no other calls left.
// 4. Erase private functions that nothing outside of them reaches.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/UnusedSymbols.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_INLINEPRIVATEFUNCTIONSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

class PrivateFunctionInliner {
public:
  PrivateFunctionInliner(ModuleOp module, int64_t keepSharedOf)
      : module(module), symbols(module), keepSharedOf(keepSharedOf) {}

  LogicalResult run(bool mayHaveCalls) {
    hideNamed();
    if (mayHaveCalls && failed(inlineAll()))
      return failure();
    // Globals that front ends put into every module (torch-mlir's seed) too.
    eraseUnusedSymbols(module, [](SymbolOpInterface symbol) {
      return !isa_and_present<sdy::SdyDialect>(symbol->getDialect());
    });
    return success();
  }

private:
  enum class State { New, Open, Done };

  void hideNamed();
  LogicalResult inlineAll();
  LogicalResult orderAfterCallees(func::FuncOp func);
  LogicalResult inlineCalls(func::FuncOp func);
  /// Asked once its own calls are inlined.
  bool isKept(func::FuncOp func);

  /// The private function with a body that `call` calls; null if it is another
  /// one.
  func::FuncOp getInlinable(func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    return callee && callee.isPrivate() && !callee.isExternal()
               ? callee
               : func::FuncOp();
  }

  ModuleOp module;
  SymbolTable symbols;
  int64_t keepSharedOf;
  llvm::DenseMap<Attribute, int64_t> calls;
  llvm::DenseSet<Operation *> kept;
  llvm::DenseMap<Operation *, State> states;
  SmallVector<func::FuncOp> order;
};

void PrivateFunctionInliner::hideNamed() {
  auto entries = llvm::to_vector(
      llvm::make_filter_range(module.getOps<func::FuncOp>(), [](auto func) {
        return func.isPublic() && !func.isExternal();
      }));
  // The uses are searched for in all attributes of the module.
  if (entries.size() < 2)
    return;
  for (func::FuncOp func : entries)
    if (auto uses = SymbolTable::getSymbolUses(func, module);
        uses && llvm::any_of(*uses, [](const SymbolTable::SymbolUse &use) {
          return !isa<func::CallOp>(use.getUser());
        }))
      func.setPrivate();
}

LogicalResult PrivateFunctionInliner::inlineAll() {
  module.walk([&](func::CallOp call) { ++calls[call.getCalleeAttr()]; });
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(orderAfterCallees(func)))
      return failure();
  for (func::FuncOp func : order) {
    if (failed(inlineCalls(func)))
      return failure();
    if (isKept(func))
      kept.insert(func);
  }
  return success();
}

LogicalResult PrivateFunctionInliner::orderAfterCallees(func::FuncOp func) {
  State &state = states[func];
  if (state != State::New)
    return success();
  state = State::Open;
  WalkResult walked = func.walk([&](func::CallOp call) {
    func::FuncOp callee = getInlinable(call);
    if (!callee)
      return WalkResult::advance();
    if (states.lookup(callee) == State::Open) {
      InFlightDiagnostic diag =
          call.emitError("recursive call of @")
          << call.getCallee()
          << ": calls are inlined, expected no recursion; write it as a loop";
      diag.attachNote(callee.getLoc()) << "the function that calls itself";
      return WalkResult::interrupt();
    }
    return WalkResult(orderAfterCallees(callee));
  });
  if (walked.wasInterrupted())
    return failure();
  // `state` may have moved: the walk above adds to the map.
  states[func] = State::Done;
  order.push_back(func);
  return success();
}

/// `value` under `sharding`, if there is one and it can be constrained.
Value constrain(OpBuilder &builder, Location loc, Value value,
                TensorShardingAttr sharding) {
  if (!sharding || !isa<RankedTensorType>(value.getType()))
    return value;
  return ShardingConstraintOp::create(builder, loc, value, sharding);
}

/// Clones the body of `callee` before `call` and returns what it returns.
SmallVector<Value> cloneBody(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  // A constraint without uses would constrain the operand itself: only
  // arguments in use get one.
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands()))
    mapping.map(argument, argument.use_empty()
                              ? operand
                              : constrain(builder, call.getLoc(), operand,
                                          getSharding(argument)));
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *clone) {
      clone->setLoc(CallSiteLoc::get(clone->getLoc(), call.getLoc()));
    });
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookup(value); });
}

void inlineCall(func::CallOp call, func::FuncOp callee) {
  SmallVector<Value> returned = cloneBody(call, callee);
  OpBuilder builder(call);
  for (auto [index, result] : llvm::enumerate(call.getResults())) {
    if (result.use_empty())
      continue;
    TensorShardingAttr ofCallee = getFuncResultSharding(callee, index);
    TensorShardingAttr ofCall = getSharding(result);
    Value value = constrain(builder, call.getLoc(), returned[index], ofCallee);
    if (ofCall != ofCallee)
      value = constrain(builder, call.getLoc(), value, ofCall);
    result.replaceAllUsesWith(value);
  }
  call.erase();
}

bool PrivateFunctionInliner::isKept(func::FuncOp func) {
  if (keepSharedOf <= 0 || !func.isPrivate() || func.isExternal() ||
      calls.lookup(FlatSymbolRefAttr::get(func.getSymNameAttr())) < 2)
    return false;
  int64_t size = 0;
  func.getBody().walk([&](Operation *) { ++size; });
  return size > keepSharedOf; // Its return does not count.
}

LogicalResult PrivateFunctionInliner::inlineCalls(func::FuncOp func) {
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    func::FuncOp callee = getInlinable(call);
    if (!callee || kept.contains(callee))
      continue;
    if (!callee.getBody().hasOneBlock()) {
      InFlightDiagnostic diag = call.emitError("cannot inline @")
                                << call.getCallee()
                                << ": expected a function of one block";
      diag.attachNote(callee.getLoc()) << "defined here";
      return diag;
    }
    inlineCall(call, callee);
  }
  return success();
}

struct InlinePrivateFunctionsPass
    : impl::InlinePrivateFunctionsPassBase<InlinePrivateFunctionsPass> {
  using InlinePrivateFunctionsPassBase::InlinePrivateFunctionsPassBase;

  void runOnOperation() override {
    forgetInside(getAnalysisManager(), getOperation());
    bool mayHaveCalls = getAnalysis<OpKinds>().mayHave<func::CallOp>();
    if (failed(PrivateFunctionInliner(getOperation(), keepSharedOf)
                   .run(mayHaveCalls)))
      return signalPassFailure();
    if (!mayHaveCalls)
      markAnalysesPreserved<OpKinds>();
  }
};

} // namespace
} // namespace shardonnay
