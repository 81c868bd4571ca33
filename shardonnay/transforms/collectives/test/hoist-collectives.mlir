// RUN: sdy-opt %s --sdy-hoist-collectives | FileCheck %s
// RUN: sed 's/attributes {/attributes {sdy.memory_price = 3.0 : f64, /' %s | sdy-opt --sdy-hoist-collectives=device-model=bytes | FileCheck %s --check-prefix=DEAR

sdy.mesh @mesh = <["x"=2]>

// The weight is carried unchanged. A device holds 256 bytes more, and sends 128 in each of 5 runs,
// 512 too many: that is not worth three byte times a byte.
// CHECK-LABEL: func @carried
// DEAR-LABEL: func @carried
func.func @carried(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[T:.*]] = stablehlo.transpose %arg0
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{}, {"x"}] %[[T]]
  // CHECK-NEXT: stablehlo.while
  // CHECK: do {
  // CHECK-NOT: sdy.all_gather
  // CHECK: stablehlo.dot %{{.*}}, %[[G]]
  // DEAR: do {
  // DEAR: sdy.all_gather
  // DEAR: return
  %i = sdy.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%a = %w, %b = %x, %c = %i) : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %a, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#1 : tensor<8x8xf32>
}

// Every run gathers another value.
// CHECK-LABEL: func @changes
// DEAR-LABEL: func @changes
func.func @changes(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK: do {
  // CHECK: sdy.all_gather
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%b = %x, %c = %i) : tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// One run, no gain.
// CHECK-LABEL: func @runs_once
func.func @runs_once(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: do {
  // CHECK: sdy.all_gather
  %i = sdy.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%b = %x, %c = %i) : tensor<8x8xf32>, tensor<i32>
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// A branch of the loop gathers the same in every run.
// CHECK-LABEL: func @in_branch
func.func @in_branch(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>, %p: tensor<i1>) -> tensor<8x8xf32> {
  // CHECK: %[[T:.*]] = stablehlo.transpose %arg0
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{}, {"x"}] %[[T]]
  // CHECK-NEXT: stablehlo.while
  // CHECK: "stablehlo.if"
  // CHECK-NEXT: stablehlo.dot %{{.*}}, %[[G]]
  // CHECK: }, {
  // CHECK-NEXT: sdy.all_gather
  // CHECK-NOT: sdy.all_gather
  %i = sdy.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%a = %w, %b = %x, %c = %i) : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.transpose %b, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = "stablehlo.if"(%p) ({
      %5 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %6 = sdy.all_gather [{}, {"x"}] %5 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      %7 = stablehlo.dot %b, %6 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %7 : tensor<8x8xf32>
    }, {
      %5 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      stablehlo.return %5 : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %a, %2, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#1 : tensor<8x8xf32>
}

// A barrier hands on the weight, as `jax.checkpoint` has it in what it computes
// once more.
// CHECK-LABEL: func @behind_a_barrier
func.func @behind_a_barrier(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[G:.*]] = sdy.all_gather [{"x"}, {}] %arg0
  // CHECK: stablehlo.while
  // CHECK: do {
  // CHECK: %[[B:.*]]:2 = stablehlo.optimization_barrier
  // CHECK-NOT: sdy.all_gather
  // CHECK: stablehlo.dot %[[B]]#1, %[[G]]
  %i = sdy.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%b = %x, %c = %i) : tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>} %w, %b : tensor<8x8xf32>, tensor<8x8xf32>
    %2 = sdy.all_gather [{"x"}, {}] %1#0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %1#1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// Nothing reads what is carried any more: it is not gathered for that.
// CHECK-LABEL: func @unread
func.func @unread(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.constant
  // CHECK-NEXT: %[[S:.*]] = sdy.all_gather [{"x"}, {}] %arg0
  // CHECK-NEXT: %[[T:.*]] = sdy.all_slice [{}, {"x"}] %[[S]]
  // CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{}, {"x"}] %[[T]]
  // CHECK-NEXT: stablehlo.while(%{{.*}} = %arg0, {{.*}}sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>
  // CHECK: stablehlo.dot %{{.*}}, %[[G]]
  %i = sdy.constant dense<0> : tensor<i32>
  %g = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %0:3 = stablehlo.while(%a = %g, %b = %x, %c = %i) : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    %1 = sdy.all_gather [{}, {"x"}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %a, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#1 : tensor<8x8xf32>
}

// The slice meets the gather.
// CHECK-LABEL: func @meeting_slice
func.func @meeting_slice(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[G:.*]] = sdy.all_gather [{"x"}, {}] %arg0
  // CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{}, {"x"}] %[[G]]
  // CHECK-NEXT: stablehlo.while
  // CHECK: stablehlo.dot %{{.*}}, %[[S]]
  %i = sdy.constant dense<0> : tensor<i32>
  %g = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %0:2 = stablehlo.while(%b = %x, %c = %i) : tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, []>]>}
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.all_slice [{}, {"x"}] %g out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    %3 = stablehlo.dot %b, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %3, %4 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}
