//===- Abi.h - between emitted code and the MPI runtime -----------*- C -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program that the compiler wrote calls, and what it defines. Nothing of
// MPI is in here: the runtime is compiled against the MPI that runs the
// program, the program is not. The compiler (shardonnay/mpi) includes this too.
//
// All arguments are 64 bits wide, addresses too. Tensors are contiguous, in
// row-major order, an element in as many bytes as MLIR stores it in.
//
// A program defines `shardonnay_table`, words of 64 bits:
//
//   table  = number of words of the table, this one included; record ...
//   record = number of words after this one; tag; payload
//   GROUP  = number of axes; their sizes; number of device ids (0: the rank is
//            the position); the ids; number of axis references; for each axis,
//            pre, size
//   INDEX  = as GROUP, and nothing is sent inside of it
//   PERMUTE = number of devices; for each the one that it sends to
//
// An axis reference is the part of `axis` of `size` that is behind a major
// part of size `pre`. The devices that differ along the references only form a
// group; a device's index in it counts along them, the first one major. Calls
// name a group by the address of its payload.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_RUNTIME_ABI_H
#define SHARDONNAY_MPI_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name, MLIR's spelling, bytes of an element in memory. */
#define SHARDONNAY_ELEMENTS(X)                                                 \
  X(I1, "i1", 1)                                                               \
  X(I2, "i2", 1)                                                               \
  X(I4, "i4", 1)                                                               \
  X(I8, "i8", 1)                                                               \
  X(I16, "i16", 2)                                                             \
  X(I32, "i32", 4)                                                             \
  X(I64, "i64", 8)                                                             \
  X(UI8, "ui8", 1)                                                             \
  X(UI16, "ui16", 2)                                                           \
  X(UI32, "ui32", 4)                                                           \
  X(UI64, "ui64", 8)                                                           \
  X(F8E3M4, "f8E3M4", 1)                                                       \
  X(F8E4M3, "f8E4M3", 1)                                                       \
  X(F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1)                                         \
  X(F8E4M3FN, "f8E4M3FN", 1)                                                   \
  X(F8E4M3FNUZ, "f8E4M3FNUZ", 1)                                               \
  X(F8E5M2, "f8E5M2", 1)                                                       \
  X(F8E5M2FNUZ, "f8E5M2FNUZ", 1)                                               \
  X(F8E8M0FNU, "f8E8M0FNU", 1)                                                 \
  X(BF16, "bf16", 2)                                                           \
  X(F16, "f16", 2)                                                             \
  X(F32, "f32", 4)                                                             \
  X(F64, "f64", 8)                                                             \
  X(C64, "complex<f32>", 8)                                                    \
  X(C128, "complex<f64>", 16)                                                  \
  X(INDEX, "index", 8)

enum ShardonnayElement {
#define SHARDONNAY_ELEMENT(name, spelling, bytes) SHARDONNAY_##name,
  SHARDONNAY_ELEMENTS(SHARDONNAY_ELEMENT)
#undef SHARDONNAY_ELEMENT
      SHARDONNAY_NUM_ELEMENTS
};

enum ShardonnayReduction { SHARDONNAY_SUM, SHARDONNAY_MAX, SHARDONNAY_MIN };

enum ShardonnayRecord {
  SHARDONNAY_GROUP,
  SHARDONNAY_INDEX_ONLY,
  SHARDONNAY_PERMUTE
};

// NOLINTBEGIN(readability-identifier-naming): names of C.
/* What emitted code calls. `n` is the size of the group. */

/* The running device, and its index in a group. */
int64_t shardonnay_rank(void);
int64_t shardonnay_index(const int64_t *group);

void shardonnay_all_reduce(const int64_t *group, int64_t reduction,
                           int64_t element, int64_t count, const void *from,
                           void *to);
/* [outer][inner] of each, as [outer][n][inner]. */
void shardonnay_all_gather(const int64_t *group, int64_t element, int64_t outer,
                           int64_t inner, const void *from, void *to);
/* [outer][n][inner] of each, as [outer][inner]. */
void shardonnay_reduce_scatter(const int64_t *group, int64_t reduction,
                               int64_t element, int64_t outer, int64_t inner,
                               const void *from, void *to);
/* Of [split_outer][n][split_inner] the i-th shard goes to device i; what comes,
   each shard as [concat_outer][concat_inner], is
   [concat_outer][n][concat_inner]. */
void shardonnay_all_to_all(const int64_t *group, int64_t element,
                           int64_t split_outer, int64_t split_inner,
                           int64_t concat_outer, int64_t concat_inner,
                           const void *from, void *to);
/* Each device sends all to one other, or to itself. */
void shardonnay_permute(const int64_t *targets, int64_t element, int64_t count,
                        const void *from, void *to);
/* spmd.fetch_window: of [outer][local_size][inner], whose device of index i in
   `group` has the positions from i * local_size on, the window of this device,
   [outer][size][inner], from start + step * (index in `windows`) on. `fill`, an
   element or null, is what is outside of 0 .. global_size - 1. Neither tensor
   is touched before shardonnay_await_windows, when the windows of all calls
   since the last are there. */
void shardonnay_fetch_window(const int64_t *group, const int64_t *windows,
                             int64_t element, int64_t outer, int64_t inner,
                             int64_t local_size, int64_t global_size,
                             int64_t start, int64_t step, int64_t size,
                             int64_t periodic, const void *fill,
                             const void *from, void *to);
void shardonnay_await_windows(void);
// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
}
#endif

#endif /* SHARDONNAY_MPI_RUNTIME_ABI_H */
