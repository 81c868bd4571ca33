// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-expand-collectives

sdy.mesh @mesh = <["x"=2]>
func.func @complex(%a: tensor<4xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error@+1 {{moves elements of type 'complex<f32>', whose bits all_reduce does not add up; expected integers of 1 to 64 bits, or floats}}
  %0 = spmd.all_gather %a dim=0 @mesh {"x"} : (tensor<4xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @turned = <["x"=2], device_ids=[1, 0]>
func.func @orders(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{exchanges between two orders of the devices, which all_reduce on one mesh does not; expected one mesh}}
  %0 = spmd.collective_permute %a [{"x"}] of @turned -> [{"x"}] @mesh : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=6]>
func.func @parts(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{exchanges along parts of an axis that do not nest; expected parts that do}}
  %0 = spmd.collective_permute %a [{"x":(1)2}] -> [{"x":(3)2}] @mesh : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has an axis without a size, expected sizes: say how many devices there are (option 'devices', or the pass sdy-bind-axis-sizes)}}
sdy.mesh @mesh = <["x"=2, "y"=?]>
func.func @main() {
  return
}
