// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-emit-mpi

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.add' has no lowering to LLVM here; expected MLIR's own dialects (linalg, tosa, tensor, arith, math, scf): legalise the program to them first}}
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{an argument of type 'index' has no array; expected a tensor of a known shape, of integers, floats or complex numbers}}
func.func @main(%n: index) {
  return
}

// -----

// expected-error@+1 {{a result of type 'tensor<?xf32>' has no array; expected a tensor of a known shape, of integers, floats or complex numbers}}
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error@+1 {{combines elements of type 'i1' by sum, which the MPI runtime does not; expected max (or) or min (and)}}
  %0 = spmd.all_reduce %x @mesh {"x"} : tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{combines elements of type 'complex<f32>' by max, which the MPI runtime does not; expected sum}}
  %0 = spmd.all_reduce max %x @mesh {"x"} : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xi128>) -> tensor<4xi128> {
  // expected-error@+1 {{sends elements of type 'i128'; expected integers of 1 to 64 bits, floats or complex numbers}}
  %0 = spmd.all_reduce %x @mesh {"x"} : tensor<4xi128>
  return %0 : tensor<4xi128>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has no MPI form; run sdy-partition-to-local first}}
  %0 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has no public function with a body; expected one to run}}
module {
}

// -----

// expected-error@+1 {{has an axis without a size, expected sizes: say how many devices there are (option 'devices', or the pass sdy-bind-axis-sizes)}}
sdy.mesh @mesh = <["x"=2, "y"=?]>
func.func @main() {
  return
}
