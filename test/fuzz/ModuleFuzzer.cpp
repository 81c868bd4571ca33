//===- ModuleFuzzer.cpp - text of programs --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text gives a valid module or an error; what a module prints is read
// again, and prints the same.
//
//===----------------------------------------------------------------------===//

#include "Fuzzing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context =
      fuzzing::context<func::FuncDialect, sdy::SdyDialect, spmd::SpmdDialect,
                       stablehlo::StablehloDialect, chlo::ChloDialect>();
  fuzzing::Errors errors(context);
  std::string text = fuzzing::toText(data, size);
  auto module = parseSourceString<ModuleOp>(text, &context);
  fuzzing::require(module || errors.any(), "no module and no error", text);
  if (!module)
    return 0;
  std::string printed = fuzzing::print(*module);
  auto again = parseSourceString<ModuleOp>(printed, &context);
  fuzzing::require(bool(again), "not read again", printed);
  // A context numbers the names of resources that it has read before.
  if (!StringRef(printed).contains("dense_resource"))
    fuzzing::require(fuzzing::print(*again) == printed, "printed otherwise",
                     printed);
  return 0;
}
