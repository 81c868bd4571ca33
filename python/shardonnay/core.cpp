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
#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace shardonnay;

/// What is no UTF-8 (a message may quote any input) becomes U+FFFD.
static nb::str toStr(llvm::StringRef text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), text.size(), "replace"));
}

/// What json.loads makes of the value's text.
static nb::object toPython(const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::Null:
    return nb::none();
  case llvm::json::Value::Boolean:
    return nb::bool_(*value.getAsBoolean());
  case llvm::json::Value::Number:
    if (std::optional<int64_t> integer = value.getAsInteger())
      return nb::int_(*integer);
    return nb::float_(*value.getAsNumber());
  case llvm::json::Value::String:
    return toStr(*value.getAsString());
  case llvm::json::Value::Array: {
    nb::list items;
    for (const llvm::json::Value &item : *value.getAsArray())
      items.append(toPython(item));
    return items;
  }
  case llvm::json::Value::Object: {
    nb::dict entries;
    for (const auto &[key, entry] : *value.getAsObject())
      entries[toStr(key)] = toPython(entry);
    return entries;
  }
  }
  llvm_unreachable("no such kind of JSON");
}

static nb::list toPython(const std::vector<CompileDiagnostic> &diagnostics) {
  nb::list all;
  for (const CompileDiagnostic &diagnostic : diagnostics)
    all.append(nb::make_tuple(toStr(diagnostic.severity),
                              toStr(diagnostic.location),
                              toStr(diagnostic.message)));
  return all;
}

static nb::bytes toBytes(const nb::object &text) {
  return nb::isinstance<nb::bytes>(text)
             ? nb::cast<nb::bytes>(text)
             : nb::cast<nb::bytes>(text.attr("encode")());
}

static nb::tuple stages() {
  nb::list names;
  for (Stage stage : allStages())
    names.append(toStr(toString(stage)));
  return nb::tuple(names);
}

static CompileResult
compileText(const nb::object &text, const char *to, bool noImplicitReplication,
            bool strict, bool debugInfo, const char *deviceModel,
            bool wholeArguments, bool wholeResults, bool bucketing,
            int64_t keepFunctionsOf, double timeLimit, int64_t hostMemoryLimit,
            int64_t memoryLimit, const char *searchMode, bool keepPropagated,
            bool report, const char *name) {
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
  options.report = report;
  nb::bytes input = toBytes(text);
  // The input outlives the call; other Python threads may run.
  nb::gil_scoped_release release;
  return compile(llvm::StringRef(input.c_str(), input.size()), options, name);
}

static CompileResult explainText(const nb::object &text, const char *name) {
  nb::bytes input = toBytes(text);
  nb::gil_scoped_release release;
  return explain(llvm::StringRef(input.c_str(), input.size()), name);
}

NB_MODULE(_core, module) { // NOLINT(readability-identifier-naming): a macro
  nb::class_<CompileResult>(module, "Result")
      .def_ro("ok", &CompileResult::ok)
      .def_prop_ro(
          "text",
          [](const CompileResult &result) { return toStr(result.text); })
      .def_prop_ro("diagnostics",
                   [](const CompileResult &result) {
                     return toPython(result.diagnostics);
                   })
      .def("manifest",
           [](const CompileResult &result) {
             return result.manifest ? toPython(result.manifest->toJson())
                                    : nb::none();
           })
      .def("report",
           [](const CompileResult &result) { return toPython(result.report); });
  module.def("stages", stages);
  module.def("compile", compileText);
  module.def("explain", explainText);
}
