// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -sdy-import-func-calls | FileCheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -sdy-import-func-calls=add-data-flow-edges-on-named-computations=false | FileCheck %s --check-prefix=BARE

sdy.mesh @mesh = <["x"=2]>

// The computation has the name that the function had before it was copied.
// CHECK-LABEL: func @main
// CHECK: %[[F:.*]] = sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>] (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[IN:.*]] = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]>
// CHECK-NEXT: sdy.return %[[IN]]
// CHECK-NEXT: } {mhlo.frontend_attributes = {a = "b"}}
// CHECK-NEXT: %[[OUT:.*]] = sdy.data_flow_edge %[[F]] sharding=<@mesh, [{?}]>
// CHECK-NEXT: return %[[OUT]]
// CHECK-NOT: func.func
// BARE: sdy.named_computation<"f">(%arg0)
// BARE-NEXT: sdy.return %arg1
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f_3(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>, mhlo.frontend_attributes = {a = "b"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f_3(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}

// -----

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot import the call of @f: expected a function of one block}}
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-note @below {{defined here}}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  "test.branch"()[^end] : () -> ()
^end:
  return %arg0 : tensor<8xf32>
}

// -----

// Beside an argument on one device others are open, on no mesh.
sdy.mesh @maximal_3 = <[], device_ids=[3]>

// CHECK-LABEL: func @one_device
// CHECK: sdy.named_computation<"on_one">(%arg0, %arg1) in_shardings=[<@maximal_3, []>, <mesh<[]>, [{?}]>]
func.func @one_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @on_one(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @on_one(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_3, []>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}
