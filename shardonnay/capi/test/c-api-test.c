/*===- c-api-test.c - every function of Shardonnay.h, from C --------------===*\
|*                                                                            *|
|* Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.    *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Prints what it sees; c-api.test says what that must be.                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "shardonnay/capi/Shardonnay.h"

#include <stdio.h>
#include <string.h>

static const char *program =
    "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"
    "func.func public @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>)\n"
    "    -> tensor<8x8xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]\n"
    "      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
    "  return %0 : tensor<8x8xf32>\n"
    "}\n";

static void onDiagnostic(ShardonnaySeverity severity, ShardonnayString location,
                         ShardonnayString message, void *userData) {
  static const char *names[] = {"note", "remark", "warning", "error"};
  ++*(int *)userData;
  printf("%s [%.*s]: %.*s\n", names[severity], (int)location.length,
         location.data, (int)message.length, message.data);
}

static void show(const char *what, ShardonnayString text) {
  printf("%s: %.*s\n", what, (int)text.length, text.data);
}

static ShardonnayModule *parse(ShardonnayContext *context, const char *text) {
  return shardonnayModuleParse(context, text, strlen(text), "program.mlir");
}

static ShardonnaySharding *sharding(ShardonnayContext *context,
                                    const char *text) {
  return shardonnayShardingParse(context, text, strlen(text));
}

static void testMeshes(ShardonnayContext *context) {
  const char *names[] = {"x", "y"};
  const int64_t sizes[] = {2, 2}, ids[] = {0, 2, 1, 3};
  ShardonnayMesh *mesh = shardonnayMeshCreate(context, 2, names, sizes, 4, ids);
  show("mesh", shardonnayMeshPrint(mesh));
  ShardonnayString text = shardonnayMeshPrint(mesh);
  ShardonnayMesh *again = shardonnayMeshParse(context, text.data, text.length);
  printf("%zu axes, %lld devices, ", shardonnayMeshGetNumAxes(again),
         (long long)shardonnayMeshGetNumDevices(again));
  printf("%lld, ", (long long)shardonnayMeshGetAxisSize(again, 1));
  show("axis", shardonnayMeshGetAxisName(again, 1));
  int64_t twice[] = {0, 0, 1, 1};
  printf("twice: %d\n",
         shardonnayMeshCreate(context, 2, names, sizes, 4, twice) != NULL);
  printf("text: %d\n", shardonnayMeshParse(context, "<[", 2) != NULL);
  shardonnayMeshDestroy(mesh);
  shardonnayMeshDestroy(again);
}

static void testShardings(ShardonnayContext *context, ShardonnayMesh *mesh) {
  ShardonnaySharding *byAxes = sharding(context, "<@mesh, [{\"x\"}, {\"y\", ?}]>");
  show("sharding", shardonnayShardingPrint(byAxes));
  printf("rank %zu, open %d %d, equal %d\n", shardonnayShardingGetRank(byAxes),
         shardonnayShardingIsOpen(byAxes, 0), shardonnayShardingIsOpen(byAxes, 1),
         shardonnayShardingEqual(byAxes, byAxes));
  int64_t shape[] = {8, 6}, starts[2], limits[2];
  if (shardonnayShardingGetSlice(byAxes, mesh, 2, shape, 3, starts, limits))
    printf("slice [%d, %d) x [%d, %d)\n", (int)starts[0], (int)limits[0],
           (int)starts[1], (int)limits[1]);
  printf("device: %d\n",
         shardonnayShardingGetSlice(byAxes, mesh, 2, shape, 9, starts, limits));
  printf("rank: %d\n",
         shardonnayShardingGetSlice(byAxes, mesh, 1, shape, 0, starts, limits));
  printf("text: %d\n", sharding(context, "<@mesh, [{}> junk") != NULL);
  shardonnayShardingDestroy(byAxes);
}

static void testModules(ShardonnayContext *context) {
  ShardonnayModule *module = parse(context, program);
  ShardonnayMesh *mesh = shardonnayModuleGetMesh(module, "mesh");
  testShardings(context, mesh);
  printf("mesh: %d\n", shardonnayModuleGetMesh(module, "other") != NULL);

  ShardonnaySharding *rows = sharding(context, "<@mesh, [{\"x\"}, {}]>");
  ShardonnaySharding *wrong = sharding(context, "<@mesh, [{\"z\"}, {}]>");
  printf("set %d, wrong %d, outside %d\n",
         shardonnayModuleSetArgumentSharding(module, 0, rows),
         shardonnayModuleSetArgumentSharding(module, 1, wrong),
         shardonnayModuleSetArgumentSharding(module, 2, rows));

  ShardonnayModule *copy = shardonnayModuleClone(module);
  ShardonnayPipeline *pipeline = shardonnayPipelineCreate(context);
  printf("passes: %d\n", shardonnayPipelineAddPasses(pipeline, "no-such-pass"));
  printf("stage: %d\n", shardonnayPipelineAddStages(pipeline, "serve"));
  printf("run: %d\n", shardonnayPipelineAddPasses(
                          pipeline, "sdy-propagation-pipeline, cse") &&
                          shardonnayPipelineRun(pipeline, module));
  ShardonnaySharding *result = shardonnayModuleGetResultSharding(module, 0);
  show("propagated", shardonnayShardingPrint(result));
  ShardonnaySharding *argument = shardonnayModuleGetArgumentSharding(module, 0);
  show("argument", shardonnayShardingPrint(argument));

  ShardonnayString bytecode = shardonnayModuleWriteBytecode(module);
  ShardonnayModule *read = shardonnayModuleParse(context, bytecode.data,
                                                 bytecode.length, "bytecode");
  ShardonnayString was = shardonnayModulePrint(module, false);
  ShardonnayString is = shardonnayModulePrint(read, false);
  printf("through bytecode: %s\n",
         was.length == is.length && !memcmp(was.data, is.data, is.length)
             ? "the same"
             : "changed");

  ShardonnayPipeline *whole = shardonnayPipelineCreate(context);
  printf("whole: %d\n", shardonnayPipelineAddStages(whole, "emit") &&
                            shardonnayPipelineRun(whole, copy));
  show("local", shardonnayModulePrint(copy, false));

  printf("taken away: %d", shardonnayModuleSetResultSharding(module, 0, NULL));
  printf(" %d\n", shardonnayModuleGetResultSharding(module, 0) == NULL);
  shardonnayPipelineDestroy(pipeline);
  shardonnayPipelineDestroy(whole);
  shardonnayShardingDestroy(rows);
  shardonnayShardingDestroy(wrong);
  shardonnayShardingDestroy(result);
  shardonnayShardingDestroy(argument);
  shardonnayMeshDestroy(mesh);
  shardonnayModuleDestroy(read);
  shardonnayModuleDestroy(copy);
  shardonnayModuleDestroy(module);
}

/* Handles of nothing are bad input, not the end of the process. */
static void testNothing(void) {
  ShardonnayContext *silent = shardonnayContextCreate(NULL, NULL);
  printf("nothing: %d %d %d %d %zu\n", parse(silent, "func") != NULL,
         parse(NULL, program) != NULL, shardonnayPipelineRun(NULL, NULL),
         shardonnayShardingGetSlice(NULL, NULL, 0, NULL, 0, NULL, NULL),
         shardonnayModulePrint(NULL, true).length);
  shardonnayModuleDestroy(NULL);
  shardonnayContextDestroy(silent);
}

int main(void) {
  int diagnostics = 0;
  show("version", shardonnayVersion());
  ShardonnayContext *context =
      shardonnayContextCreate(onDiagnostic, &diagnostics);
  testMeshes(context);
  testModules(context);
  printf("parse: %d\n",
         parse(context, "func.func @f() { return %0 : f32 }") != NULL);
  printf("%d diagnostics\n", diagnostics);
  shardonnayContextDestroy(context);
  testNothing();
  return 0;
}
