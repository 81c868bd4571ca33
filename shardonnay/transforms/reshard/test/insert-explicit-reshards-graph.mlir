// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true device-model=bytes search-mode=graph record-cost' | FileCheck %s
// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true device-model=bytes search-mode=greedy' | FileCheck %s --check-prefix=ALONE
// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true device-model=bytes search-mode=graph keep-propagated' | FileCheck %s --check-prefix=ALONE
// RUN: not sdy-opt %s --sdy-insert-explicit-reshards='search-mode=best' 2>&1 | FileCheck %s --check-prefix=MODE

// MODE: error: search-mode 'best': expected greedy or graph

sdy.mesh @mesh = <["d"=2, "m"=4]>

// Two ops, one of them with two results, stand between what is sharded by
// columns and a use that needs rows. Alone, each keeps what it has; together
// they move before the value gets four times as large.
// CHECK-LABEL: func @moves_where_it_is_small
// CHECK-SAME: sdy.plan_cost = {bound = [[COST:[0-9.e+]+]] : f64, cost = [[COST]] : f64, greedy = {{.*}} : f64, moved = {{[1-9].*}} : f64}
// CHECK: sdy.reshard %arg0 <@mesh, [{"m"}, {}, {}]>
// CHECK-NOT: sdy.reshard
// ALONE-LABEL: func @moves_where_it_is_small
// ALONE: stablehlo.convert
// ALONE: stablehlo.sort
// ALONE: sdy.reshard %{{.*}} <@mesh, [{"m"}, {}, {}]>
func.func @moves_where_it_is_small(%arg0: tensor<64x64x2xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}, {}]>}) -> (tensor<64x64x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}) {
  %0 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}, {}]>]>} : (tensor<64x64x2xi8>) -> tensor<64x64x2xf32>
  %1:2 = "stablehlo.sort"(%0, %0) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %3 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"m"}, {}]>, <@mesh, [{}, {"m"}, {}]>]>} : (tensor<64x64x2xf32>, tensor<64x64x2xf32>) -> (tensor<64x64x2xf32>, tensor<64x64x2xf32>)
  %2 = stablehlo.sine %1#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"m"}, {}, {}]>]>} : tensor<64x64x2xf32>
  return %2 : tensor<64x64x2xf32>
}
