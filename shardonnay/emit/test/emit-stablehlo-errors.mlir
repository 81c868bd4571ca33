// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-emit-stablehlo

sdy.mesh @mesh = <["x"=2]>

func.func @no_order(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{the target can't combine 'complex<f32>' by max; gather the operand and reduce it whole}}
  %0 = spmd.all_reduce max %a @mesh {"x"} : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @not_partitioned(
    %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{has no StableHLO form; run sdy-partition-to-local first}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return
}

// -----

func.func @custom_partitioning(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a call that a Python function partitions (jax's custom_partitioning), which only the process that lowered the program has; write what each device computes by jax.shard_map}}
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%a) {backend_config = "140106828758096"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @lapack_spotrf_ffi(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-warning @below {{the target has no custom call @mine of its own; expected that one is registered where the program runs (jax.ffi.register_ffi_target)}}
  %2 = stablehlo.custom_call @mine(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // Once.
  %3 = stablehlo.custom_call @mine(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has an axis without a size, expected sizes: say how many devices there are (option 'devices', or the pass sdy-bind-axis-sizes)}}
sdy.mesh @mesh = <["x"=2, "y"=?]>
func.func @main() {
  return
}
