// What the caller and the engine are told besides shardings comes through: donation, layouts, memory, names, locations.
// RUN: sdy-opt %s --sdy-partition-pipeline -mlir-print-debuginfo -mlir-print-local-scope 2>&1 | FileCheck %s

// The shards of %a are not those of the result that it would be.
// CHECK: preserved.mlir:[[#@LINE+14]]:5: remark: argument 0 is not donated to result 0: a device holds 'tensor<4x8xf32>' of it and 'tensor<8x2xf32>' of the result
// CHECK: module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}
module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4x8xf32> {mhlo.layout_mode = "default"} loc("{{.*}}preserved.mlir":[[#@LINE+9]]:5)
// CHECK-SAME: %arg1: tensor<4x8xf32> {jax.buffer_donor = true, mhlo.layout_mode = "{0,1}"} loc("batch"
// CHECK-SAME: %arg2: tensor<4x8xf32> {mhlo.memory_kind = "pinned_host", tf.aliasing_output = 1 : i32} loc(
// CHECK-SAME: -> (tensor<8x2xf32> {jax.result_info = "out[0]", mhlo.layout_mode = "{1,0}"}, tensor<4x8xf32> {jax.result_info = "out[1]"})
// CHECK-SAME: attributes {execution_thread = "main"}
// CHECK: stablehlo.tanh %{{.*}} {mhlo.frontend_attributes = {scope = "attention"}} : tensor<4x2xf32> loc(callsite("f.py":3:5 at "main.py":7:1))
// CHECK: stablehlo.all_gather{{.*}} loc(callsite("f.py":3:5 at "main.py":7:1))
// CHECK: stablehlo.custom_call @known(%arg2) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("g.py":4:2)
func.func public @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32, mhlo.layout_mode = "default"},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.buffer_donor = true, mhlo.layout_mode = "{0,1}"} loc("batch"("in.py":1:1)),
    %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 1 : i32, mhlo.memory_kind = "pinned_host"})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>, jax.result_info = "out[0]", mhlo.layout_mode = "{1,0}"},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.result_info = "out[1]"})
    attributes {execution_thread = "main"} {
  %0 = stablehlo.tanh %a {mhlo.frontend_attributes = {scope = "attention"}} : tensor<8x8xf32> loc(callsite("f.py":3:5 at "main.py":7:1))
  %1 = stablehlo.custom_call @known(%c) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("g.py":4:2)
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
}
