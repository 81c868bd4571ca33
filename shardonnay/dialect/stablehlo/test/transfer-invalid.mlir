// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op expected a token as its last result, got 'none'}}
  "stablehlo.infeed"(%t) : (!stablehlo.token) -> ()
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op expected a token as its last result, got 'tensor<4xf32>'}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{expected 1 layouts, one for each tensor, got 2}}
  %0:2 = "stablehlo.infeed"(%t) <{layout = [[0], [0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op expected a list of dims as a layout, got "a"}}
  %0:2 = "stablehlo.infeed"(%t) <{layout = ["a"]}> : (!stablehlo.token) -> (tensor<4x4xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%t: !stablehlo.token, %a: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.send' op has a channel of type 2, expected 1 (device to device)}}
  %2 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op has a channel of type 2, expected 1 (device to device)}}
  %4 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}> : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.async_start' op expected a collective or a slice in its region, got 'stablehlo.add'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %y = stablehlo.add %x, %x : tensor<4xf32> // expected-note {{the op in the region}}
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.async_start' op expected one op and a return in its region, got 3 ops}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %z = stablehlo.add %x, %x : tensor<4xf32>
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.async_start' op expected a future of 'tensor<8xf32>', got '!stablehlo.future<tensor<4xf32>>'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %y : tensor<8xf32> // expected-note {{returned here}}
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  // expected-error @+1 {{'stablehlo.async_start' op expected a region that takes 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<5xf32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<10xf32>
    stablehlo.return %y : tensor<10xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<10xf32>>
  return
}

// -----

func.func @f(%a: tensor<4xf32>)  {
  %0 = "stablehlo.async_start"(%a) ({ // expected-note {{started here}}
  ^bb0(%x: tensor<4xf32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  // expected-error @+1 {{'stablehlo.async_done' op waits for '!stablehlo.future<tensor<8xf32>>', expected a future of 'tensor<9xf32>'}}
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<9xf32>
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op expected tensors before its token, got '!stablehlo.token'}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

// expected-error @+1 {{expected a future of ranked tensors, got '!stablehlo.token'}}
func.func @f(%t: !stablehlo.future<!stablehlo.token>) {
  return
}
