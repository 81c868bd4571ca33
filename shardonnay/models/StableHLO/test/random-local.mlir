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

// The numbers are those of the device that is first along all axes, whatever
// shards the result.
// CHECK-LABEL: func.func @numbers
func.func @numbers(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<2xi64>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[ALL:.*]] = stablehlo.rng %arg0, %arg1, %arg2, distribution = NORMAL : {{.*}} -> tensor<8x6xf32>
  // CHECK: %[[FIRST:.*]] = stablehlo.compare EQ
  // CHECK: %[[MINE:.*]] = stablehlo.select %[[FIRST]], %[[ALL]], %{{.*}} : tensor<i1>, tensor<8x6xf32>
  // CHECK: %[[SAME:.*]] = spmd.all_reduce %[[MINE]] @mesh {"x", "y"} {sdy.cause = "what 'stablehlo.rng' adds up over devices; no other plan: all have what one of them computes"} : tensor<8x6xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, {{.*}} sizes = [4, 6]
  %0 = stablehlo.rng %a, %b, %n, distribution = NORMAL {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// In a manual computation each part has numbers of its own, the same on the
// devices that differ along other axes.
// CHECK-LABEL: func.func @by_hand
func.func @by_hand(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<1xi64>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.rng
  // CHECK: spmd.all_reduce %{{.*}} @mesh {"y"} {{.*}} : tensor<4xf32>
  %0 = sdy.manual_computation(%a, %b, %n) in_shardings=[<@mesh, [], replicated={"x"}>, <@mesh, [], replicated={"x"}>, <@mesh, [{}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%c: tensor<f32>, %d: tensor<f32>, %m: tensor<1xi64>) {
    %1 = stablehlo.rng %c, %d, %m, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
