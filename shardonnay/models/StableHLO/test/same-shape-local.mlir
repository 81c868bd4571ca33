// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @composite(%arg0: tensor<4xf32>)
func.func @composite(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.composite "my.next" %arg0 {decomposition = @next_on_4} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.composite "my.next" %a {decomposition = @next, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @next(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c = sdy.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @scan(
func.func @scan(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %c: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: chlo.scan(%arg0) inits (%arg1) dimension=0
  // CHECK: ^bb0(%{{.*}}: tensor<3xf32>, %{{.*}}: tensor<3xf32>):
  // CHECK: stablehlo.add %{{.*}} : tensor<3xf32>
  // CHECK: (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}]>]>} {
  ^bb0(%e: tensor<6xf32>, %a: tensor<6xf32>):
    %s = stablehlo.add %e, %a : tensor<6xf32>
    stablehlo.return %s, %s : tensor<6xf32>, tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return %0#0 : tensor<4x6xf32>
}

// CHECK: func.func private @next_on_4(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: constant dense<1.000000e+00> : tensor<4xf32>
