// RUN: sdy-opt %s | sdy-opt | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
sdy.mesh @permuted = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @plain = <["a"=2, "b"=2]>

// CHECK-LABEL: func @all_gather
func.func @all_gather(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z", ?}]>}) -> tensor<64x64xf32> {
  // CHECK: sdy.all_gather [{"y":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"x", "y":(1)2}, {"z"}]> : tensor<64x64xf32>
  %0 = sdy.all_gather [{"y":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"x", "y":(1)2}, {"z"}]> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func @all_slice
func.func @all_slice(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"z"}>}) -> tensor<64x64xf32> {
  // CHECK: sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}], unreduced=max{"z"}> : tensor<64x64xf32>
  %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}], unreduced=max{"z"}> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func @all_to_all
func.func @all_to_all(%arg0: tensor<64x64x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}, {"z"}]>}) -> tensor<64x64x64x64xf32> {
  // CHECK: sdy.all_to_all [{"y"}: 0->1, {"z"}: 3->2] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}, {"z"}, {}]> : tensor<64x64x64x64xf32>
  %0 = sdy.all_to_all [{"y"}: 0->1, {"z"}: 3->2] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}, {"z"}, {}]> : tensor<64x64x64x64xf32>
  return %0 : tensor<64x64x64x64xf32>
}

// CHECK-LABEL: func @collective_permute
func.func @collective_permute(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@plain, [{"a"}, {}]>}) -> tensor<64x64xf32> {
  // CHECK: sdy.collective_permute %arg0 out_sharding=<@permuted, [{"b"}, {}]> : tensor<64x64xf32>
  %0 = sdy.collective_permute %arg0 out_sharding=<@permuted, [{"b"}, {}]> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func @all_reduce
func.func @all_reduce(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y", "z"}>},
                      %arg1: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>}) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"z"}> : tensor<64xf32>
  %0 = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"z"}> : tensor<64xf32>
  // CHECK: sdy.all_reduce max {"y"} %arg1 out_sharding=<@mesh, [{"x"}]> : tensor<64xf32>
  %1 = sdy.all_reduce max {"y"} %arg1 out_sharding=<@mesh, [{"x"}]> : tensor<64xf32>
  // Axes that are not marked may be partial all the same.
  // CHECK: sdy.all_reduce {"z"} %1 out_sharding=<@mesh, [{"x"}]> : tensor<64xf32>
  %2 = sdy.all_reduce sum {"z"} %1 out_sharding=<@mesh, [{"x"}]> : tensor<64xf32>
  return %0, %2 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func @reduce_scatter
func.func @reduce_scatter(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=min{"y"}>}) -> tensor<64xf32> {
  // CHECK: sdy.reduce_scatter min [{"y"}] %arg0 out_sharding=<@mesh, [{"x", "y"}]> : tensor<64xf32>
  %0 = sdy.reduce_scatter min [{"y"}] %arg0 out_sharding=<@mesh, [{"x", "y"}]> : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK-LABEL: func @to_unreduced
func.func @to_unreduced(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<64xf32> {
  // CHECK: sdy.sharded_to_unreduced [{"y"}] %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<64xf32>
  %0 = sdy.sharded_to_unreduced [{"y"}] %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<64xf32>
  // CHECK: sdy.replicated_to_unreduced {"z"} %0 out_sharding=<@mesh, [{"x"}], unreduced={"y", "z"}> : tensor<64xf32>
  %1 = sdy.replicated_to_unreduced {"z"} %0 out_sharding=<@mesh, [{"x"}], unreduced={"y", "z"}> : tensor<64xf32>
  return %1 : tensor<64xf32>
}
