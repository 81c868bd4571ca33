//===- allocator.cpp - the module's memory --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C functions that allocate, as the linker hands them to this module's
// objects (`--wrap` in CMakeLists.txt): memory is mimalloc's, which puts ops
// that are made one after the other beside each other, also where others were
// erased before. docs/design/compile-time.md has the figures.
//
// Memory must come back to whom it is from. C++'s `new` and `delete` stay the
// process's, as libstdc++ calls them on our behalf and the other way round. Of
// the C library only what is listed here returns memory that is freed with
// `free`; test_allocator.py holds that against the module's imports.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <mimalloc.h>

// The linker's names: `f` is called as `__wrap_f`, and `__real_f` is f itself.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

void __real_free(void *memory);
char *__real___cxa_demangle(const char *name, char *buffer, size_t *length,
                            int *status);

void *__wrap_malloc(size_t size) { return mi_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
  return mi_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  return mi_realloc(memory, size);
}

void __wrap_free(void *memory) { mi_free(memory); }

char *__wrap_strdup(const char *text) { return mi_strdup(text); }

char *__wrap_realpath(const char *path, char *resolved) {
  return mi_realpath(path, resolved);
}

/// Nobody here passes a buffer, which libstdc++ would have to enlarge.
char *__wrap___cxa_demangle(const char *name, char *, size_t *, int *status) {
  char *demangled = __real___cxa_demangle(name, nullptr, nullptr, status);
  char *copy = demangled ? mi_strdup(demangled) : nullptr;
  __real_free(demangled);
  return copy;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
