//===- allocator.cpp - the module's memory --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is mimalloc's, which puts ops that are made one after the other beside
// each other, also where others were erased before; docs/design/compile-time.md
// has the figures. The C functions that allocate are handed to this module's
// objects by the linker (`--wrap` in CMakeLists.txt). C++'s `new` and `delete`
// are this module's own: mimalloc-new-delete.h defines them, and the libstdc++
// in this module calls them.
//
// Memory must come back to whom it is from. Of the C library only what is
// listed here returns memory that is freed with `free`; test_allocator.py holds
// that against the module's imports.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <mimalloc-new-delete.h>

// The linker's names: `f` is called as `__wrap_f`.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

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

} // extern "C"
// NOLINTEND(readability-identifier-naming)
