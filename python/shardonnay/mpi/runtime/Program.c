//===- Program.c - which program runs -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program whose mesh has axes without sizes is compiled for several numbers
// of devices; the number of processes says which one is meant.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <stdio.h>

const ShardonnayProgram *shardonnay_find(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; shardonnay_programs[i]; ++i)
    if (shardonnay_programs[i]->num_devices == size)
      return shardonnay_programs[i];
  return NULL;
}

const char *shardonnay_device_counts(void) {
  static char text[512];
  size_t length = 0;
  for (size_t i = 0; shardonnay_programs[i] && length < sizeof(text); ++i)
    length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%lld",
                               i ? ", " : "",
                               (long long)shardonnay_programs[i]->num_devices);
  return text;
}
