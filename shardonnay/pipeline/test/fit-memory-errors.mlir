// RUN: sdy-opt %s --sdy-fit-memory=memory-limit=1 -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

// What a plan is refused for is said once, and where it stands in the program.
func.func @main(%a: tensor<?x8xf32>, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<?x8xf32> {
  // expected-error @below {{has the dynamic shape 'tensor<?x8xf32>', expected static shapes; refine the shapes first}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
