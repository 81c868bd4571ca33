// RUN: sdy-opt %s -split-input-file --sdy-import-donations | FileCheck %s
// RUN: sdy-opt %s -split-input-file --sdy-partition-pipeline | FileCheck %s --check-prefix=LOCAL

// As TensorFlow's compiler writes the step that updates a variable.
// CHECK: module attributes {mhlo.is_dynamic = false}
// LOCAL-NOT: alias
module attributes {
  mhlo.input_output_alias = [
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 0>},
    {alias = {kind = "may_alias", parameter_index = array<i64: 0>, parameter_number = 0 : i64}, output_index = array<i64: 1>},
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 9 : i64}, output_index = array<i64: 1>}],
  mhlo.is_dynamic = false} {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32})
  // LOCAL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
  func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<8xf32>) {
    %0 = stablehlo.add %x, %w : tensor<8xf32>
    return %0, %x : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

module attributes {mhlo.input_output_alias = [
    {alias = {kind = "must_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64>}]} {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK: func.func @main(%arg0: tensor<8xf32> {{{.*}}tf.aliasing_output = 0 : i32})
  // LOCAL: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = stablehlo.add %x, %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
