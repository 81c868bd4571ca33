// RUN: sdy-opt %s -split-input-file -sdy-bind-axis-sizes=devices=24 | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=12, "y"=2]>
// CHECK: func.func @one(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
sdy.mesh @mesh = <["x"=?, "y"=2]>
func.func @one(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

// As equal as they can be, larger ones first.
// CHECK: sdy.mesh @two = <["x"=6, "y"=4]>
// CHECK: sdy.mesh @three = <["x"=4, "y"=3, "z"=2]>
// CHECK: sdy.mesh @known = <["x"=4, "y"=2, "z"=3]>
// CHECK: sdy.mesh @all_known = <["x"=3, "y"=8]>
sdy.mesh @two = <["x"=?, "y"=?]>
sdy.mesh @three = <["x"=?, "y"=?, "z"=?]>
sdy.mesh @known = <["x"=?, "y"=?, "z"=3]>
sdy.mesh @all_known = <["x"=3, "y"=8]>

// -----

// Nothing is left for one.
// CHECK: sdy.mesh @mesh = <["x"=24, "y"=1]>
sdy.mesh @mesh = <["x"=24, "y"=?]>
