// Which op makes the devices communicate? All that is not needed for it goes: other ops, shardings that have no part in it.
// RUN: sdy-reduce %s --test=%S/Inputs/adds-up.sh -o %t
// RUN: not %S/Inputs/adds-up.sh %t
// RUN: FileCheck %s < %t

// CHECK-NOT: stablehlo.{{tanh|exponential|add|multiply|transpose}}
// CHECK: stablehlo.dot_general
// CHECK-NOT: stablehlo.{{tanh|exponential|add|multiply|transpose}}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                       %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = stablehlo.exponential %b : tensor<8x8xf32>
  %2 = stablehlo.multiply %0, %0 : tensor<8x8xf32>
  %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.add %3, %0 : tensor<8x8xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = stablehlo.multiply %5, %5 : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
// A function that nobody calls goes with all that is in it.
// CHECK-NOT: @unused
func.func private @unused(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: not sdy-reduce %t --test=/nowhere 2>&1 | FileCheck %s --check-prefix=NO-TEST
// NO-TEST: error: the test '/nowhere' can't be run
// RUN: not sdy-reduce %t --test=/bin/true 2>&1 | FileCheck %s --check-prefix=DULL
// DULL: error: the program is not interesting: '/bin/true' has to exit with 1 for it
