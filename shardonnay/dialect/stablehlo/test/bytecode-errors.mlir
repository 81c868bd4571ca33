// Bytecode of other producers' StableHLO is refused with what to do instead: jaxlib's own (a `compare`), and a portable
// artifact, the `mlir_module_serialized` of jax.export.

// RUN: not sdy-opt %S/bytecode/jaxlib-0.10.2.mlirbc 2>&1 | FileCheck %s --check-prefix=JAXLIB
// JAXLIB: error: bytecode of another producer's 'stablehlo' dialect, expected Shardonnay's own; print the program as text where it comes from (in JAX: `lowered.as_text()`) and read that

// RUN: not sdy-opt %S/bytecode/jax-export-0.10.2.mlirbc 2>&1 | FileCheck %s --check-prefix=EXPORT
// EXPORT: error: bytecode of another producer's 'vhlo' dialect, expected Shardonnay's own; print the program as text where it comes from (in JAX: `lowered.as_text()`) and read that
