//===- ChildProcess.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/ChildProcess.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardonnay {

namespace {

void limit(int resource, uint64_t most) {
  rlimit value{most, most};
  setrlimit(resource, &value);
}

void setLimits(const ChildLimits &limits) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.seconds);
  // Another thread may have held a lock that nobody here releases.
  alarm(static_cast<unsigned>(10 * limits.seconds));
#if !LLVM_ADDRESS_SANITIZER_BUILD
  uint64_t pages = 0;
  if (std::ifstream("/proc/self/statm") >> pages)
    limit(RLIMIT_AS, pages * sysconf(_SC_PAGESIZE) + limits.bytes);
#endif
}

/// A crash is expected, so nobody is told of it.
void setQuiet() {
  for (int signal : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP,
                     SIGXCPU, SIGPIPE})
    std::signal(signal, SIG_DFL);
  int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

std::string readAll(int file) {
  std::string text;
  char buffer[1 << 14];
  while (true) {
    ssize_t count = llvm::sys::RetryAfterSignal(
        -1, [&] { return read(file, buffer, sizeof(buffer)); });
    if (count <= 0)
      return text;
    text.append(buffer, count);
  }
}

} // namespace

std::optional<std::string>
runInChild(llvm::function_ref<void(llvm::raw_ostream &)> work,
           ChildLimits limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    setQuiet();
    setLimits(limits);
    {
      llvm::raw_fd_ostream os(ends[1], /*shouldClose=*/true);
      work(os);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text = child > 0 ? readAll(ends[0]) : "";
  close(ends[0]);
  int status = 0;
  bool ended =
      child > 0 && llvm::sys::RetryAfterSignal(-1, ::waitpid, child, &status,
                                               /*options=*/0) == child;
  if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return text;
}

} // namespace shardonnay
