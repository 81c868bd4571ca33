//===- Library.c - a program as a shared library --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a caller that has the arrays in memory: in every process
// shardonnay_start once, shardonnay_execute as often as it likes,
// shardonnay_stop at the end. MPI is started if the caller has not done so, and
// then ended too.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <stdlib.h>

static int is_ours;
/* What runs, once it is started. */
static const ShardonnayProgram *this;

void shardonnay_start(void) {
  int started, size;
  MPI_Initialized(&started);
  is_ours = !started;
  if (is_ours)
    MPI_Init(NULL, NULL);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  this = shardonnay_find();
  if (!this)
    shardonnay_fail("the program is for %s devices, got %d processes",
                    shardonnay_device_counts(), size);
  shardonnay_open(this->table);
}

/* `tensors`: of each input, then of each output, the local shard: contiguous,
   in row-major order. */
void shardonnay_execute(void *const *tensors) {
  int64_t count = this->num_inputs + this->num_outputs;
  int64_t **descriptors =
      shardonnay_allocate(count * (int64_t)sizeof(int64_t *));
  for (int64_t i = 0; i < count; ++i)
    descriptors[i] = shardonnay_describe(
        i < this->num_inputs ? &this->inputs[i]
                             : &this->outputs[i - this->num_inputs],
        tensors[i]);
  this->run(descriptors);
  for (int64_t i = 0; i < count; ++i)
    free(descriptors[i]);
  free(descriptors);
}

void shardonnay_stop(void) {
  shardonnay_close();
  if (is_ours)
    MPI_Finalize();
}
