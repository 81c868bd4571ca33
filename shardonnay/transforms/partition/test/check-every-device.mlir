// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-check-every-device

sdy.mesh @mesh = <["x"=2]>

// In a manual computation each device does what it is told, and in what that calls.
func.func @manual(%a: tensor<8xf32>) {
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<4xf32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    stablehlo.custom_call @print(%b) {has_side_effect = true} : (tensor<4xf32>) -> ()
    func.call @inside() : () -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  // All devices have the numbers of one.
  %min = stablehlo.constant dense<0.0> : tensor<f32>
  %shape = stablehlo.constant dense<[8]> : tensor<1xi64>
  %1 = stablehlo.rng %min, %min, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  // Each device moves its shard.
  %2 = stablehlo.custom_call @annotate_device_placement(%1) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<8xf32>) -> tensor<8xf32>
  spmd.on_device 1 @mesh(%1) else() {
  ^bb0(%v: tensor<8xf32>):
    stablehlo.custom_call @print(%v) {has_side_effect = true} : (tensor<8xf32>) -> ()
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}
func.func private @inside() {
  call @further_inside() : () -> ()
  return
}
func.func private @further_inside() {
  %0 = stablehlo.partition_id : tensor<ui32>
  return
}

// -----

// One device's program, as it is after a first run.
func.func @local(%a: tensor<8xf32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @effect(%a: tensor<8xf32>, %p: tensor<i1>) {
  "stablehlo.if"(%p) ({
    // expected-error @below {{'stablehlo.custom_call' has an effect, which every device would have: give it a sharding on one device, or move it into a manual computation}}
    stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<8xf32>) -> ()
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @one_device(%a: tensor<8xf32>) {
  // A number that each device has.
  %0 = stablehlo.partition_id : tensor<ui32>
  // expected-error @below {{'stablehlo.collective_permute' speaks of single devices, of which there are none yet: move it into a manual computation, or write what it is for on the whole tensor}}
  %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error @below {{expected a mesh of at most 1048576 devices, got 4398046511104}}
sdy.mesh @mesh = <["x"=1099511627776, "y"=4]>
