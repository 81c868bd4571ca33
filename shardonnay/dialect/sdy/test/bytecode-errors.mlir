// Bytecode that another producer, or another version, wrote. The files of jaxlib hold this program and, in -builtin, ops
// whose attributes are all of builtin; written by `module.operation.write_bytecode`.

// RUN: not sdy-opt %S/bytecode/jaxlib-0.10.2.mlirbc 2>&1 | FileCheck %s --check-prefix=PRODUCER
// PRODUCER: jaxlib-0.10.2.mlirbc:0:0: error: bytecode of another producer's 'sdy' dialect, expected Shardonnay's own; print the program as text where it comes from (in JAX: `lowered.as_text()`) and read that

// Attributes of builtin have MLIR's own form: nothing can be misread.
// RUN: sdy-opt %S/bytecode/jaxlib-0.10.2-builtin.mlirbc | FileCheck %s --check-prefix=BUILTIN
// BUILTIN: sdy.sharding_group %arg0 group_id=3
// BUILTIN: sdy.propagation_barrier %arg0 allowed_direction=BACKWARD
// BUILTIN: sdy.named_computation<"f">(%0)

// A later version: the entry `SDY`, 1 made 100.
// RUN: %python %S/Inputs/raise-version.py %S/bytecode/v1.mlirbc 100 > %t.later
// RUN: not sdy-opt %t.later 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: bytecode of version 100 of the 'sdy' dialect, expected 1 to {{[0-9]+}}; read it with the Shardonnay that wrote it, or a newer one, and print it as text

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
