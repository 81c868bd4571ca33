/*===- Shardonnay.h - the compiler from C --------------------------*- C
-*-===*\
|*                                                                            *|
|* Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.    *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Programs, meshes and shardings go in and come out as text or bytecode; in  *|
|* between they are handles. No MLIR type crosses, so a process may have      *|
|* other MLIRs.                                                               *|
|*                                                                            *|
|* Errors: a function that can fail returns NULL or false, and has called the *|
|* context's diagnostic handler with what was found, what was expected and    *|
|* where. Nothing aborts on bad input; a NULL handle, or an index out of      *|
|* range, is bad input like any other: such a call returns NULL, false, 0 or  *|
|* the empty string.                                                          *|
|*                                                                            *|
|* Ownership: every *Parse, *Create and *Get* that returns a handle gives it  *|
|* to the caller, who destroys it before its context. *Destroy(NULL) does     *|
|* nothing. Strings that are returned live as long as the handle that they    *|
|* were asked of.                                                             *|
|*                                                                            *|
|* Threads: a context and its handles belong to one thread at a time;         *|
|* different contexts are independent.                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef SHARDONNAY_CAPI_SHARDONNAY_H
#define SHARDONNAY_CAPI_SHARDONNAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHARDONNAY_EXPORTED __attribute__((visibility("default")))

typedef struct ShardonnayContext ShardonnayContext;
typedef struct ShardonnayModule ShardonnayModule;
typedef struct ShardonnayMesh ShardonnayMesh;
typedef struct ShardonnaySharding ShardonnaySharding;
typedef struct ShardonnayPipeline ShardonnayPipeline;

/** Bytes that someone else owns; not zero-terminated, and may hold zeros. */
typedef struct ShardonnayString {
  const char *data;
  size_t length;
} ShardonnayString;

/*===-- Contexts
 * -----------------------------------------------------------===*/

typedef enum ShardonnaySeverity {
  ShardonnayNote = 0, /**< belongs to the diagnostic before it */
  ShardonnayRemark = 1,
  ShardonnayWarning = 2,
  ShardonnayError = 3
} ShardonnaySeverity;

/** `location` is "file:line:col", or "" if it is unknown. The strings live as
 * long as the call. */
typedef void (*ShardonnayDiagnosticHandler)(ShardonnaySeverity severity,
                                            ShardonnayString location,
                                            ShardonnayString message,
                                            void *userData);

/** `handler` NULL: nothing is reported. */
SHARDONNAY_EXPORTED ShardonnayContext *
shardonnayContextCreate(ShardonnayDiagnosticHandler handler, void *userData);
SHARDONNAY_EXPORTED void shardonnayContextDestroy(ShardonnayContext *context);

/** "0.1.0" */
SHARDONNAY_EXPORTED ShardonnayString shardonnayVersion(void);

/*===-- Modules
 * ------------------------------------------------------------===*/

/** Parses and verifies MLIR text, or bytecode that Shardonnay wrote. `name`
 * (zero-terminated) stands for the text in locations. */
SHARDONNAY_EXPORTED ShardonnayModule *
shardonnayModuleParse(ShardonnayContext *context, const char *data,
                      size_t length, const char *name);
SHARDONNAY_EXPORTED void shardonnayModuleDestroy(ShardonnayModule *module);
SHARDONNAY_EXPORTED ShardonnayModule *
shardonnayModuleClone(const ShardonnayModule *module);

/** The module's text; valid until the module is printed, written or destroyed.
 * `locations`: with where each op came from. */
SHARDONNAY_EXPORTED ShardonnayString
shardonnayModulePrint(ShardonnayModule *module, bool locations);
/** Likewise its bytecode, with a checksum; empty if it could not be written. */
SHARDONNAY_EXPORTED ShardonnayString
shardonnayModuleWriteBytecode(ShardonnayModule *module);

/** The mesh of that name (zero-terminated, without `@`); NULL if there is none,
 * with an error. */
SHARDONNAY_EXPORTED ShardonnayMesh *
shardonnayModuleGetMesh(const ShardonnayModule *module, const char *name);

/** Arguments and results of the program's function, the first public one with
 * a body. */
SHARDONNAY_EXPORTED size_t
shardonnayModuleGetNumArguments(const ShardonnayModule *module);
SHARDONNAY_EXPORTED size_t
shardonnayModuleGetNumResults(const ShardonnayModule *module);
/** NULL, without an error, if it has no sharding. */
SHARDONNAY_EXPORTED ShardonnaySharding *
shardonnayModuleGetArgumentSharding(const ShardonnayModule *module,
                                    size_t argument);
SHARDONNAY_EXPORTED ShardonnaySharding *
shardonnayModuleGetResultSharding(const ShardonnayModule *module,
                                  size_t result);
