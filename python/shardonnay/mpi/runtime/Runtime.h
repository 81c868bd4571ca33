//===- Runtime.h - the parts of the MPI runtime -------------------*- C -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every process has one rank of MPI_COMM_WORLD, and is the device of that
// number. MPI's own error handler ends all processes where a call of MPI fails;
// `shardonnay_fail` does where the program or its arrays do.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_RUNTIME_RUNTIME_H
#define SHARDONNAY_MPI_RUNTIME_RUNTIME_H

#include "Abi.h"
#include <mpi.h>
#include <stddef.h>

/* The most elements that a count of MPI 3 is given. Tests have it small. */
#ifndef SHARDONNAY_MOST_COUNTED
#define SHARDONNAY_MOST_COUNTED (1 << 30)
#endif

/* Groups.c */

typedef struct {
  const int64_t *payload; /* its record, by which calls name it */
  MPI_Comm comm;          /* null if nothing is sent inside */
  int64_t size, index;
  int64_t
      *members; /* ranks in MPI_COMM_WORLD by their index; null without comm */
} ShardonnayGroup;

/* Makes the communicators of a table, before anything runs; each distinct one
   once. All processes have to call it. */
void shardonnay_open(const int64_t *table);
/* Frees those of all tables. */
void shardonnay_close(void);
const ShardonnayGroup *shardonnay_group(const int64_t *payload);
/* The index in a group of the device of rank `device`. */
int64_t shardonnay_index_of(const int64_t *payload, int64_t device);
/* How many communicators there are. */
int64_t shardonnay_num_communicators(void);
/* Says what is wrong, as printf does, and ends all processes. */
_Noreturn void shardonnay_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Elements.c */

const char *shardonnay_element_name(int64_t element);
int64_t shardonnay_element_bytes(int64_t element);
/* As MPI reduces it. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
} ShardonnayCombiner;
ShardonnayCombiner shardonnay_combiner(int64_t reduction, int64_t element);
/* `bytes` bytes as one datatype, to be freed. */
MPI_Datatype shardonnay_block(int64_t bytes);
void shardonnay_free_combiners(void);

/* Collectives.c */

/* Copies [outer][count][inner] bytes as [count][outer][inner]. */
void shardonnay_transpose(const void *from, void *to, int64_t outer,
                          int64_t count, int64_t inner);
/* Memory, or the end of all processes. */
void *shardonnay_allocate(int64_t bytes);

/* Arrays.c */

/* A tensor of the program's boundary. */
typedef struct {
  const char *name;
  int64_t element, rank;
  const int64_t *global_shape, *local_shape;
  /* For each device [start, limit) of each dim of the global tensor. */
  const int64_t *slices;
  int is_partial;
} ShardonnayTensor;

/* What this device holds of the tensor, from a file as numpy.save writes it: of
   the global array, or if `is_local` of the local shard. Behind its end are
   zeros. */
void shardonnay_load(const ShardonnayTensor *tensor, const char *path,
                     int is_local, void *data);
/* Writes the local shard, or with all other processes the global array. */
void shardonnay_save(const ShardonnayTensor *tensor, const char *path,
                     int is_local, const void *data);
/* How MLIR describes a local shard at `data`: base, aligned base,
   offset, sizes, strides; to be freed. */
int64_t *shardonnay_describe(const ShardonnayTensor *tensor, void *data);
/* How many bytes a local shard has. */
int64_t shardonnay_local_bytes(const ShardonnayTensor *tensor);

/* Program.c */

typedef struct {
  int64_t num_devices, num_inputs, num_outputs;
  const ShardonnayTensor *inputs, *outputs;
  const int64_t *table;
  /* Runs it once, on the descriptors of its inputs, then of its outputs. */
  void (*run)(int64_t **descriptors);
} ShardonnayProgram;

/* What the driver writes: the program for each number of devices that it was
   compiled for, and a null. */
extern const ShardonnayProgram *const shardonnay_programs[];

/* The one for as many devices as there are processes; null if there is none. */
const ShardonnayProgram *shardonnay_find(void);
/* "2, 4, 8": what the program was compiled for. */
const char *shardonnay_device_counts(void);

#endif /* SHARDONNAY_MPI_RUNTIME_RUNTIME_H */
