//===- Arrays.c - tensors from and to .npy files --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of numpy.save: a header that ends in '\n', then the elements in
// row-major order, little-endian. Elements that NumPy has no type of its own
// for (bf16, f8) are there as bytes of their width. Integers of less than 8
// bits are a byte each, in memory without what is above their bits.
//
// A global array is one file that all processes see: each reads the rows of its
// slice, and of equal slices the first device writes.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type as the header says it: kind and bytes. */
static char kind_of(int64_t element) {
  switch (element) {
  case SHARDONNAY_I1:
    return 'b';
  case SHARDONNAY_I8:
  case SHARDONNAY_I16:
  case SHARDONNAY_I32:
  case SHARDONNAY_I64:
  case SHARDONNAY_INDEX:
    return 'i';
  case SHARDONNAY_UI8:
  case SHARDONNAY_UI16:
  case SHARDONNAY_UI32:
  case SHARDONNAY_UI64:
    return 'u';
  case SHARDONNAY_F16:
  case SHARDONNAY_F32:
  case SHARDONNAY_F64:
    return 'f';
  case SHARDONNAY_C64:
  case SHARDONNAY_C128:
    return 'c';
  default:
    return 'V';
  }
}

static int64_t num_elements(const int64_t *shape, int64_t rank) {
  int64_t product = 1;
  for (int64_t i = 0; i < rank; ++i)
    product *= shape[i];
  return product;
}

static int64_t local_elements(const ShardonnayTensor *tensor) {
  return num_elements(tensor->local_shape, tensor->rank);
}

int64_t shardonnay_local_bytes(const ShardonnayTensor *tensor) {
  return local_elements(tensor) * shardonnay_element_bytes(tensor->element);
}

int64_t *shardonnay_describe(const ShardonnayTensor *tensor, void *data) {
  int64_t rank = tensor->rank, stride = 1;
  int64_t *words =
      shardonnay_allocate((3 + 2 * rank) * (int64_t)sizeof(int64_t));
  words[0] = words[1] = (int64_t)(intptr_t)data;
  words[2] = 0;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    words[3 + dim] = tensor->local_shape[dim];
    words[3 + rank + dim] = stride;
    stride *= tensor->local_shape[dim];
  }
  return words;
}

/* What a file holds, as its header says it: "f4 [8, 16]". */
static void describe(char *text, size_t size, char kind, int64_t bytes,
                     const int64_t *shape, int64_t rank) {
  int at = snprintf(text, size, "%c%lld [", kind, (long long)bytes);
  for (int64_t i = 0; i < rank && (size_t)at < size; ++i)
    at += snprintf(text + at, size - (size_t)at, "%s%lld", i ? ", " : "",
                   (long long)shape[i]);
  if ((size_t)at < size)
    snprintf(text + at, size - (size_t)at, "]");
}

/* Reads the header; fails unless it is of these elements and this shape. */
static void check_header(FILE *file, const char *path, int64_t element,
                         const int64_t *shape, int64_t rank) {
  unsigned char start[12];
  char header[4096];
  size_t length = 0;
  if (fread(start, 1, 10, file) == 10 && !memcmp(start, "\x93NUMPY", 6)) {
    length = start[8] + 256u * start[9];
    if (start[6] > 1 && fread(start + 10, 1, 2, file) == 2)
      length += (start[10] + 256ul * start[11]) << 16;
  }
  if (length == 0 || length >= sizeof(header) ||
      fread(header, 1, length, file) != length)
    shardonnay_fail("%s: expected a file as numpy.save writes it", path);
  header[length] = 0;
  char wanted[512], found[512];
  describe(wanted, sizeof(wanted), kind_of(element),
           shardonnay_element_bytes(element), shape, rank);
  char *type = strstr(header, "'descr': '");
  char *dims = strstr(header, "'shape': (");
  int64_t found_shape[64], found_rank = 0;
  char *at = dims ? dims + strlen("'shape': (") : NULL;
  while (at && *at && *at != ')' && found_rank < 64) {
    char *end;
    found_shape[found_rank] = strtoll(at, &end, 10);
    if (end == at)
      break;
    ++found_rank;
    at = end + strspn(end, ", ");
  }
  if (!type || !at || strstr(header, "'fortran_order': True"))
    shardonnay_fail("%s: expected %s in row-major order", path, wanted);
  type += strlen("'descr': '");
  describe(found, sizeof(found), type[1], strtoll(type + 2, NULL, 10),
           found_shape, found_rank);
  /* int4 and its like are bytes to NumPy. */
  if (strcmp(wanted, found) || type[0] == '>')
    shardonnay_fail("%s: expected %s, got %s%s", path, wanted, found,
                    type[0] == '>' ? ", big-endian" : "");
}

