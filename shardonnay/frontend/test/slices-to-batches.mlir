// RUN: sdy-opt %s -split-input-file --sdy-slices-to-batches | FileCheck %s

// As JAX has it: a product that may count from the end, of a second counter.
// CHECK-LABEL: @accumulation
// CHECK-SAME: %[[ROWS:.*]]: tensor<12x8xf32>
// CHECK: %[[BATCHES:.*]] = stablehlo.reshape %[[ROWS]] : (tensor<12x8xf32>) -> tensor<3x4x8xf32>
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %[[I:.*]] = %{{.*}}, %{{.*}} = %[[ROWS]]
// CHECK: do {
// CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[BATCH:.*]] = stablehlo.dynamic_slice %[[BATCHES]], %[[I]], %[[ZERO]], %{{.*}}, sizes = [1, 4, 8]
// CHECK-NEXT: stablehlo.reshape %[[BATCH]] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// CHECK-NOT: stablehlo.multiply
// CHECK-NOT: stablehlo.select
func.func @accumulation(%rows: tensor<12x8xf32>, %none: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:4 = stablehlo.while(%n = %zero, %i = %zero, %x = %rows, %sum = %none) : tensor<i32>, tensor<i32>, tensor<12x8xf32>, tensor<4x8xf32>
    cond {
    %more = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %twelve = stablehlo.constant dense<12> : tensor<i32>
    %1 = stablehlo.multiply %i, %four : tensor<i32>
    %2 = stablehlo.compare LT, %1, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.add %1, %twelve : tensor<i32>
    %4 = stablehlo.select %2, %3, %1 : tensor<i1>, tensor<i32>
    %5 = stablehlo.dynamic_slice %x, %4, %zero, sizes = [4, 8] : (tensor<12x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %6 = stablehlo.add %sum, %5 : tensor<4x8xf32>
    %7 = stablehlo.add %n, %one : tensor<i32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %7, %8, %x, %6 : tensor<i32>, tensor<i32>, tensor<12x8xf32>, tensor<4x8xf32>
  }
  return %0#3 : tensor<4x8xf32>
}

// -----

// The first batch is not in the loop; the others begin at the second. A slice
// across two batches stays.
// CHECK-LABEL: @first_batch
// CHECK-SAME: %[[ROWS:.*]]: tensor<8x12xf32>
// CHECK-NEXT: %[[BATCHES:.*]] = stablehlo.reshape %[[ROWS]] : (tensor<8x12xf32>) -> tensor<8x3x4xf32>
// CHECK: %[[FIRST:.*]] = stablehlo.slice %[[BATCHES]] [0:8, 0:1, 0:4]
// CHECK-NEXT: stablehlo.reshape %[[FIRST]] {kept} : (tensor<8x1x4xf32>) -> tensor<8x4xf32>
// CHECK: stablehlo.slice %[[ROWS]] [0:8, 2:6]
// CHECK: stablehlo.dynamic_slice %[[BATCHES]], %{{.*}}, %{{.*}}, %{{.*}}, sizes = [8, 1, 4]
func.func @first_batch(%rows: tensor<8x12xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %first = stablehlo.slice %rows [0:8, 0:4] {kept} : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %across = stablehlo.slice %rows [0:8, 2:6] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %0:2 = stablehlo.while(%i = %one, %sum = %first) : tensor<i32>, tensor<8x4xf32>
    cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.multiply %four, %i : tensor<i32>
    %2 = stablehlo.dynamic_slice %rows, %zero, %1, sizes = [8, 4] : (tensor<8x12xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %3 = stablehlo.add %sum, %2 : tensor<8x4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %3 : tensor<i32>, tensor<8x4xf32>
  }
  return %0#1, %across : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A scan over `jnp.arange(3)`, in a loop that changes nothing of the rows.
// CHECK-LABEL: @scan_of_numbers
// CHECK-SAME: %[[ROWS:.*]]: tensor<12xf32>
// CHECK-NEXT: %[[BATCHES:.*]] = stablehlo.reshape %[[ROWS]] : (tensor<12xf32>) -> tensor<3x4xf32>
// CHECK: %[[NUMBER:.*]] = stablehlo.reshape %{{.*}} : (tensor<1xi32>) -> tensor<i32>
// CHECK: stablehlo.dynamic_slice %[[BATCHES]], %[[NUMBER]], %{{.*}}, sizes = [1, 4]
func.func @scan_of_numbers(%rows: tensor<12xf32>, %none: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %numbers = stablehlo.iota dim = 0 : tensor<3xi32>
  %0:3 = stablehlo.while(%epoch = %zero, %x = %rows, %sum = %none) : tensor<i32>, tensor<12xf32>, tensor<4xf32>
    cond {
    %more = stablehlo.compare LT, %epoch, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1:4 = stablehlo.while(%i = %zero, %all = %numbers, %y = %x, %inner = %sum) : tensor<i32>, tensor<3xi32>, tensor<12xf32>, tensor<4xf32>
      cond {
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %2 = stablehlo.dynamic_slice %all, %i, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
      %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
      %4 = stablehlo.multiply %3, %four : tensor<i32>
      %5 = stablehlo.dynamic_slice %y, %4, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
      %6 = stablehlo.add %inner, %5 : tensor<4xf32>
      %7 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %7, %all, %y, %6 : tensor<i32>, tensor<3xi32>, tensor<12xf32>, tensor<4xf32>
    }
    %next = stablehlo.add %epoch, %one : tensor<i32>
    stablehlo.return %next, %x, %1#3 : tensor<i32>, tensor<12xf32>, tensor<4xf32>
  }
  return %0#2 : tensor<4xf32>
}

// -----

// What is sliced changes, starts at another distance, or at a negative number
// first; slices overlap, or do not divide the dim; the number of runs is data.
// CHECK-LABEL: @not_batches
// CHECK-NOT: reshape
func.func @not_batches(%rows: tensor<12xf32>, %small: tensor<4xf32>, %bound: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %from = %minus, %x = %rows, %sum = %small) : tensor<i32>, tensor<i32>, tensor<12xf32>, tensor<4xf32>
    cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.multiply %i, %four : tensor<i32>
    %2 = stablehlo.dynamic_slice %x, %1, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
    %3 = stablehlo.multiply %i, %three : tensor<i32>
    %4 = stablehlo.dynamic_slice %rows, %3, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
    %5 = stablehlo.multiply %from, %four : tensor<i32>
    %6 = stablehlo.dynamic_slice %rows, %5, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
    %7 = stablehlo.multiply %i, %five : tensor<i32>
    %8 = stablehlo.dynamic_slice %rows, %7, sizes = [5] : (tensor<12xf32>, tensor<i32>) -> tensor<5xf32>
    %9 = stablehlo.slice %8 [0:4] : (tensor<5xf32>) -> tensor<4xf32>
    %10 = stablehlo.add %2, %4 : tensor<4xf32>
    %11 = stablehlo.add %6, %9 : tensor<4xf32>
    %12 = stablehlo.add %10, %11 : tensor<4xf32>
    %13 = stablehlo.add %sum, %12 : tensor<4xf32>
    %14 = stablehlo.add %i, %one : tensor<i32>
    %15 = stablehlo.add %from, %one : tensor<i32>
    %16 = stablehlo.negate %x : tensor<12xf32>
    stablehlo.return %14, %15, %16, %13 : tensor<i32>, tensor<i32>, tensor<12xf32>, tensor<4xf32>
  }
  %17:2 = stablehlo.while(%i = %zero, %sum = %0#3) : tensor<i32>, tensor<4xf32>
    cond {
    %more = stablehlo.compare LT, %i, %bound : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %18 = stablehlo.multiply %i, %four : tensor<i32>
    %19 = stablehlo.dynamic_slice %rows, %18, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
    %20 = stablehlo.add %sum, %19 : tensor<4xf32>
    %21 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %21, %20 : tensor<i32>, tensor<4xf32>
  }
  return %17#1 : tensor<4xf32>
}

// -----

// The runs are counted beyond the batches: the last one is taken again, as the
// slice is. Batches of batches are reshaped twice.
// CHECK-LABEL: @clamped
// CHECK-SAME: %[[ROWS:.*]]: tensor<12xf32>
// CHECK-NEXT: %[[BATCHES:.*]] = stablehlo.reshape %[[ROWS]] : (tensor<12xf32>) -> tensor<3x4xf32>
// CHECK: %[[BATCH:.*]] = stablehlo.dynamic_slice %[[BATCHES]]
// CHECK: %[[OUTER:.*]] = stablehlo.reshape %[[BATCH]]
// CHECK: %[[PARTS:.*]] = stablehlo.reshape %[[OUTER]] : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK: stablehlo.dynamic_slice %[[PARTS]]
func.func @clamped(%rows: tensor<12xf32>, %none: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<2xf32>
    cond {
    %more = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.multiply %i, %four : tensor<i32>
    %2 = stablehlo.dynamic_slice %rows, %1, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
    %3:2 = stablehlo.while(%j = %zero, %inner = %sum) : tensor<i32>, tensor<2xf32>
      cond {
      %more = stablehlo.compare LT, %j, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %4 = stablehlo.multiply %j, %two : tensor<i32>
      %5 = stablehlo.dynamic_slice %2, %4, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
      %6 = stablehlo.add %inner, %5 : tensor<2xf32>
      %7 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %7, %6 : tensor<i32>, tensor<2xf32>
    }
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %3#1 : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}
