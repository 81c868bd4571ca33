//===- OwnMemory.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/OwnMemory.h"
#include "mlir/IR/Diagnostics.h"
#include <pthread.h>

using namespace mlir;

namespace shardonnay {

static bool isLarge(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
    return llvm::any_of(func.getBody(), [](Block &block) {
      return llvm::hasNItemsOrMore(block, 1 << 16);
    });
  });
}

static void runInThread(MLIRContext *context, llvm::function_ref<void()> run) {
  ParallelDiagnosticHandler diagnostics(context);
  auto runHere = [&] {
    diagnostics.setOrderIDForThread(0);
    run();
    diagnostics.eraseOrderIDForThread();
  };
  auto start = [](void *function) -> void * {
    (*static_cast<decltype(runHere) *>(function))();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, /*attr=*/nullptr, start, &runHere) != 0)
    return run();
  pthread_join(thread, /*retval=*/nullptr);
}

LogicalResult
remakeInOwnMemory(ModuleOp module,
                  llvm::function_ref<LogicalResult(func::FuncOp)> remake) {
  LogicalResult result = success();
  auto remakeAll = [&] {
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(result = remake(func)))
        return;
  };
  if (isLarge(module))
    runInThread(module.getContext(), remakeAll);
  else
    remakeAll();
  return result;
}

} // namespace shardonnay