static void write_header(FILE *file, int64_t element, const int64_t *shape,
                         int64_t rank) {
  char header[4096];
  int64_t bytes = shardonnay_element_bytes(element);
  int at = snprintf(header, sizeof(header),
                    "{'descr': '%c%c%lld', 'fortran_order': False, 'shape': (",
                    bytes == 1 || kind_of(element) == 'V' ? '|' : '<',
                    kind_of(element), (long long)bytes);
  for (int64_t i = 0; i < rank; ++i)
    at += snprintf(header + at, sizeof(header) - (size_t)at, "%lld,",
                   (long long)shape[i]);
  at += snprintf(header + at, sizeof(header) - (size_t)at, "), }");
  while ((at + 11) % 64 != 0)
    header[at++] = ' ';
  header[at++] = '\n';
  unsigned char start[10] = {0x93,
                             'N',
                             'U',
                             'M',
                             'P',
                             'Y',
                             1,
                             0,
                             (unsigned char)(at % 256),
                             (unsigned char)(at / 256)};
  fwrite(start, 1, 10, file);
  fwrite(header, 1, (size_t)at, file);
}

static int64_t narrow_bits(int64_t element) {
  return element == SHARDONNAY_I1   ? 1
         : element == SHARDONNAY_I2 ? 2
         : element == SHARDONNAY_I4 ? 4
                                    : 8;
}

/* From NumPy's bytes to memory's, and back with the sign. */
static void narrow(int64_t element, char *data, int64_t count) {
  int64_t bits = narrow_bits(element);
  for (int64_t i = 0; bits < 8 && i < count; ++i)
    data[i] = (char)(data[i] & ((1 << bits) - 1));
}
static void widen(int64_t element, char *data, int64_t count) {
  int64_t bits = narrow_bits(element);
  for (int64_t i = 0; bits > 1 && bits < 8 && i < count; ++i)
    data[i] = (char)((data[i] ^ (1 << (bits - 1))) - (1 << (bits - 1)));
}

static FILE *open_file(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file)
    shardonnay_fail("%s: %s", path, strerror(errno));
  return file;
}

static void check_io(int done, FILE *file, const char *path) {
  if (!done)
    shardonnay_fail("%s: %s", path,
                    ferror(file) ? strerror(errno) : "ends too early");
}

static void close_file(FILE *file, const char *path) {
  if (fclose(file))
    shardonnay_fail("%s: %s", path, strerror(errno));
}

/* Reads or writes one row; file position and memory are the caller's. */
typedef int (*RowFunction)(FILE *file, char *row, size_t bytes);
static int read_row(FILE *file, char *row, size_t bytes) {
  return fread(row, 1, bytes, file) == bytes;
}
static int write_row(FILE *file, char *row, size_t bytes) {
  return fwrite(row, 1, bytes, file) == bytes;
}

