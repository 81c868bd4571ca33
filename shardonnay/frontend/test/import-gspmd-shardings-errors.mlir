// RUN: sdy-opt %s -split-input-file -verify-diagnostics --sdy-import-gspmd-shardings

// expected-error@+1 {{mhlo.sharding "{devices=[2,2]<=[4}" is no sharding: at character 18: expected ']', got '}'}}
func.func @grammar(%arg0: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4}"}) {
  return
}

// -----

// expected-error@+1 {{mhlo.sharding: expected text, got 3 : i64}}
func.func @no_text() -> (tensor<4xf32> {mhlo.sharding = 3 : i64}) {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note@+1 {{the program has 8 devices}}
func.func @counts(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"}) {
  // expected-error@+1 {{the devices of sharding {devices=[4]<=[4]} are not those of the program, expected 0 .. 7, each once}}
  %0 = stablehlo.tanh %arg0 {mhlo.sharding = "{devices=[4]<=[4]}"} : tensor<8xf32>
  return
}

// -----

// expected-note@+1 {{the program has 2 devices}}
module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error@+1 {{the devices of sharding {devices=[2]4,5} are not those of the program, expected 0 .. 1, each once}}
  func.func @other_devices(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]4,5}"}) {
    return
  }
}

// -----

// expected-error@+1 {{sharding {devices=[2,2]<=[4]} is for a tensor of rank 2, expected rank 1 for 'tensor<8xf32>'}}
func.func @rank(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) {
  return
}

// -----

// expected-error@+1 {{is that of a tuple, expected that of one value}}
func.func @tuple(%arg0: tensor<8xf32> {mhlo.sharding = "{{replicated}}"}) {
  return
}

// -----

func.func @tuple_size(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{is for 2 values, expected 1}}
  %0 = stablehlo.tanh %arg0 {mhlo.sharding = "{{replicated}, {replicated}}"} : tensor<8xf32>
  return
}

// -----

func.func @says_nothing(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @Sharding says nothing, expected mhlo.sharding}}
  %0 = stablehlo.custom_call @Sharding(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @operands(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{custom call @Sharding has other operands or results than expected, one tensor each}}
  %0 = stablehlo.custom_call @Sharding(%arg0, %arg0) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @other_type(%arg0: tensor<8xf32>) { // expected-note {{the operand is made here}}
  // expected-error@+1 {{custom call @Sharding turns 'tensor<8xf32>' into 'tensor<4xf32>', expected the same type}}
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unspecified(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{backend_config "unspecified_dims=[x]": expected unspecified_dims=[..], a list of dims}}
  %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[x]", mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @unspecified_dim(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{unspecified dim 1 does not exist, expected one below 1}}
  %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @not_cut(%arg0: tensor<8xf32>) { // expected-note {{the operand is made here}}
  // expected-error@+1 {{custom call @SPMDFullToShardShape: nothing says how its operand is sharded, expected a custom call @Sharding before it}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cut_how(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{unknown}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{sharding {unknown} does not say how the tensor is sharded at the boundary of a manual computation; expected devices or replicated}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nothing_manual(%arg0: tensor<8xf32>) {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{the devices that are manual under {devices=[2]<=[2]} and not under {devices=[2]<=[2]} do not differ along whole axes of one mesh, as expected}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @leaves(%arg0: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-note@+1 {{the local value}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{a value that is local to each device is used where a global one is expected; make it global first, by SPMDShardToFullShape}}
  return %1 : tensor<4xf32>
}

// -----

// expected-note@+1 {{the global value}}
func.func @comes_in(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{a global value is used where one that is local to each device is expected; make it local first, by SPMDFullToShardShape}}
  %2 = stablehlo.add %1, %arg1 : tensor<4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

func.func @other_axes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-note@+1 {{the earlier one}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{this boundary of a manual computation has other manual axes than an earlier one, expected the same}}
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

func.func @needs_itself(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{a manual computation of this block needs its own results; expected its inputs to be global values from before it}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %6 = stablehlo.add %1, %5 : tensor<4xf32>
  %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}

// -----

func.func @needs_itself_by_another(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{a manual computation of this block needs its own results; expected its inputs to be global values from before it}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  %t = stablehlo.tanh %3 : tensor<8xf32>
  %4 = stablehlo.custom_call @Sharding(%t) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %6 = stablehlo.add %1, %5 : tensor<4xf32>
  %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}

// -----

func.func @inspected(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @below {{custom call @InspectSharding is left out, as only XLA's partitioner calls it back; `explain` tells how a value is sharded, and why}}
  %0 = stablehlo.custom_call @InspectSharding(%arg0) {backend_config = "\10\05", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %arg0 : tensor<4xf32>
}
