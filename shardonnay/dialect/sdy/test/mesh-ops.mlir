// RUN: sdy-opt %s | sdy-opt | FileCheck %s
// RUN: sdy-opt %s -emit-bytecode | sdy-opt | FileCheck %s

// CHECK: sdy.mesh @empty_mesh = <[]>
sdy.mesh @empty_mesh = <[]>
// CHECK: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK: sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = []}}
sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = []}}
// CHECK: sdy.mesh @size_one = <["x"=1]>
sdy.mesh @size_one = <["x"=1]>
// CHECK: sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
// The identity is not kept.
// CHECK: sdy.mesh @identity = <["x"=2, "y"=2]>
sdy.mesh @identity = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>
// The devices say the size.
// CHECK: sdy.mesh @unknown = <["x"=?, "y"=2]>
sdy.mesh @unknown = <["x"=?, "y"=2]>
