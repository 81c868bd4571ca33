//===- Fuzzing.h - what the fuzzers share -----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TEST_FUZZ_FUZZING_H
#define SHARDONNAY_TEST_FUZZ_FUZZING_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace fuzzing {

/// A context with these dialects. It keeps what it has seen, so there is a new
/// one now and then.
template <typename... DialectTs> mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned runs = 0;
  if (runs++ % 1000 == 0) {
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<DialectTs...>();
    context->printOpOnDiagnostic(false);
  }
  return *context;
}

/// Counts the errors of a context instead of printing them.
class Errors {
public:
  explicit Errors(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          count += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          // Formats what it holds, as a user would see it.
          static_cast<void>(diagnostic.str());
          return mlir::success();
        }) {}

  bool any() const { return count != 0; }

private:
  unsigned count = 0;
  mlir::ScopedDiagnosticHandler handler;
};

/// MLIR's lexer reads the zero behind a text: a copy has one, and none inside.
inline std::string toText(const uint8_t *data, size_t size) {
  return llvm::StringRef(reinterpret_cast<const char *>(data), size)
      .split('\0')
      .first.str();
}

template <typename T> std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// A finding, if it does not hold.
inline void require(bool holds, llvm::StringRef what, llvm::StringRef input) {
  if (holds)
    return;
  llvm::errs() << "fuzz: " << what << ":\n" << input << "\n";
  __builtin_trap();
}

} // namespace fuzzing

#endif // SHARDONNAY_TEST_FUZZ_FUZZING_H
