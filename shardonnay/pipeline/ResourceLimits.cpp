//===- ResourceLimits.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/ResourceLimits.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include <fstream>
#include <unistd.h>

using namespace mlir;

namespace shardonnay {

/// What the process holds in memory now; 0 where the system does not say.
static int64_t residentMegabytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  if (!(file >> total >> resident))
    return 0;
  return (resident * sysconf(_SC_PAGESIZE)) >> 20;
}

ResourceGuard::ResourceGuard(MLIRContext &context, ResourceLimits limits)
    : context(context), limits(limits),
      start(std::chrono::steady_clock::now()) {
  if (limits.seconds <= 0 && limits.megabytes <= 0)
    return;
  context.registerActionHandler(
      [this](llvm::function_ref<void()> run, const tracing::Action &action) {
        const auto *execution = llvm::dyn_cast<PassExecutionAction>(&action);
        if (!execution)
          return run();
        if (excess)
          return;
        // A pass on functions runs inside of one on the module without a name.
        Operation *op = execution->getOp();
        std::string name = execution->getPass().getArgument().str();
        double before = elapsed();
        run();
        if (!excess && !name.empty())
          check(op, name, elapsed() - before);
      });
}

ResourceGuard::~ResourceGuard() { context.registerActionHandler(nullptr); }

double ResourceGuard::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

LogicalResult ResourceGuard::finish() const {
  if (excess)
    return emitError(excess->loc) << excess->error;
  return success();
}

void ResourceGuard::check(Operation *op, llvm::StringRef pass,
                          double passSeconds) {
  std::string error;
  llvm::raw_string_ostream os(error);
  auto seconds = [](double value) { return llvm::format("%.3g", value); };
  int64_t used = limits.megabytes > 0 ? residentMegabytes() : 0;
  if (limits.seconds > 0 && elapsed() > limits.seconds)
    os << "the time limit of " << seconds(limits.seconds)
       << " s is exceeded after pass '" << pass << "', which took "
       << seconds(passSeconds) << " s";
  else if (used > limits.megabytes)
    os << "the memory limit of " << limits.megabytes
       << " MiB is exceeded after pass '" << pass << "': " << used
       << " MiB are in use";
  else
    return;
  os << "; raise the limit, or compile a smaller program";
  excess = Excess{op->getLoc(), std::move(error)};
}

} // namespace shardonnay
