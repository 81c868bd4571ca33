// RUN: sdy-opt %s -split-input-file --sdy-forward-loop-copies | FileCheck %s

// A scan over layers returns what it was given for each: the tensor stands for its
// copy, and the loop does not carry that.
// CHECK-LABEL: @scan
// CHECK-SAME: %[[ARG:.*]]: tensor<3x8xf32>, %{{.*}}: tensor<8xf32>
// CHECK: %[[LOOP:.*]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
// CHECK-NOT: dynamic_update_slice
// CHECK: return %[[LOOP]]#2, %[[ARG]]
func.func @scan(%a: tensor<3x8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:4 = stablehlo.while(%i = %zero, %from = %a, %to = %none, %y = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
    %3 = stablehlo.add %y, %2 : tensor<8xf32>
    %4 = stablehlo.reshape %2 : (tensor<8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.dynamic_update_slice %to, %4, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %from, %5, %3 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<8xf32>
  }
  return %0#3, %0#2 : tensor<8xf32>, tensor<3x8xf32>
}

// -----

// What is copied need not be carried.
// CHECK-LABEL: @captured
// CHECK-SAME: %[[ARG:.*]]: tensor<3x8xf32>
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while({{.*}}) : tensor<i32>, tensor<8xf32>
// CHECK: return %[[LOOP]]#1, %[[ARG]]
func.func @captured(%a: tensor<3x8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %to = %none, %y = %x) : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.negate %y : tensor<8xf32>
    %next = stablehlo.add %one, %i : tensor<i32>
    stablehlo.return %next, %2, %3 : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
  }
  return %0#2, %0#1 : tensor<8xf32>, tensor<3x8xf32>
}

// -----

// The last row is as before.
// CHECK-LABEL: @fewer_runs
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @fewer_runs(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<2> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// Nobody knows how many rows are written.
// CHECK-LABEL: @unknown_runs
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @unknown_runs(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>, %n: tensor<i32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// The first row is as before.
// CHECK-LABEL: @from_one
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @from_one(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// Every other row is as before.
// CHECK-LABEL: @by_two
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @by_two(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<2> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<6> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// A row is written at another place than it is from.
// CHECK-LABEL: @other_place
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @other_place(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %one, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// Only a part of each row is written.
// CHECK-LABEL: @narrow
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @narrow(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// The other tensor has more rows.
// CHECK-LABEL: @longer
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @longer(%a: tensor<4x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<4x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<4x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// Runs change what they copy.
// CHECK-LABEL: @changed
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @changed(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.negate %from : tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %3, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// A run reads what was written before it.
// CHECK-LABEL: @read
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @read(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.add %from, %to : tensor<3x8xf32>
    %4 = stablehlo.subtract %3, %to : tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %4, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// The user says how the copy is sharded.
// CHECK-LABEL: @said
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @said(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, []>, <mesh<["x"=2]>, [{}, {}]>, <mesh<["x"=2]>, [{}, {"x"}]>]>}
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %2 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// What was written is changed.
// CHECK-LABEL: @written_again
// CHECK: dynamic_update_slice
// CHECK: return %{{.*}}#2
func.func @written_again(%a: tensor<3x8xf32>, %x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %from = %a, %to = %x) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.negate %2 : tensor<3x8xf32>
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next, %from, %3 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// A scan in reverse counts the same, and takes its slices from the end.
// CHECK-LABEL: @reversed
// CHECK-SAME: %[[ARG:.*]]: tensor<3x8xf32>
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while({{.*}}) : tensor<i32>, tensor<8xf32>
// CHECK: return %[[LOOP]]#1, %[[ARG]]
func.func @reversed(%a: tensor<3x8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %to = %none, %y = %x) : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %left = stablehlo.subtract %end, %i : tensor<i32>
    %at = stablehlo.subtract %left, %one : tensor<i32>
    %1 = stablehlo.dynamic_slice %a, %at, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %at, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.negate %y : tensor<8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %2, %3 : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
  }
  return %0#2, %0#1 : tensor<8xf32>, tensor<3x8xf32>
}

// -----

// One behind the end is taken for the last, so that the first is never written.
// CHECK-LABEL: @reversed_from_behind
// CHECK: dynamic_update_slice
func.func @reversed_from_behind(%a: tensor<3x8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %to = %none, %y = %x) : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
    cond {
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %at = stablehlo.subtract %end, %i : tensor<i32>
    %1 = stablehlo.dynamic_slice %a, %at, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %to, %1, %at, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %3 = stablehlo.negate %y : tensor<8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %2, %3 : tensor<i32>, tensor<3x8xf32>, tensor<8xf32>
  }
  return %0#2, %0#1 : tensor<8xf32>, tensor<3x8xf32>
}
