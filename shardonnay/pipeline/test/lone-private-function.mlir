// Nothing calls it, so there is no program; passes before that is said find no function.
// RUN: not sdy-opt %s --sdy-partition-pipeline 2>&1 | FileCheck %s
// RUN: not sdy-opt %s --sdy-partition-pipeline="keep-functions-of=1" 2>&1 | FileCheck %s
// CHECK: error: expected a public function with a body, got none
sdy.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
