// RUN: sdy-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

func.func @window_without_room(%a: tensor<4xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected a global size that 2 shards of dim 0 of 'tensor<4xf32>' can hold, got 9}}
  %0 = spmd.fetch_window %a dim=0 global_size=9 start=0 step=4 size=4 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @window_of_negative_size(%a: tensor<4xf32>) {
  // expected-error @below {{expected a size that is not negative, got -1}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=0 step=4 size=-1 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @window_far_away(%a: tensor<4xf32>) {
  // expected-error @below {{expected windows within 2^63 positions, got start 9223372036854775804 and size 4}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=9223372036854775804 step=4 size=4 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @window_of_another_type(%a: tensor<4xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected the result type 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=0 step=4 size=5 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @window_fill(%a: tensor<4xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{expected a fill of type 'tensor<f32>', got 'tensor<4xf32>'}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=0 step=4 size=4 @mesh {"x"} fill %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @window_without_mesh(%a: tensor<4xf32>) {
  // expected-error @below {{has axes, expected a mesh before them}}
  %0 = "spmd.fetch_window"(%a) {dim = 0 : i64, global_size = 8 : i64, start = 0 : i64, step = 4 : i64, size = 4 : i64, axes = #sdy<axis_ref_list{"x"}>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>  // expected-note {{the mesh is declared here}}

func.func @window_counted_nowhere(%a: tensor<4xf32>) {
  // expected-error @below {{unknown axis}}
  %0 = spmd.fetch_window %a dim=0 global_size=8 start=0 step=4 size=4 @mesh {"x"} to {"z"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @period_of_nothing(%a: tensor<0xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{is periodic, expected a dim that is not empty}}
  %0 = spmd.fetch_window %a dim=0 global_size=0 start=0 step=4 size=4 @mesh {"x"} periodic : (tensor<0xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @periodic_window_of_nothing(%a: tensor<0xf32>) {  // expected-note {{the operand is made here}}
  // expected-error @below {{is periodic, expected a dim that is not empty}}
  %0 = spmd.periodic_window %a dim=0 start=0 size=4 : (tensor<0xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @periodic_window_of_negative_size(%a: tensor<4xf32>) {
  // expected-error @below {{expected a size that is not negative, got -1}}
  %0 = spmd.periodic_window %a dim=0 start=0 size=-1 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>

func.func @last_window_far_away(%a: tensor<4xf32>) {
  // expected-error @below {{expected windows within 2^63 positions, got start 0 and size 4}}
  %0 = spmd.fetch_window %a dim=0 global_size=16 start=0 step=2305843009213693952 size=4 @mesh {"x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @periodic_window_far_away(%a: tensor<4xf32>) {
  // expected-error @below {{expected windows within 2^63 positions, got start -9223372036854775808 and size 4}}
  %0 = spmd.periodic_window %a dim=0 start=-9223372036854775808 size=4 : (tensor<4xf32>) -> tensor<4xf32>
  return
}
