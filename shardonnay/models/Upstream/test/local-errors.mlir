// RUN: sdy-opt %s -sdy-partition-pipeline -verify-diagnostics

// Where a condition guards the read, its place may be none of the tensor.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%table: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<8xindex>) -> tensor<8xf32> {
  %c = arith.constant dense<0.0> : tensor<8xf32>
  %size = arith.constant 8 : index
  // expected-note @-3 {{the value from outside}}
  // expected-error @below {{expected regions that use no tensor from outside: make the value an operand, or compute it inside}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<8xindex>) outs(%c : tensor<8xf32>) {
  ^bb0(%a: index, %b: f32):
    %isInside = arith.cmpi ult, %a, %size : index
    %1 = scf.if %isInside -> f32 {
      %2 = tensor.extract %table[%a] : tensor<8xf32>
      scf.yield %2 : f32
    } else {
      scf.yield %b : f32
    }
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
