// RUN: sdy-opt %s -sdy-partition-to-local | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Which bit is where depends on the whole shape.
// CHECK-LABEL: func.func @bits_of_an_uneven_dim
func.func @bits_of_an_uneven_dim(%s: tensor<2xui64>) -> (tensor<7x6xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %{{.*}}, %[[ALL:.*]] = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7x6xui32>)
  // CHECK: %[[PADDED:.*]] = {{.*}} %[[ALL]]{{.*}} -> tensor<8x6xui32>
  // CHECK: stablehlo.dynamic_slice %[[PADDED]], {{.*}} sizes = [2, 6]
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"y"}, {}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7x6xui32>)
  return %0#1 : tensor<7x6xui32>
}
