//===- Collectives.c - what emitted code calls ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI joins and divides along the outermost dim. Along another dim the shards
// are put behind each other first, or afterwards. A shard of any size is one
// element of a datatype of its own, so that no count is large; reductions,
// which need elements, go in as many calls as there are counts.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <stdlib.h>
#include <string.h>

void *shardonnay_allocate(int64_t bytes) {
  void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (!memory)
    shardonnay_fail("out of memory for %lld bytes", (long long)bytes);
  return memory;
}

void shardonnay_transpose(const void *from, void *to, int64_t outer,
                          int64_t count, int64_t inner) {
  const char *source = from;
  char *target = to;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0; k < count; ++k)
      memcpy(target + (k * outer + i) * inner, source + (i * count + k) * inner,
             (size_t)inner);
}

/* The most elements of a call, and of `n` blocks of one call. */
static int64_t most_counted(int64_t blocks) {
  int64_t most = SHARDONNAY_MOST_COUNTED / blocks;
  return most > 0 ? most : 1;
}

void shardonnay_all_reduce(const int64_t *group, int64_t reduction,
                           int64_t element, int64_t count, const void *from,
                           void *to) {
  const ShardonnayGroup *found = shardonnay_group(group);
  int64_t bytes = shardonnay_element_bytes(element);
  if (found->comm == MPI_COMM_NULL) {
    memcpy(to, from, (size_t)(count * bytes));
    return;
  }
  ShardonnayCombiner combiner = shardonnay_combiner(reduction, element);
  for (int64_t at = 0; at < count; at += SHARDONNAY_MOST_COUNTED) {
    int64_t some = count - at < SHARDONNAY_MOST_COUNTED
                       ? count - at
                       : SHARDONNAY_MOST_COUNTED;
    MPI_Allreduce((const char *)from + at * bytes, (char *)to + at * bytes,
                  (int)some, combiner.type, combiner.op, found->comm);
  }
}

void shardonnay_all_gather(const int64_t *group, int64_t element, int64_t outer,
                           int64_t inner, const void *from, void *to) {
  const ShardonnayGroup *found = shardonnay_group(group);
  int64_t row = inner * shardonnay_element_bytes(element);
  if (found->comm == MPI_COMM_NULL) {
    memcpy(to, from, (size_t)(outer * row));
    return;
  }
  void *joined =
      outer == 1 ? to : shardonnay_allocate(found->size * outer * row);
  MPI_Datatype block = shardonnay_block(outer * row);
  MPI_Allgather(from, 1, block, joined, 1, block, found->comm);
  MPI_Type_free(&block);
  if (outer == 1)
    return;
  /* [n][outer][inner] as [outer][n][inner]. */
  shardonnay_transpose(joined, to, found->size, outer, row);
  free(joined);
}

/* One call for as many elements of every shard as can be counted: the shards
   are `count` apart in `from`. */
static void reduce_scatter(const ShardonnayGroup *group,
                           ShardonnayCombiner combiner, int64_t bytes,
                           int64_t count, const char *from, char *to) {
  int64_t most = most_counted(group->size);
  if (count <= most) {
    MPI_Reduce_scatter_block(from, to, (int)count, combiner.type, combiner.op,
                             group->comm);
    return;
  }
  char *some = shardonnay_allocate(group->size * most * bytes);
  for (int64_t at = 0; at < count; at += most) {
    int64_t now = count - at < most ? count - at : most;
    for (int64_t k = 0; k < group->size; ++k)
      memcpy(some + k * now * bytes, from + (k * count + at) * bytes,
             (size_t)(now * bytes));
    MPI_Reduce_scatter_block(some, to + at * bytes, (int)now, combiner.type,
                             combiner.op, group->comm);
  }
  free(some);
}

void shardonnay_reduce_scatter(const int64_t *group, int64_t reduction,
                               int64_t element, int64_t outer, int64_t inner,
                               const void *from, void *to) {
  const ShardonnayGroup *found = shardonnay_group(group);
  int64_t bytes = shardonnay_element_bytes(element);
  int64_t count = outer * inner;
  if (found->comm == MPI_COMM_NULL) {
    memcpy(to, from, (size_t)(count * bytes));
    return;
  }
  ShardonnayCombiner combiner = shardonnay_combiner(reduction, element);
  if (outer == 1) {
    reduce_scatter(found, combiner, bytes, count, from, to);
    return;
  }
  char *shards = shardonnay_allocate(found->size * count * bytes);
  shardonnay_transpose(from, shards, outer, found->size, inner * bytes);
  reduce_scatter(found, combiner, bytes, count, shards, to);
  free(shards);
}

void shardonnay_all_to_all(const int64_t *group, int64_t element,
                           int64_t split_outer, int64_t split_inner,
                           int64_t concat_outer, int64_t concat_inner,
                           const void *from, void *to) {
  const ShardonnayGroup *found = shardonnay_group(group);
  int64_t bytes = shardonnay_element_bytes(element);
  int64_t shard = split_outer * split_inner * bytes;
  if (found->comm == MPI_COMM_NULL) {
    memcpy(to, from, (size_t)shard);
    return;
  }
  const void *shards = from;
  void *packed = NULL, *received = to;
  if (split_outer != 1) {
    shards = packed = shardonnay_allocate(found->size * shard);
    shardonnay_transpose(from, packed, split_outer, found->size,
                         split_inner * bytes);
  }
  if (concat_outer != 1)
    received = shardonnay_allocate(found->size * shard);
  MPI_Datatype block = shardonnay_block(shard);
  MPI_Alltoall(shards, 1, block, received, 1, block, found->comm);
  MPI_Type_free(&block);
  free(packed);
  if (concat_outer == 1)
    return;
  shardonnay_transpose(received, to, found->size, concat_outer,
                       concat_inner * bytes);
  free(received);
}

void shardonnay_permute(const int64_t *targets, int64_t element, int64_t count,
                        const void *from, void *to) {
  int64_t rank = shardonnay_rank(), target = targets[1 + rank], source = 0;
  while (targets[1 + source] != rank)
    if (++source == targets[0])
      shardonnay_fail("nobody sends to device %lld", (long long)rank);
  int64_t bytes = count * shardonnay_element_bytes(element);
  if (target == rank) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  MPI_Datatype block = shardonnay_block(bytes);
  MPI_Sendrecv(from, 1, block, (int)target, 0, to, 1, block, (int)source, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&block);
}
