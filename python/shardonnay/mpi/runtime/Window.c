//===- Window.c - windows of a sharded dim --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is a run of positions; those that exist are in shards, one after the
// other. Each device knows all windows of its group, so it knows what it is to
// send: of the shards it holds, what of each window is in it. Nothing else is
// sent, everything at once. What several calls ask for is on its way together.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t outer, row; /* row: bytes of one position */
  int64_t local_size, global_size, start, step, size;
  int periodic;
} Problem;

/* Some positions of a window that are in one shard. */
typedef struct {
  int64_t shard;
  int64_t in_shard, in_window, count;
} Run;

/* The first run of a window at or behind position `at` of it, without those
   outside of the dim; of count 0 if there is none. */
static Run next_run(const Problem *problem, int64_t window, int64_t at) {
  int64_t first = problem->start + problem->step * window;
  Run run = {0, 0, at, 0};
  while (at < problem->size) {
    int64_t position = first + at;
    if (problem->periodic) {
      position %= problem->global_size;
      if (position < 0)
        position += problem->global_size;
    }
    if (position < 0) {
      at -= position;
      continue;
    }
    if (position >= problem->global_size)
      break;
    run.shard = position / problem->local_size;
    run.in_shard = position % problem->local_size;
    run.in_window = at;
    int64_t limit = (run.shard + 1) * problem->local_size;
    if (limit > problem->global_size)
      limit = problem->global_size;
    run.count = limit - position;
    if (run.count > problem->size - at)
      run.count = problem->size - at;
    break;
  }
  return run;
}

/* Copies `count` positions of each of the outer rows. */
static void copy_rows(const Problem *problem, const char *from,
                      int64_t from_size, int64_t from_at, char *to,
                      int64_t to_size, int64_t to_at, int64_t count) {
  for (int64_t i = 0; i < problem->outer; ++i)
    memcpy(to + (i * to_size + to_at) * problem->row,
           from + (i * from_size + from_at) * problem->row,
           (size_t)(count * problem->row));
}

/* Positions of the window that no run covers. */
static void fill_outside(const Problem *problem, int64_t window,
                         const void *fill, int64_t bytes, char *to) {
  int64_t at = 0;
  while (at < problem->size) {
    Run run = next_run(problem, window, at);
    int64_t limit = run.count > 0 ? run.in_window : problem->size;
    for (int64_t i = 0; i < problem->outer && limit > at; ++i) {
      char *row = to + (i * problem->size + at) * problem->row;
      int64_t length = (limit - at) * problem->row;
      if (!fill)
        memset(row, 0, (size_t)length);
      else
        for (int64_t k = 0; k < length; k += bytes)
          memcpy(row + k, fill, (size_t)bytes);
    }
    at = limit + run.count;
  }
}

/* What is on its way. */
typedef struct {
  MPI_Datatype block;
  char *packed; /* null if it goes from or into the tensor itself */
  char *to;     /* the tensor that a packed one is received for, or null */
  Problem problem;
  Run run;
} Message;

/* Of all calls since the last wait. */
static Message *messages;
static MPI_Request *requests;
static int num_messages, capacity;

static void add_message(Message message) {
  if (num_messages == capacity) {
    capacity = 2 * capacity + 8;
    messages = realloc(messages, (size_t)capacity * sizeof(Message));
    requests = realloc(requests, (size_t)capacity * sizeof(MPI_Request));
    if (!messages || !requests)
      shardonnay_fail("out of memory for messages");
  }
  messages[num_messages++] = message;
}

static void send_run(const Problem *problem, const ShardonnayGroup *group,
                     Run run, int64_t target, const char *from) {
  int64_t bytes = problem->outer * run.count * problem->row;
  Message message = {shardonnay_block(bytes), NULL, NULL, *problem, run};
  const char *data = from + run.in_shard * problem->row;
  if (problem->outer != 1) {
    data = message.packed = shardonnay_allocate(bytes);
    copy_rows(problem, from, problem->local_size, run.in_shard, message.packed,
              run.count, 0, run.count);
  }
  add_message(message);
  MPI_Isend(data, 1, message.block, (int)target, 0, group->comm,
            &requests[num_messages - 1]);
}

static void receive_run(const Problem *problem, const ShardonnayGroup *group,
                        Run run, char *to) {
  int64_t bytes = problem->outer * run.count * problem->row;
  Message message = {shardonnay_block(bytes), NULL, NULL, *problem, run};
  char *data = to + run.in_window * problem->row;
  if (problem->outer != 1) {
    data = message.packed = shardonnay_allocate(bytes);
    message.to = to;
  }
  add_message(message);
  MPI_Irecv(data, 1, message.block, (int)run.shard, 0, group->comm,
            &requests[num_messages - 1]);
}

void shardonnay_await_windows(void) {
  for (int i = 0; i < num_messages; ++i) {
    Message *message = &messages[i];
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Type_free(&message->block);
    if (message->to)
      copy_rows(&message->problem, message->packed, message->run.count, 0,
                message->to, message->problem.size, message->run.in_window,
                message->run.count);
    free(message->packed);
  }
  num_messages = 0;
}

void shardonnay_fetch_window(const int64_t *group, const int64_t *windows,
                             int64_t element, int64_t outer, int64_t inner,
                             int64_t local_size, int64_t global_size,
                             int64_t start, int64_t step, int64_t size,
                             int64_t periodic, const void *fill,
                             const void *from, void *to) {
  const ShardonnayGroup *found = shardonnay_group(group);
  int64_t bytes = shardonnay_element_bytes(element);
  Problem problem = {outer, inner * bytes, local_size, global_size,
                     start, step,          size,       periodic != 0};
  int64_t own = shardonnay_index(windows);
  for (int64_t at = 0; at < size;) {
    Run run = next_run(&problem, own, at);
    if (run.count == 0)
      break;
    at = run.in_window + run.count;
    if (run.shard == found->index)
      copy_rows(&problem, from, local_size, run.in_shard, to, size,
                run.in_window, run.count);
    else
      receive_run(&problem, found, run, to);
  }
  for (int64_t target = 0; target < found->size; ++target) {
    if (target == found->index)
      continue;
    int64_t window = shardonnay_index_of(windows, found->members[target]);
    for (int64_t at = 0; at < size;) {
      Run run = next_run(&problem, window, at);
      if (run.count == 0)
        break;
      at = run.in_window + run.count;
      if (run.shard == found->index)
        send_run(&problem, found, run, target, from);
    }
  }
  fill_outside(&problem, own, fill, bytes, to);
}
