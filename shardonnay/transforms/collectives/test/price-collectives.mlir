// RUN: sdy-opt %s --sdy-price-collectives=device-model=bytes -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>

// A gather of 4 rows of 32 bytes, and of 7 a sum of 8 rows: 2 * 256 * 3/4.
// expected-remark @+1 {{2 collectives, 512 bytes}}
func.func @two(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Five times.
// expected-remark @+1 {{1 collectives, 640 bytes}}
func.func @in_a_loop(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%b = %x, %c = %i) : tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// expected-remark @+1 {{0 collectives, 0 bytes, no time}}
func.func @none(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

// Only the order of the devices differs: each sends all that it has.
// expected-remark @+1 {{1 collectives, 128 bytes}}
func.func @other_order(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.collective_permute %x out_sharding=<@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
