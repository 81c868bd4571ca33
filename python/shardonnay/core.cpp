//===- core.cpp - the compiler as a Python module -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text in, text out: no MLIR object crosses into Python, where other copies of
// MLIR live. compiler.py gives this its Python shape.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Compile.h"
#include "llvm/Support/FormatVariadic.h"
#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace shardonnay;

/// What is no UTF-8 (a message may quote any input) becomes U+FFFD.
static nb::str toStr(llvm::StringRef text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), text.size(), "replace"));
}

static nb::str toJson(const llvm::json::Value &value) {
  return toStr(llvm::formatv("{0}", value).str());
}

static nb::tuple stages() {
  nb::list names;
  for (Stage stage : allStages())
    names.append(toStr(toString(stage)));
  return nb::tuple(names);
}

/// (ok, text, manifest JSON, report JSON, [(severity, location, message)])
static nb::tuple compileText(nb::object text, const char *to,
                             bool noImplicitReplication, bool strict,
                             bool debugInfo, const char *deviceModel,
                             bool wholeArguments, bool wholeResults,
                             bool bucketing, int64_t keepFunctionsOf,
                             double timeLimit, int64_t hostMemoryLimit,
                             int64_t memoryLimit, const char *searchMode,
                             bool keepPropagated, const char *name) {
  CompileOptions options;
  options.toStage = parseStage(to);
  if (!options.toStage)
    throw nb::value_error("unknown stage");
  options.pipeline.noImplicitReplication = noImplicitReplication;
  options.pipeline.strict = strict;
  options.pipeline.deviceModel = deviceModel;
  options.pipeline.boundary = {wholeArguments, wholeResults};
  options.pipeline.bucketing = bucketing;
  options.pipeline.keepFunctionsOf = keepFunctionsOf;
  options.limits = {timeLimit, hostMemoryLimit};
  options.pipeline.memoryLimit = memoryLimit;
  options.pipeline.searchMode = searchMode;
  options.pipeline.keepPropagated = keepPropagated;
  options.debugInfo = debugInfo;
  nb::bytes input = nb::isinstance<nb::bytes>(text)
                        ? nb::cast<nb::bytes>(text)
                        : nb::cast<nb::bytes>(text.attr("encode")());
  CompileResult result;
  {
    // The input outlives the call; other Python threads may run.
    nb::gil_scoped_release release;
    result =
        compile(llvm::StringRef(input.c_str(), input.size()), options, name);
  }
  nb::list diagnostics;
  for (const CompileDiagnostic &diagnostic : result.diagnostics)
    diagnostics.append(nb::make_tuple(toStr(diagnostic.severity),
                                      toStr(diagnostic.location),
                                      toStr(diagnostic.message)));
  return nb::make_tuple(result.ok, toStr(result.text), toJson(result.manifest),
                        toJson(result.report), diagnostics);
}

/// (ok, explanation JSON, [(severity, location, message)])
static nb::tuple explainText(nb::object text, const char *name) {
  nb::bytes input = nb::isinstance<nb::bytes>(text)
                        ? nb::cast<nb::bytes>(text)
                        : nb::cast<nb::bytes>(text.attr("encode")());
  CompileResult result =
      explain(llvm::StringRef(input.c_str(), input.size()), name);
  nb::list diagnostics;
  for (const CompileDiagnostic &diagnostic : result.diagnostics)
    diagnostics.append(nb::make_tuple(toStr(diagnostic.severity),
                                      toStr(diagnostic.location),
                                      toStr(diagnostic.message)));
  return nb::make_tuple(result.ok, toJson(result.report), diagnostics);
}

NB_MODULE(_core, module) { // NOLINT(readability-identifier-naming): a macro
  module.def("stages", stages);
  module.def("compile", compileText);
  module.def("explain", explainText);
}
