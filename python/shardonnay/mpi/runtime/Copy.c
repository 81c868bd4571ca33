//===- Copy.c - copies between strided buffers ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's lowering of memref.copy calls this function, by this name, where one
// of the buffers is not contiguous.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <string.h>

/* As MLIR passes a buffer of any rank: a descriptor is base, aligned base,
   offset, sizes, strides. */
typedef struct {
  int64_t rank;
  int64_t *descriptor;
} Buffer;

static char *start_of(const Buffer *buffer, int64_t bytes) {
  return (char *)(intptr_t)buffer->descriptor[1] +
         buffer->descriptor[2] * bytes;
}

static void copy_dims(char *to, const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, const int64_t *sizes,
                      int64_t rank, int64_t bytes) {
  if (rank == 0) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  if (rank == 1 && to_strides[0] == 1 && from_strides[0] == 1) {
    memcpy(to, from, (size_t)(sizes[0] * bytes));
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copy_dims(to + i * to_strides[0] * bytes, to_strides + 1,
              from + i * from_strides[0] * bytes, from_strides + 1, sizes + 1,
              rank - 1, bytes);
}

void memrefCopy(int64_t bytes, const Buffer *from, const Buffer *to) {
  int64_t rank = from->rank;
  const int64_t *sizes = from->descriptor + 3;
  copy_dims(start_of(to, bytes), to->descriptor + 3 + rank,
            start_of(from, bytes), sizes + rank, sizes, rank, bytes);
}