/* Every row (along the last dim) of this device's slice, in file and memory. */
static void each_row(const ShardonnayTensor *tensor, const int64_t *slice,
                     FILE *file, const char *path, char *data,
                     RowFunction function) {
  int64_t rank = tensor->rank;
  int64_t bytes = shardonnay_element_bytes(tensor->element);
  long begin = ftell(file);
  int64_t rows = 1, at[64] = {0};
  for (int64_t i = 0; i < rank; ++i)
    if (slice[2 * i] >= slice[2 * i + 1])
      return;
  for (int64_t i = 0; i + 1 < rank; ++i)
    rows *= slice[2 * i + 1] - slice[2 * i];
  int64_t length = rank == 0 ? 1 : slice[2 * rank - 1] - slice[2 * rank - 2];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t in_file = 0, in_memory = 0;
    for (int64_t i = 0; i < rank; ++i) {
      in_file = in_file * tensor->global_shape[i] + slice[2 * i] + at[i];
      in_memory = in_memory * tensor->local_shape[i] + at[i];
    }
    check_io(
        !fseek(file, begin + (long)(in_file * bytes), SEEK_SET) &&
            function(file, data + in_memory * bytes, (size_t)(length * bytes)),
        file, path);
    for (int64_t i = rank - 2; i >= 0; --i) {
      if (++at[i] < slice[2 * i + 1] - slice[2 * i])
        break;
      at[i] = 0;
    }
  }
}

void shardonnay_load(const ShardonnayTensor *tensor, const char *path,
                     int is_local, void *data) {
  int64_t count = local_elements(tensor);
  size_t bytes = (size_t)shardonnay_local_bytes(tensor);
  FILE *file = open_file(path, "rb");
  check_header(file, path, tensor->element,
               is_local ? tensor->local_shape : tensor->global_shape,
               tensor->rank);
  if (is_local) {
    check_io(read_row(file, data, bytes), file, path);
  } else {
    if (tensor->is_partial)
      shardonnay_fail("%s: input %s is a partial sum, of which each device has "
                      "its own part; expected a file for each rank, with %%r "
                      "in its name",
                      path, tensor->name);
    memset(data, 0, bytes);
    each_row(tensor, tensor->slices + shardonnay_rank() * 2 * tensor->rank,
             file, path, data, read_row);
  }
  narrow(tensor->element, data, count);
  fclose(file);
}

/* No device before this one has the same slice. */
static int is_first(const ShardonnayTensor *tensor) {
  int64_t words = 2 * tensor->rank, rank = shardonnay_rank();
  const int64_t *own = tensor->slices + rank * words;
  for (int64_t device = 0; device < rank; ++device)
    if (!memcmp(tensor->slices + device * words, own,
                (size_t)words * sizeof(int64_t)))
      return 0;
  return 1;
}

static void save_global(const ShardonnayTensor *tensor, const char *path,
                        char *data) {
  if (tensor->is_partial)
    shardonnay_fail("%s: result %s is a partial sum, of which each device has "
                    "its own part; expected %%r in the file's name",
                    path, tensor->name);
  if (shardonnay_rank() == 0) {
    FILE *file = open_file(path, "wb");
    write_header(file, tensor->element, tensor->global_shape, tensor->rank);
    close_file(file, path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  FILE *file = open_file(path, "r+b");
  check_header(file, path, tensor->element, tensor->global_shape, tensor->rank);
  fseek(file, 0, SEEK_CUR); /* C asks for it between reading and writing. */
  if (is_first(tensor))
    each_row(tensor, tensor->slices + shardonnay_rank() * 2 * tensor->rank,
             file, path, data, write_row);
  close_file(file, path);
}

void shardonnay_save(const ShardonnayTensor *tensor, const char *path,
                     int is_local, const void *data) {
  int64_t count = local_elements(tensor);
  int64_t bytes = shardonnay_local_bytes(tensor);
  char *copy = shardonnay_allocate(bytes);
  memcpy(copy, data, (size_t)bytes);
  widen(tensor->element, copy, count);
  if (is_local) {
    FILE *file = open_file(path, "wb");
    write_header(file, tensor->element, tensor->local_shape, tensor->rank);
    check_io(write_row(file, copy, (size_t)bytes), file, path);
    close_file(file, path);
  } else {
    save_global(tensor, path, copy);
  }
  free(copy);
}
