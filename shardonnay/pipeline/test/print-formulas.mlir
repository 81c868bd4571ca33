// RUN: sdy-opt %s -sdy-print-formulas -o /dev/null | FileCheck %s
// RUN: not sdy-opt %s -sdy-print-formulas=output=/no/such/file 2>&1 | FileCheck %s --check-prefix=FILE

// FILE: error: {{.*}}/no/such/file{{.*}}; expected a file to write to

// CHECK: "by_axis": {
// CHECK: "x": {
// CHECK-NEXT: "bytes": 512
// CHECK: "y": {
// CHECK-NEXT: "bytes": 384
// CHECK: "collectives": [
// CHECK: "axes": [
// CHECK-NEXT: "x"
// CHECK: "bytes": 512
// CHECK-NEXT: "count": 1
// CHECK-NEXT: "formula": "128 * ceil(8 / x) * (x - 1)"
// CHECK-NEXT: "kind": "all_gather"
// CHECK: "y"
// CHECK: "bytes": 384
// CHECK: "formula": "ceil(512 * (y - 1) / y)"
// CHECK-NEXT: "kind": "all_reduce"
// CHECK: "flops": {
// CHECK-NEXT: "flops": 1024
// CHECK-NEXT: "formula": "128 * ceil(32 / y)"
// CHECK: "peak_bytes": {
// CHECK: "redundant_flops": {
// CHECK-NEXT: "flops": 4096
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x32xf32>
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x32xf32>
  %2 = stablehlo.dot %1, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
