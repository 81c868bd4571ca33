//===- Main.c - a program as an executable --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mpirun -n N PROGRAM [--repeat K] INPUT.npy... [-o OUTPUT.npy...]
//
// A file is the global array; with %r in its name, which stands for the rank,
// it is what one device holds.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Of the command line. */
typedef struct {
  char **inputs, **outputs;
  int64_t num_inputs, num_outputs, repeat;
} Arguments;

/* What runs. */
static const ShardonnayProgram *this;

static void print_tensors(FILE *stream, const char *what,
                          const ShardonnayTensor *tensors, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    fprintf(stream, "  %s %lld: %s, %s [", what, (long long)i, tensors[i].name,
            shardonnay_element_name(tensors[i].element));
    for (int64_t dim = 0; dim < tensors[i].rank; ++dim)
      fprintf(stream, "%s%lld", dim ? ", " : "",
              (long long)tensors[i].global_shape[dim]);
    fprintf(stream, "]\n");
  }
}

static void print_usage(FILE *stream, const char *program) {
  fprintf(stream,
          "usage: mpirun -n N %s [--repeat K] INPUT.npy... [-o "
          "OUTPUT.npy...]\nwith N of %s. With %%r in its name, the rank, a "
          "file is what one device holds, else the global array.\n",
          program, shardonnay_device_counts());
  print_tensors(stream, "input", this->inputs, this->num_inputs);
  print_tensors(stream, "output", this->outputs, this->num_outputs);
}

/* The first rank says it and ends all; the others wait for that. */
static _Noreturn void refuse(const char *program, const char *format, ...) {
  if (shardonnay_rank() != 0)
    MPI_Barrier(MPI_COMM_WORLD);
  print_usage(stderr, program);
  char why[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof(why), format, arguments);
  va_end(arguments);
  shardonnay_fail("%s", why);
}

/* Where mpirun is another MPI's than the program's, each process is alone. */
static _Noreturn void refuse_processes(const char *program) {
  int size, length;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n")] = '\0';
  if (size == 1)
    refuse(program,
           "expected %s processes, got 1; if mpirun started more, it is "
           "another MPI's than the program's, which is: %s",
           shardonnay_device_counts(), library);
  refuse(program, "expected %s processes, got %d", shardonnay_device_counts(),
         size);
}

static Arguments parse(int argc, char **argv) {
  Arguments given = {argv + 1, argv + 1, 0, 0, 1};
  int at = 1;
  if (at + 1 < argc && !strcmp(argv[at], "--repeat")) {
    given.repeat = strtoll(argv[at + 1], NULL, 10);
    if (given.repeat < 1)
      refuse(argv[0], "--repeat: expected a number, 1 or more");
    at += 2;
  }
  given.inputs = argv + at;
  for (; at < argc && strcmp(argv[at], "-o") != 0; ++at)
    ++given.num_inputs;
  given.outputs = argv + at + 1;
  given.num_outputs = at < argc ? argc - at - 1 : 0;
  if (given.num_inputs != this->num_inputs)
    refuse(argv[0], "expected %lld input files, got %lld",
           (long long)this->num_inputs, (long long)given.num_inputs);
  if (given.num_outputs != 0 && given.num_outputs != this->num_outputs)
    refuse(argv[0], "expected %lld output files or none, got %lld",
           (long long)this->num_outputs, (long long)given.num_outputs);
  return given;
}

/* `path` with the rank in place of %r; whether there was one. */
static int with_rank(const char *path, char *buffer, size_t size) {
  const char *mark = strstr(path, "%r");
  int written = mark ? snprintf(buffer, size, "%.*s%lld%s", (int)(mark - path),
                                path, (long long)shardonnay_rank(), mark + 2)
                     : snprintf(buffer, size, "%s", path);
  if (written < 0 || (size_t)written >= size)
    shardonnay_fail("%s: the name is too long", path);
  return mark != NULL;
}

/* Zeros of a local shard's size. */
static void *allocate_shard(const ShardonnayTensor *tensor) {
  int64_t bytes = shardonnay_local_bytes(tensor);
  return memset(shardonnay_allocate(bytes), 0, (size_t)bytes);
}

static void run(Arguments given) {
  int64_t count = this->num_inputs + this->num_outputs;
  int64_t **descriptors =
      shardonnay_allocate(count * (int64_t)sizeof(int64_t *));
  void **shards = shardonnay_allocate(count * (int64_t)sizeof(void *));
  char path[4096];
  for (int64_t i = 0; i < count; ++i) {
    const ShardonnayTensor *tensor = i < this->num_inputs
                                         ? &this->inputs[i]
                                         : &this->outputs[i - this->num_inputs];
    shards[i] = allocate_shard(tensor);
    descriptors[i] = shardonnay_describe(tensor, shards[i]);
    if (i < this->num_inputs) {
      int is_local = with_rank(given.inputs[i], path, sizeof(path));
      shardonnay_load(tensor, path, is_local, shards[i]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int64_t i = 0; i < given.repeat; ++i)
    this->run(descriptors);
  double seconds = MPI_Wtime() - begin, most;
  MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (given.repeat > 1 && shardonnay_rank() == 0)
    printf("seconds per run: %.6g\n", most / (double)given.repeat);
  for (int64_t i = 0; i < given.num_outputs; ++i) {
    int is_local = with_rank(given.outputs[i], path, sizeof(path));
    shardonnay_save(&this->outputs[i], path, is_local,
                    shards[this->num_inputs + i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    free(shards[i]);
    free(descriptors[i]);
  }
  free(shards);
  free(descriptors);
}

/* Buffers are freed at the end of the block that made them, so a loop asks for
   the same ones in each step: the memory stays the process's, since pages that
   come anew from the system cost more than what is computed on them. */
static void keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv) {
  keep_memory();
  MPI_Init(&argc, &argv);
  this = shardonnay_find();
  int fits = this != NULL;
  if (!fits)
    this = shardonnay_programs[0];
  if (argc == 2 && !strcmp(argv[1], "--help")) {
    if (shardonnay_rank() == 0)
      print_usage(stdout, argv[0]);
    MPI_Finalize();
    return 0;
  }
  if (!fits)
    refuse_processes(argv[0]);
  Arguments given = parse(argc, argv);
  shardonnay_open(this->table);
  run(given);
  shardonnay_close();
  MPI_Finalize();
  return 0;
}