/** NULL takes the sharding away. Fails, and changes nothing, if the sharding is
 * none for the value's type or names a mesh or an axis that is not there. */
SHARDONNAY_EXPORTED bool
shardonnayModuleSetArgumentSharding(ShardonnayModule *module, size_t argument,
                                    const ShardonnaySharding *sharding);
SHARDONNAY_EXPORTED bool
shardonnayModuleSetResultSharding(ShardonnayModule *module, size_t result,
                                  const ShardonnaySharding *sharding);

/*===-- Meshes
 * -------------------------------------------------------------===*/

/** From text as in a program: `<["x"=2, "y"=4]>`. */
SHARDONNAY_EXPORTED ShardonnayMesh *
shardonnayMeshParse(ShardonnayContext *context, const char *data,
                    size_t length);
/** `names` (zero-terminated) and `sizes` of `numAxes` axes, major to minor.
 * `deviceIds`: the device at each of the `numDeviceIds` positions, row-major;
 * none stands for their own order. */
SHARDONNAY_EXPORTED ShardonnayMesh *
shardonnayMeshCreate(ShardonnayContext *context, size_t numAxes,
                     const char *const *names, const int64_t *sizes,
                     size_t numDeviceIds, const int64_t *deviceIds);
SHARDONNAY_EXPORTED void shardonnayMeshDestroy(ShardonnayMesh *mesh);
SHARDONNAY_EXPORTED ShardonnayString shardonnayMeshPrint(ShardonnayMesh *mesh);
SHARDONNAY_EXPORTED size_t shardonnayMeshGetNumAxes(const ShardonnayMesh *mesh);
SHARDONNAY_EXPORTED ShardonnayString
shardonnayMeshGetAxisName(const ShardonnayMesh *mesh, size_t axis);
SHARDONNAY_EXPORTED int64_t
shardonnayMeshGetAxisSize(const ShardonnayMesh *mesh, size_t axis);
/** The product of the axis sizes. */
SHARDONNAY_EXPORTED int64_t
shardonnayMeshGetNumDevices(const ShardonnayMesh *mesh);

/*===-- Shardings
 * ----------------------------------------------------------===*/

/** From text as in a program: `<@mesh, [{"x"}, {?}]>`. */
SHARDONNAY_EXPORTED ShardonnaySharding *
shardonnayShardingParse(ShardonnayContext *context, const char *data,
                        size_t length);
SHARDONNAY_EXPORTED void
shardonnayShardingDestroy(ShardonnaySharding *sharding);
SHARDONNAY_EXPORTED ShardonnayString
shardonnayShardingPrint(ShardonnaySharding *sharding);
SHARDONNAY_EXPORTED size_t
shardonnayShardingGetRank(const ShardonnaySharding *sharding);
/** Whether propagation may shard the dim further. */
SHARDONNAY_EXPORTED bool
shardonnayShardingIsOpen(const ShardonnaySharding *sharding, size_t dim);
SHARDONNAY_EXPORTED bool
shardonnayShardingEqual(const ShardonnaySharding *left,
                        const ShardonnaySharding *right);
/** What `device` holds of a tensor: [starts[d], limits[d]) of each dim d, for
 * `rank` dims of sizes `shape`; start = limit if it holds nothing. `mesh` is
 * the one that the sharding's name stands for. */
SHARDONNAY_EXPORTED bool shardonnayShardingGetSlice(
    const ShardonnaySharding *sharding, const ShardonnayMesh *mesh, size_t rank,
    const int64_t *shape, int64_t device, int64_t *starts, int64_t *limits);

/*===-- Pipelines
 * ----------------------------------------------------------===*/

/** A pipeline without passes. */
SHARDONNAY_EXPORTED ShardonnayPipeline *
shardonnayPipelineCreate(ShardonnayContext *context);
SHARDONNAY_EXPORTED void
shardonnayPipelineDestroy(ShardonnayPipeline *pipeline);
/** Appends the stages of the compiler up to `stage` (zero-terminated): import,
 * propagate, export, reshard, collectives, partition or emit. */
SHARDONNAY_EXPORTED bool
shardonnayPipelineAddStages(ShardonnayPipeline *pipeline, const char *stage);
/** Appends passes by their names, as `sdy-opt --pass-pipeline` takes them
 * inside `builtin.module(...)`: `sdy-propagation-pipeline, cse`. */
SHARDONNAY_EXPORTED bool
shardonnayPipelineAddPasses(ShardonnayPipeline *pipeline, const char *passes);
/** Changes `module`; if it fails, what the module holds is not specified. */
SHARDONNAY_EXPORTED bool shardonnayPipelineRun(ShardonnayPipeline *pipeline,
                                               ShardonnayModule *module);

#ifdef __cplusplus
}
#endif

#endif /* SHARDONNAY_CAPI_SHARDONNAY_H */
