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

#include "call_cache.h"
#include "shardonnay/pipeline/BoolElements.h"
#include "shardonnay/pipeline/Compile.h"
#include "llvm/ADT/ScopeExit.h"
#include <map>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

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
    // The object has no order of its own.
    std::map<llvm::StringRef, const llvm::json::Value *> sorted;
    for (const auto &[key, entry] : *value.getAsObject())
      sorted[key] = &entry;
    for (const auto &[key, entry] : sorted)
      entries[toStr(key)] = toPython(*entry);
    return entries;
  }
  }
  llvm_unreachable("no such kind of JSON");
}

/// The same of a large value: no collection looks for garbage among what is
/// made, again and again; that took as long as making it.
static nb::object toPythonAtOnce(const llvm::json::Value &value) {
  bool wasEnabled = PyGC_Disable();
  llvm::scope_exit enable([&] {
    if (wasEnabled)
      PyGC_Enable();
  });
  return toPython(value);
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

/// A name as Python has it: "memory_limit".
static std::string toIdentifier(const OptionInfo &option) {
  std::string name = option.name.str();
  llvm::replace(name, '-', '_');
  return name;
}

/// A row of Options.def: (name, default, value, choices, help); the type is the
/// default's.
static nb::tuple toPython(const OptionInfo &option) {
  const Options defaults;
  nb::object initial = std::visit(
      [&](auto field) { return nb::cast(defaults.*field); }, option.field);
  nb::list choices;
  for (llvm::StringRef choice : option.choices())
    choices.append(toStr(choice));
  return nb::make_tuple(toIdentifier(option), initial, toStr(option.value),
                        nb::tuple(choices), toStr(option.help));
}

static nb::tuple listOptions() {
  nb::list all;
  for (const OptionInfo &option : allOptions())
    all.append(toPython(option));
  return nb::tuple(all);
}

/// What a value of the option is, for an error.
static std::string kindOf(const OptionInfo &option) {
  return std::visit(
      [&](auto field) -> std::string {
        using Kind = std::remove_reference_t<decltype(Options().*field)>;
        if constexpr (std::is_same_v<Kind, bool>)
          return "True or False";
        else if constexpr (std::is_integral_v<Kind>)
          return option.value == "BYTES" ? "a number of bytes below 2^63"
                                         : "a whole number below 2^63";
        else
          return std::is_floating_point_v<Kind> ? "a number" : "a text";
      },
      option.field);
}

static void setOption(Options &options, const std::string &name,
                      const nb::object &value) {
  const auto *option = llvm::find_if(allOptions(), [&](const OptionInfo &each) {
    return toIdentifier(each) == name;
  });
  if (option == allOptions().end())
    throw nb::type_error(("there is no option '" + name + "'").c_str());
  std::visit(
      [&](auto field) {
        auto &place = options.*field;
        if (!nb::try_cast(value, place))
          throw nb::type_error((name + ": expected " + kindOf(*option) +
                                ", got " +
                                nb::cast<std::string>(nb::repr(value)))
                                   .c_str());
      },
      option->field);
  if (std::string mistake = findMistake(*option, options); !mistake.empty())
    throw nb::value_error((name + ": " + mistake).c_str());
}

/// Raises TypeError or ValueError if there is no such option or value.
static void checkOption(const std::string &name, const nb::object &value) {
  Options options;
  setOption(options, name, value);
}

static CompileOptions readOptions(const nb::dict &values) {
  CompileOptions options;
  for (auto [option, value] : values)
    setOption(options, nb::cast<std::string>(option),
              nb::borrow<nb::object>(value));
  return options;
}

/// Calls `progress`, if there is one, with the name of each stage before it
/// runs; lets Python handle signals there. What they raise is raised here once
/// the compiler has come back.
static CompileResult compileText(const nb::object &text, const nb::dict &values,
                                 const char *name, const nb::object &progress) {
  CompileOptions options = readOptions(values);
  std::exception_ptr raised;
  options.goesOn = [&](Stage stage) {
    nb::gil_scoped_acquire acquire;
    try {
      if (!progress.is_none())
        progress(toStr(toString(stage)));
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
    } catch (...) {
      raised = std::current_exception();
    }
    return !raised;
  };
  nb::bytes input = toBytes(text);
  CompileResult result;
  {
    // The input outlives the call; other Python threads may run.
    nb::gil_scoped_release release;
    result =
        compile(llvm::StringRef(input.c_str(), input.size()), options, name);
  }
  if (raised)
    std::rethrow_exception(raised);
  return result;
}

static CompileResult explainText(const nb::object &text, const nb::dict &values,
                                 const char *name) {
  CompileOptions options = readOptions(values);
  nb::bytes input = toBytes(text);
  nb::gil_scoped_release release;
  return explain(llvm::StringRef(input.c_str(), input.size()), options, name);
}

/// What `function` makes of a text, which Python names `name`.
template <auto function>
static CompileResult applyToText(const nb::object &text, const char *name) {
  nb::bytes input = toBytes(text);
  nb::gil_scoped_release release;
  return function(llvm::StringRef(input.c_str(), input.size()), name);
}

NB_MODULE(_core, module) { // NOLINT(readability-identifier-naming): a macro
  // JAX's caches hold functions until the process ends.
  nb::set_leak_warnings(false);
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
             return result.manifest ? toPythonAtOnce(result.manifest->toJson())
                                    : nb::none();
           })
      .def("report", [](const CompileResult &result) {
        return toPythonAtOnce(result.report);
      });
  module.def("options", listOptions);
  module.def("check_option", checkOption, nb::arg(), nb::arg().none());
  module.def("compile", compileText, nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none());
  module.def("unpartitioned", applyToText<unpartitioned>);
  module.def("unpack_bool_elements", [](std::string text) {
    unpackBoolElements(text);
    return text;
  });
  module.def("explain", explainText);
  module.def("list", applyToText<list>);
  defineCallCache(module);
}
