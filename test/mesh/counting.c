/* What a program asks MPI for, by MPI's profiling interface: linked before the
   MPI, and told by the first rank when it ends, as

     counted KIND CALLS BYTES

   Bytes are those that the rank that sends most sends, by the formulas of
   shardonnay/cost/Collective.h; of messages those that they have. Behind them
   the communicators: made, and not freed. */

#include <mpi.h>
#include <stdio.h>

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, MESSAGES, KINDS };
static const char *names[] = {"all_reduce", "all_gather", "reduce_scatter",
                              "all_to_all", "messages"};
static long long calls[KINDS], bytes[KINDS], made, freed;

static void count(int kind, long long number) {
  ++calls[kind];
  bytes[kind] += number;
}

static long long size_of(long long elements, MPI_Datatype type, MPI_Comm comm,
                         int *ranks) {
  MPI_Count size;
  MPI_Type_size_x(type, &size);
  if (ranks)
    MPI_Comm_size(comm, ranks);
  return elements * (long long)size;
}

/* Rounded up, as the cost is. */
static long long share(long long number, int ranks) {
  return (number + ranks - 1) / ranks;
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm) {
  int ranks;
  long long size = size_of(n, type, comm, &ranks);
  count(ALL_REDUCE, share(2 * size * (ranks - 1), ranks));
  return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Allgather(const void *from, int n, MPI_Datatype type, void *to, int m,
                  MPI_Datatype other, MPI_Comm comm) {
  int ranks;
  long long size = size_of(n, type, comm, &ranks);
  count(ALL_GATHER, size * (ranks - 1));
  return PMPI_Allgather(from, n, type, to, m, other, comm);
}

int MPI_Reduce_scatter_block(const void *from, void *to, int n,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks;
  long long size = size_of(n, type, comm, &ranks);
  count(REDUCE_SCATTER, size * (ranks - 1));
  return PMPI_Reduce_scatter_block(from, to, n, type, op, comm);
}

int MPI_Alltoall(const void *from, int n, MPI_Datatype type, void *to, int m,
                 MPI_Datatype other, MPI_Comm comm) {
  int ranks;
  long long size = size_of(n, type, comm, &ranks);
  count(ALL_TO_ALL, size * (ranks - 1));
  return PMPI_Alltoall(from, n, type, to, m, other, comm);
}

int MPI_Isend(const void *from, int n, MPI_Datatype type, int target, int tag,
              MPI_Comm comm, MPI_Request *request) {
  count(MESSAGES, size_of(n, type, comm, NULL));
  return PMPI_Isend(from, n, type, target, tag, comm, request);
}

int MPI_Sendrecv(const void *from, int n, MPI_Datatype type, int target,
                 int tag, void *to, int m, MPI_Datatype other, int source,
                 int other_tag, MPI_Comm comm, MPI_Status *status) {
  count(MESSAGES, size_of(n, type, comm, NULL));
  return PMPI_Sendrecv(from, n, type, target, tag, to, m, other, source,
                       other_tag, comm, status);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *result) {
  ++made;
  return PMPI_Comm_split(comm, color, key, result);
}

int MPI_Comm_free(MPI_Comm *comm) {
  ++freed;
  return PMPI_Comm_free(comm);
}

int MPI_Finalize(void) {
  int rank;
  long long most[KINDS];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(bytes, most, KINDS, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int kind = 0; rank == 0 && kind < KINDS; ++kind)
    printf("counted %s %lld %lld\n", names[kind], calls[kind], most[kind]);
  if (rank == 0)
    printf("counted communicators %lld %lld\n", made, made - freed);
  return PMPI_Finalize();
}
