// RUN: sdy-opt %s -sdy-manual-axes-cleanup | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// CHECK-LABEL: func @main
// CHECK: in_shardings=[<@mesh, [{"x"}], replicated={"y"}>, <@mesh, [{?}], replicated={"x", "y"}>] out_shardings=[<@mesh, [{"y", "z"}], replicated={"x"}>] manual_axes={"x", "y"}
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0, %arg0) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}], replicated={"y"}>] out_shardings=[<@mesh, [{"y", "z"}]>] manual_axes={"y", "x"} (%arg1: tensor<4xf32>, %arg2: tensor<8xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @token
// CHECK: in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, []>] manual_axes={"x"}
func.func @token(%arg0: !stablehlo.token, %arg1: tensor<8xf32>) -> !stablehlo.token {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, []>] manual_axes={"x"} (%arg2: !stablehlo.token, %arg3: tensor<4xf32>) {
    sdy.return %arg2 : !stablehlo.token
  } : (!stablehlo.token, tensor<8xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
