// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @groups_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op expected replica_groups of rank 2, got 'tensor<2xi64>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @groups_twice(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op has device 0 twice in replica_groups}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @groups_missing(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op has 2 devices in replica_groups, but not device 1}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @groups_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op has device -2 in replica_groups}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @groups_splat(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op has device -1 everywhere in replica_groups}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<-1> : tensor<1x1000000000000xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @ids_without_channel(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_gather' op expected a channel_handle with a positive handle, as use_global_device_ids is given}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_dim(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim 2 of the gather is out of range, expected 0 <= dim < 2}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{a result of the collective has shape [8, 8], expected [4, 16]}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_element(%x: tensor<4x8xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.all_gather' op expected the element type of 'tensor<4x8xf32>', got 'tensor<4x16xi32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xi32>
  return
}

// -----

func.func @gather_count(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 1 results, one per operand, got 2}}
  %0:2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  return
}

// -----

func.func @scatter_dim(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim 2 of the scatter is out of range, expected 0 <= dim < 2}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @scatter_rest(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op can't split dim 1 of size 8 into 3 parts}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @scatter_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{the result of the collective has shape [4, 2], expected [4, 4]}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{a result of the collective has shape [4, 4], expected [4, 8]}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @reduce_nothing() {
  // expected-error @+1 {{'stablehlo.all_reduce' op reduces nothing}}
  "stablehlo.all_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @reduce_element(%x: tensor<4x8xf32>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({ // expected-note {{the op is here}}
  // expected-error @+1 {{the body of 'stablehlo.all_reduce' combines values of type 'tensor<f32>', expected 'tensor<bf16>' for a result of type 'tensor<4x8xbf16>'}}
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return
}

// -----

func.func @split_count(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op splits into 4 parts, expected one for each of the 2 devices of a group}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
  return
}

// -----

func.func @split_rest(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op can't split dim 1 of size 8 into 3 parts}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, split_count = 3 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
  return
}

// -----

func.func @split_dim(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{dim 2 of the split is out of range, expected 0 <= dim < 2}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 2 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @split_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{a result of the collective has shape [4, 8], expected [8, 4]}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op expected source_target_pairs of shape [n, 2], got 'tensor<2xi64>'}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op has device -1 in source_target_pairs}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_target(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op has device 1 twice as a target}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_splat(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op has device 0 everywhere in source_target_pairs}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<9x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op requires the same type for all operands and results}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @partition_id() {
  // expected-error @+2 {{'stablehlo.partition_id' op inferred type(s) 'tensor<ui32>' are incompatible with return type(s) of operation 'tensor<i32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = stablehlo.partition_id : tensor<i32>
  return
}
