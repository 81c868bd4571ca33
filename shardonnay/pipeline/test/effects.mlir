// An effect happens once, on the device that the user names, or the program is refused; what is not known is computed whole and said.
// RUN: split-file %s %t
// RUN: sdy-opt %t/once.mlir --sdy-partition-pipeline | FileCheck %s --check-prefix=ONCE
// RUN: not sdy-opt %t/everywhere.mlir --sdy-partition-pipeline 2>&1 | FileCheck %s --check-prefix=EVERYWHERE
// RUN: sdy-opt %t/unknown.mlir --sdy-partition-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: not sdy-opt %t/unknown.mlir --sdy-partition-pipeline=no-implicit-replication 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not sdy-opt %t/dynamic.mlir --sdy-partition-pipeline 2>&1 | FileCheck %s --check-prefix=DYNAMIC

//--- once.mlir
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
// As JAX prints a callback. No warning: the user asks for one device.
// ONCE-NOT: warning
// ONCE: "stablehlo.all_gather"
// ONCE: "stablehlo.if"
// ONCE-NEXT: stablehlo.custom_call @xla_ffi_python_cpu_callback(%{{.*}}) {has_side_effect = true} : (tensor<8xf32>) -> ()
// ONCE-NOT: custom_call
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<8xf32>) -> ()
  return
}

//--- everywhere.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // EVERYWHERE: error: 'stablehlo.custom_call' has an effect, which every device would have: give it a sharding on one device, or move it into a manual computation
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return
}

//--- unknown.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // WARN: unknown.mlir:[[#]]:8: warning: {{.*}}op 'stablehlo.custom_call' cannot be computed sharded, it has no sharding rule: gathers 24 bytes per device
  // ERROR: unknown.mlir:[[#]]:8: error: {{.*}}op 'stablehlo.custom_call' cannot be computed sharded, it has no sharding rule: gathers 24 bytes per device
  %0 = stablehlo.custom_call @mystery(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- dynamic.mlir
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  // DYNAMIC: error: expected static shapes, got 'tensor<?xf32>'
  return %a : tensor<?xf32>
}
