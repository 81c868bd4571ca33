// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-sharding-group-import

func.func @shapes(%arg0: tensor<8xf32>, %arg1: tensor<8x2xf32>) {
  // expected-note @below {{another member}}
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  // expected-error @below {{expected the shape of the other members of its group, as in 'tensor<8xf32>', got 'tensor<8x2xf32>'}}
  sdy.sharding_group %arg1 group_id=0 : tensor<8x2xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @across_manual(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{another member}}
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}], replicated={"x"}>] out_shardings=[<@mesh, [{}], replicated={"x"}>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    // expected-error @below {{expected all members of its group in one manual computation, or all outside of one}}
    sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
