//===- Groups.c - groups of devices and their communicators ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI_Comm_split is a call of all processes, but a program may come to a
// collective on some of them only (a branch inside a manual computation). So
// all communicators are made when a table is opened, in the table's order, and
// a call only looks one up.
//
//===----------------------------------------------------------------------===//

/* For nanosleep. */
#define _POSIX_C_SOURCE 200809L

#include "Runtime.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Noreturn void shardonnay_fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(stderr, "shardonnay: error: ");
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  fflush(stderr);
  va_end(values);
  /* A launcher that is told to abort may drop what it has not passed on yet. */
  nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static int this_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int64_t shardonnay_rank(void) { return this_rank(); }

/* What the payload of a group says. */
typedef struct {
  int64_t num_axes, num_ids, num_refs;
  const int64_t *sizes, *ids, *refs;
} Axes;

static Axes read_axes(const int64_t *payload) {
  Axes axes;
  axes.num_axes = payload[0];
  axes.sizes = payload + 1;
  axes.num_ids = axes.sizes[axes.num_axes];
  axes.ids = axes.sizes + axes.num_axes + 1;
  axes.num_refs = axes.ids[axes.num_ids];
  axes.refs = axes.ids + axes.num_ids + 1;
  return axes;
}

static int64_t num_devices(const Axes *axes) {
  int64_t product = 1;
  for (int64_t i = 0; i < axes->num_axes; ++i)
    product *= axes->sizes[i];
  return product;
}

static int64_t group_size(const Axes *axes) {
  int64_t product = 1;
  for (int64_t i = 0; i < axes->num_refs; ++i)
    product *= axes->refs[3 * i + 2];
  return product;
}

static int64_t position_of(const Axes *axes, int64_t device) {
  if (axes->num_ids == 0)
    return device;
  for (int64_t position = 0; position < axes->num_ids; ++position)
    if (axes->ids[position] == device)
      return position;
  shardonnay_fail("device %lld has no position in the mesh", (long long)device);
}

/* How far apart two positions are that differ by one along a reference. */
static int64_t stride_of(const Axes *axes, const int64_t *ref) {
  int64_t stride = axes->sizes[ref[0]] / (ref[1] * ref[2]);
  for (int64_t i = ref[0] + 1; i < axes->num_axes; ++i)
    stride *= axes->sizes[i];
  return stride;
}

/* The position's index along the references; in `rest` the position of the
   group's first member. */
static int64_t index_along(const Axes *axes, int64_t position, int64_t *rest) {
  int64_t index = 0;
  *rest = position;
  for (int64_t i = 0; i < axes->num_refs; ++i) {
    const int64_t *ref = axes->refs + 3 * i;
    int64_t stride = stride_of(axes, ref);
    int64_t coordinate = position / stride % ref[2];
    index = index * ref[2] + coordinate;
    *rest -= coordinate * stride;
  }
  return index;
}

int64_t shardonnay_index_of(const int64_t *payload, int64_t device) {
  Axes axes = read_axes(payload);
  int64_t rest;
  if (axes.num_refs == 0)
    return 0;
  return index_along(&axes, position_of(&axes, device), &rest);
}

/* By the address of their records, in order. */
static ShardonnayGroup *groups;
static int64_t num_groups, num_communicators;

int64_t shardonnay_num_communicators(void) { return num_communicators; }

/* The communicator of a record with the same words, from this table or another.
 */
static MPI_Comm find_communicator(const int64_t *payload, int64_t words) {
  for (int64_t i = 0; i < num_groups; ++i)
    if (groups[i].comm != MPI_COMM_NULL && groups[i].payload[-2] == words + 1 &&
        !memcmp(groups[i].payload, payload, (size_t)words * sizeof(int64_t)))
      return groups[i].comm;
  return MPI_COMM_NULL;
}

/* The devices of the group whose first member stands at `first`. */
static int64_t *find_members(const Axes *axes, int64_t first, int64_t size) {
  int64_t *members = shardonnay_allocate(size * (int64_t)sizeof(int64_t));
  for (int64_t device = 0; device < num_devices(axes); ++device) {
    int64_t rest;
    int64_t index = index_along(axes, position_of(axes, device), &rest);
    if (rest == first)
      members[index] = device;
  }
  return members;
}

static void add_group(const int64_t *payload, int64_t words, int communicates) {
  Axes axes = read_axes(payload);
  ShardonnayGroup group = {payload, MPI_COMM_NULL, group_size(&axes), 0, NULL};
  if (axes.num_refs > 0) {
    int64_t rest;
    group.index =
        index_along(&axes, position_of(&axes, shardonnay_rank()), &rest);
    if (communicates)
      group.comm = find_communicator(payload, words);
    if (communicates && group.comm == MPI_COMM_NULL) {
      MPI_Comm_split(MPI_COMM_WORLD, (int)rest, (int)group.index, &group.comm);
      ++num_communicators;
    }
    if (communicates)
      group.members = find_members(&axes, rest, group.size);
  }
  int64_t at = num_groups++;
  groups = realloc(groups, (size_t)num_groups * sizeof(ShardonnayGroup));
  if (!groups)
    shardonnay_fail("out of memory for %lld groups", (long long)num_groups);
  for (; at > 0 && groups[at - 1].payload > payload; --at)
    groups[at] = groups[at - 1];
  groups[at] = group;
}

void shardonnay_open(const int64_t *table) {
  for (int64_t at = 1; at < table[0]; at += 1 + table[at])
    if (table[at + 1] != SHARDONNAY_PERMUTE)
      add_group(table + at + 2, table[at] - 1,
                table[at + 1] == SHARDONNAY_GROUP);
}

const ShardonnayGroup *shardonnay_group(const int64_t *payload) {
  int64_t low = 0, high = num_groups;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (groups[middle].payload == payload)
      return &groups[middle];
    if (groups[middle].payload < payload)
      low = middle + 1;
    else
      high = middle;
  }
  shardonnay_fail("a call names a group of a table that was not opened");
}

int64_t shardonnay_index(const int64_t *group) {
  return shardonnay_group(group)->index;
}

void shardonnay_close(void) {
  for (int64_t i = 0; i < num_groups; ++i) {
    MPI_Comm comm = groups[i].comm;
    free(groups[i].members);
    if (comm == MPI_COMM_NULL)
      continue;
    for (int64_t j = i; j < num_groups; ++j)
      if (groups[j].comm == comm)
        groups[j].comm = MPI_COMM_NULL;
    MPI_Comm_free(&comm);
  }
  free(groups);
  groups = NULL;
  num_groups = num_communicators = 0;
  shardonnay_free_combiners();
}
