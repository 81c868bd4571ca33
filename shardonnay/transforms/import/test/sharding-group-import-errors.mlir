// RUN: sdy-opt %s -verify-diagnostics -sdy-sharding-group-import

func.func @shapes(%arg0: tensor<8xf32>, %arg1: tensor<8x2xf32>) {
  // expected-note @below {{another member}}
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  // expected-error @below {{expected the shape of the other members of its group, as in 'tensor<8xf32>', got 'tensor<8x2xf32>'}}
  sdy.sharding_group %arg1 group_id=0 : tensor<8x2xf32>
  return
}
