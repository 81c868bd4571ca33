/* The program that a person would write: a five-point sum of SIZE x SIZE
   floats, STEPS times, rows shared out in equal parts.

     stencil SIZE STEPS IN OUT

   IN holds all numbers, each rank writes its rows to OUT.RANK. The first rank
   says how long the steps took:

     seconds S */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exchange(float *rows, int count, int size, int above, int below) {
  MPI_Request requests[4];
  MPI_Irecv(rows, size, MPI_FLOAT, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(rows + (count + 1) * size, size, MPI_FLOAT, below, 1,
            MPI_COMM_WORLD, &requests[1]);
  /* A message to nobody is none, and is not counted as one. */
  requests[2] = requests[3] = MPI_REQUEST_NULL;
  if (above != MPI_PROC_NULL)
    MPI_Isend(rows + size, size, MPI_FLOAT, above, 1, MPI_COMM_WORLD,
              &requests[2]);
  if (below != MPI_PROC_NULL)
    MPI_Isend(rows + count * size, size, MPI_FLOAT, below, 0, MPI_COMM_WORLD,
              &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void step(const float *from, float *to, int count, int size) {
  for (int i = 1; i <= count; ++i)
    for (int j = 0; j < size; ++j) {
      const float *at = from + i * size + j;
      float left = j > 0 ? at[-1] : 0, right = j + 1 < size ? at[1] : 0;
      to[i * size + j] = (at[-size] + at[size]) + (left + right);
    }
}

int main(int argc, char **argv) {
  int rank, ranks, size, steps;
  char name[4096];
  if (argc != 5)
    return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size = atoi(argv[1]);
  steps = atoi(argv[2]);
  int count = size / ranks, above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
      below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  size_t bytes = sizeof(float) * (count + 2) * size;
  float *from = calloc(1, bytes), *to = calloc(1, bytes);
  FILE *file = fopen(argv[3], "rb");
  if (!from || !to || !file ||
      fseek(file, (long)sizeof(float) * rank * count * size, SEEK_SET) ||
      fread(from + size, sizeof(float), (size_t)count * size, file) !=
          (size_t)count * size)
    MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    exchange(from, count, size, above, below);
    step(from, to, count, size);
    float *other = from;
    from = to;
    to = other;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("seconds %.6f\n", MPI_Wtime() - start);
  snprintf(name, sizeof(name), "%s.%d", argv[4], rank);
  file = fopen(name, "wb");
  if (!file || fwrite(from + size, sizeof(float), (size_t)count * size, file) !=
                   (size_t)count * size)
    MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  MPI_Finalize();
  return 0;
}
