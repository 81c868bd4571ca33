// RUN: sdy-opt %s --sdy-user-priority-propagate="remarks-file=%t.jsonl" -o %t.mlir
// RUN: FileCheck %s --check-prefix=JSON < %t.jsonl
// RUN: sdy-opt %s --sdy-user-priority-propagate --remarks-filter=sdy-propagation -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sdy-opt %s --sdy-user-priority-propagate --log-actions-to=- -o /dev/null | FileCheck %s --check-prefix=ACTION
// Nothing is said that was not asked for, and recording changes nothing.
// RUN: sdy-opt %s --sdy-user-priority-propagate -o %t.plain.mlir 2>&1 | count 0
// RUN: diff %t.mlir %t.plain.mlir
// The first step alone.
// RUN: sdy-opt %s --sdy-user-priority-propagate --mlir-debug-counter=sdy-propagation-step-skip=0,sdy-propagation-step-count=1 | FileCheck %s --check-prefix=FIRST
// RUN: not sdy-opt %s --sdy-user-priority-propagate="remarks-file=%t.none/x" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: cannot write remarks to '{{.*}}/x'

sdy.mesh @mesh = <["a"=2, "b"=2]>

// ACTION: step 0, priority 0, pass-through ops that are the only users: result 0 of stablehlo.exponential [{?}, {?}] -> [{?}, {b, ?}]
// ACTION: step 1, priority 0, pass-through ops that are the only users: result 0 of stablehlo.tanh [{?}, {?}] -> [{a, ?}, {?}]
// ACTION: step 2, priority 0, pass-through factors: result 0 of stablehlo.dot_general

// FIRST: stablehlo.tanh %arg0 :
// FIRST: stablehlo.dot_general
// FIRST-NOT: sdy.sharding
// FIRST: stablehlo.exponential {{.*}}sdy.sharding

// The dot offers "a" for both dims; the larger operand's stays.
// JSON-DAG: "Axis":"a","Dim":"0","From":"argument 0","FromDim":"0","Level":"pass-through ops that are the only users","Origin":"input: 0","Priority":"0","Step":"1","Value":"result 0 of stablehlo.tanh"},{{.*}}"name":"AxisTaken"
// JSON-DAG: "Axes":"a","Conflict":"used-by-factor","Dim":"1","OfferedBy":"argument 1","OfferedByDim":"1","Rule":"larger-source","Value":"result 0 of stablehlo.dot_general","Winner":"result 0 of stablehlo.dot_general","WinnerDim":"0"},{{.*}}"name":"AxisRefused"
// JSON-DAG: "Axes":"b","Conflict":"closed","Dim":"1",{{.*}}"Value":"argument 2"
// REMARK: remark: [Passed] AxisTaken
// REMARK: remark: [Missed] AxisRefused
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) -> (tensor<16x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) {
  %0 = stablehlo.tanh %arg0 : tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %2 = stablehlo.exponential %arg2 : tensor<8x8xf32>
  return %1, %2 : tensor<16x8xf32>, tensor<8x8xf32>
}
