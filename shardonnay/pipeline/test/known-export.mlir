// The options of the export pipeline that jaxlib 0.10.2 can't be asked about, and what it is without.
// RUN: sdy-opt %s --sdy-export-pipeline | FileCheck %s --check-prefix=PLAIN
// RUN: sdy-opt %s --sdy-export-pipeline=avoid-export-for-partitioning=true | FileCheck %s --check-prefix=AVOID
// RUN: sdy-opt %s --sdy-export-pipeline=enable-insert-explicit-collectives=true | FileCheck %s --check-prefix=INLINED
// RUN: sdy-opt %s --sdy-export-pipeline="enable-insert-explicit-collectives=true inline-meshes=false" | FileCheck %s --check-prefix=NAMED
// RUN: sdy-opt %s --sdy-export-pipeline=enable-per-instruction-partitioning=true | FileCheck %s --check-prefix=ALONE
// RUN: sdy-opt %s --sdy-export-pipeline="enable-per-instruction-partitioning=true per-instruction-partitioning-filter=stablehlo.sine" | FileCheck %s --check-prefix=SINE

sdy.mesh @mesh = <["x"=2]>

// Both ends of what is partial are said, constraints are reshards.
// PLAIN-LABEL: func @main
// PLAIN: sdy.reshard %arg1
// PLAIN: sdy.all_reduce {"x"} %arg0

// For a partitioner that sees to that itself.
// AVOID-LABEL: func @main
// AVOID-NOT: sdy.all_reduce
// AVOID: sdy.sharding_constraint
// AVOID: return

// INLINED-NOT: sdy.mesh
// INLINED-LABEL: func @main
// INLINED: sdy.all_slice [{"x"}] %arg1
// INLINED: sdy.all_reduce {"x"} %arg0 out_sharding=<mesh<["x"=2]>, [{}]>

// NAMED: sdy.mesh @mesh
// NAMED-LABEL: func @main
// NAMED: sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]>

// ALONE-LABEL: func @main
// ALONE: sdy.manual_computation
// ALONE: stablehlo.sine {{.*}} : tensor<4xf32>
// ALONE: sdy.manual_computation
// ALONE: stablehlo.cosine {{.*}} : tensor<4xf32>

// SINE-LABEL: func @main
// SINE: sdy.manual_computation
// SINE: stablehlo.sine {{.*}} : tensor<4xf32>
// SINE: stablehlo.cosine {{.*}} : tensor<8xf32>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %b: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %2 = stablehlo.cosine %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %a, %2 : tensor<8xf32>, tensor<8xf32>
}

// A boundary that an axis does not divide is trimmed with and without export.
// AVOID-LABEL: func @uneven
// AVOID-SAME: %arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
// PLAIN-LABEL: func @uneven
// PLAIN-SAME: %arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
func.func @uneven(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
