// RUN: sdy-opt %s --split-input-file --sdy-rematerialize=memory-limit=900 | FileCheck %s
// RUN: sdy-opt %s --split-input-file --sdy-rematerialize=memory-limit=2000 | FileCheck %s --check-prefix=ROOM
// RUN: sdy-opt %s --split-input-file --sdy-rematerialize=memory-limit=1216 | FileCheck %s --check-prefix=COMPUTED

sdy.mesh @mesh = <["x"=2]>

// Gathered again behind the peak, for both uses there.
// CHECK-LABEL: @waits
// ROOM-LABEL: @waits
func.func private @waits(%p: tensor<4x8xf32>, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[FIRST:.*]] = spmd.all_gather %arg0 dim=0 @mesh {"x"} {sdy.cause = "because"}
  // CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot %arg1, %[[FIRST]]
  // CHECK-NEXT: %[[WIDE:.*]] = stablehlo.concatenate
  // CHECK-NEXT: %[[NARROW:.*]] = stablehlo.slice %[[WIDE]]
  // CHECK-NEXT: %[[BEHIND:.*]] = spmd.barrier %arg0
  // CHECK-NEXT: %[[AGAIN:.*]] = spmd.all_gather %[[BEHIND]] dim=0 @mesh {"x"} {sdy.cause = "because; again, for the limit of memory"}
  // CHECK-NEXT: stablehlo.dot %[[NARROW]], %[[AGAIN]]
  // CHECK-NEXT: stablehlo.dot %{{.*}}, %[[AGAIN]]
  // ROOM-COUNT-1: spmd.all_gather
  // ROOM-NOT: spmd.all_gather
  // ROOM: return
  %0 = spmd.all_gather %p dim=0 @mesh {"x"} {sdy.cause = "because"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot %a, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.concatenate %1, %1, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.slice %2 [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.dot %3, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.dot %4, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Nothing needs it before: it is gathered later. What the peak itself needs stays.
// CHECK-LABEL: @too_early
func.func private @too_early(%p: tensor<4x8xf32>, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[NEEDED:.*]] = spmd.all_gather %arg0
  // CHECK-NEXT: stablehlo.concatenate %[[NEEDED]], %[[NEEDED]]
  // CHECK-NEXT: stablehlo.slice
  // CHECK-NEXT: %[[LATER:.*]] = spmd.all_gather
  // CHECK-NEXT: stablehlo.dot %{{.*}}, %[[LATER]]
  %0 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %early = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %2 = stablehlo.slice %1 [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.dot %2, %early : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The shard is of around the branch, and used there later: it is computed again in both
// places, and of that the whole is gathered again.
// CHECK-LABEL: @in_a_branch
func.func private @in_a_branch(%p: tensor<4x8xf32>, %i: tensor<i32>, %m: tensor<8x16xf32>) -> (tensor<16x8xf32>, tensor<4x8xf32>) {
  %q = stablehlo.negate %p : tensor<4x8xf32>
  %0 = "stablehlo.case"(%i) ({
    %1 = spmd.all_gather %q dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.concatenate %m, %m, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %3 = stablehlo.slice %2 [0:8, 0:8] : (tensor<16x16xf32>) -> tensor<8x8xf32>
    // CHECK: stablehlo.slice
    // CHECK-NEXT: %[[SHARD:.*]] = stablehlo.negate
    // CHECK-NEXT: spmd.all_gather %[[SHARD]]
    // CHECK-NEXT: stablehlo.concatenate
    %4 = stablehlo.concatenate %3, %1, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    stablehlo.return %4 : tensor<16x8xf32>
  }) : (tensor<i32>) -> tensor<16x8xf32>
  %5 = stablehlo.negate %q : tensor<4x8xf32>
  return %0, %5 : tensor<16x8xf32>, tensor<4x8xf32>
}

// -----

// Computed again of what is smaller, and not gathered again: that sends nothing. The
// widened one that only a later op needs moves there.
sdy.mesh @mesh = <["x"=2]>

// COMPUTED-LABEL: @computed
// Of what is itself rematerialized, the copy that is there is read.
// CHECK-LABEL: @computed
// CHECK: %[[BEFORE:.*]] = spmd.barrier %arg1 after
// CHECK-NEXT: %[[COPY:.*]] = stablehlo.negate %[[BEFORE]]
// CHECK-NEXT: %[[BEHIND:.*]] = spmd.barrier %[[COPY]] after
// CHECK-NEXT: stablehlo.broadcast_in_dim %[[BEHIND]]
func.func private @computed(%p: tensor<4x8xf32>, %v: tensor<8xf32>) -> tensor<8xf32> {
  // COMPUTED-NEXT: %[[V:.*]] = stablehlo.negate %arg1
  // COMPUTED-NEXT: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[V]]
  // COMPUTED-NEXT: %[[GATHERED:.*]] = spmd.all_gather %arg0
  // COMPUTED-NEXT: %[[SUM:.*]] = stablehlo.dot %[[WIDE]], %[[GATHERED]]
  // COMPUTED-NEXT: stablehlo.concatenate
  // COMPUTED-NEXT: stablehlo.slice
  // COMPUTED-NEXT: %[[BEHIND:.*]] = spmd.barrier %[[V]]
  // COMPUTED-NEXT: %[[AGAIN:.*]] = stablehlo.broadcast_in_dim %[[BEHIND]]
  // COMPUTED-NEXT: stablehlo.dot %{{.*}}, %[[AGAIN]]
  // COMPUTED-NEXT: %[[LATER:.*]] = stablehlo.broadcast_in_dim %[[V]]
  // COMPUTED-NEXT: stablehlo.dot %{{.*}}, %[[LATER]]
  // COMPUTED-NEXT: stablehlo.dot %{{.*}}, %[[GATHERED]]
  %0 = stablehlo.negate %v : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %early = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.dot %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.concatenate %3, %3, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %5 = stablehlo.slice %4 [0:8, 0:8] : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %6 = stablehlo.dot %5, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.dot %6, %early : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = stablehlo.dot %7, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = stablehlo.dot %8, %0 : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %9 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Both are needed at once: each goes behind the other once, and no more.
// CHECK-LABEL: @together
func.func private @together(%p: tensor<4x16xf32>, %q: tensor<4x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: spmd.all_gather %arg0
  // CHECK-NEXT: spmd.all_gather %arg1
  // CHECK-NEXT: stablehlo.multiply
  %0 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = spmd.all_gather %q dim=0 @mesh {"x"} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// What stands between is rematerialized itself, and so is no op to wait for; nor is the
// one that is to be gathered again, which would be alive until then.
// CHECK-LABEL: @not_behind_itself
func.func private @not_behind_itself(%p: tensor<8x8xf32>, %a: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK-NEXT: %[[BEFORE:.*]] = stablehlo.negate
  // CHECK-NEXT: %[[ARGUMENT:.*]] = spmd.barrier %arg1
  // CHECK-NEXT: %[[FIRST:.*]] = spmd.all_gather %arg0
  // CHECK-NEXT: stablehlo.dot %[[FIRST]], %[[ARGUMENT]]
  // CHECK-NEXT: %[[WIDE:.*]] = stablehlo.concatenate %[[ARGUMENT]], %[[ARGUMENT]]
  // CHECK-NEXT: %[[BEHIND:.*]] = spmd.barrier %arg0 after %[[BEFORE]]
  // CHECK-NEXT: %[[AGAIN:.*]] = spmd.all_gather %[[BEHIND]]
  // CHECK-NEXT: stablehlo.multiply %[[WIDE]], %[[AGAIN]]
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = spmd.barrier %a after %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<8x8xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.dot %2, %1 : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %4 = stablehlo.concatenate %1, %1, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.multiply %4, %2 : tensor<16x8xf32>
  return %3, %5 : tensor<16x8xf32>, tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// What was gathered once, before the loop, waits in all of its runs. There it is gathered again
// behind the peak, and for the next run before it; nothing is left before the loop.
// CHECK-LABEL: @hoisted
// ROOM-LABEL: @hoisted
func.func private @hoisted(%p: tensor<4x8xf32>, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NOT: spmd.all_gather
  // CHECK: do {
  // CHECK: %[[FIRST:.*]] = spmd.barrier %arg0 after %{{iterArg.*}} :
  // CHECK-NEXT: %[[BEFORE:.*]] = spmd.all_gather %[[FIRST]]
  // CHECK-NEXT: stablehlo.dot %{{.*}}, %[[BEFORE]]
  // CHECK: %[[NARROW:.*]] = stablehlo.slice
  // CHECK-NEXT: %[[NEXT:.*]] = spmd.barrier %arg0 after %[[NARROW]]
  // CHECK-NEXT: %[[BEHIND:.*]] = spmd.all_gather %[[NEXT]]
  // CHECK-NEXT: stablehlo.dot %[[NARROW]], %[[BEHIND]]
  // ROOM: spmd.all_gather
  // ROOM: do {
  // ROOM-NOT: spmd.all_gather
  // ROOM: return
  %0 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %i = sdy.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%s = %a, %c = %i) : tensor<8x8xf32>, tensor<i32>
  cond {
    %n = sdy.constant dense<5> : tensor<i32>
    %2 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dot %s, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.concatenate %2, %2, %2, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %4 = stablehlo.slice %3 [0:8, 0:8] : (tensor<24x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.dot %4, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<8x8xf32>, tensor<i32>
  }
  return %1#0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// How often a device runs this loop is what it computes itself: nothing is sent there.
// CHECK-LABEL: @own_number
func.func private @own_number(%p: tensor<4x8xf32>, %a: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  // CHECK: spmd.all_gather
  // CHECK: do {
  // CHECK-NOT: spmd.all_gather
  // CHECK: return
  %0 = spmd.all_gather %p dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %i = sdy.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%s = %a, %c = %i) : tensor<8x8xf32>, tensor<i32>
  cond {
    %2 = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dot %s, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.concatenate %2, %2, %2, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
    %4 = stablehlo.slice %3 [0:8, 0:8] : (tensor<24x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.dot %4, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %one = sdy.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %5, %6 : tensor<8x8xf32>, tensor<i32>
  }
  return %1#0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// What stands between the product and what waits is fused, and not in memory: it is computed
// again too. The product is there anyway.
// CHECK-LABEL: @chain
func.func private @chain(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg0
  // CHECK: stablehlo.slice
  // CHECK-NEXT: %[[BEHIND:.*]] = spmd.barrier %[[DOT]] after
  // CHECK-NEXT: %[[EXP:.*]] = stablehlo.exponential %[[BEHIND]]
  // CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[EXP]]
  // CHECK-NEXT: stablehlo.dot %{{.*}}, %[[TANH]]
  %0 = stablehlo.dot %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.exponential %0 : tensor<8x8xf32>
  %2 = stablehlo.tanh %1 : tensor<8x8xf32>
  %3 = stablehlo.dot %a, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.concatenate %3, %3, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.slice %4 [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %6 = stablehlo.dot %5, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.dot %6, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// -----

// The product is computed with the sum, the only op that reads it, so that behind the peak its operand is read too: that
// one is computed again there.
// CHECK-LABEL: @read_by_a_chain
func.func private @read_by_a_chain(%p: tensor<8x8xf32>, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[KEPT:.*]] = stablehlo.dot %arg0, %arg0
  // CHECK-NEXT: %[[FIRST:.*]] = stablehlo.tanh %[[KEPT]]
  // CHECK-NEXT: stablehlo.dot %arg1, %[[FIRST]]
  // CHECK-NEXT: stablehlo.concatenate
  // CHECK: spmd.barrier %[[KEPT]]
  // CHECK-NEXT: %[[AGAIN:.*]] = stablehlo.tanh
  // CHECK-NEXT: stablehlo.multiply %[[AGAIN]], %[[KEPT]]
  // CHECK-NEXT: stablehlo.add
  %0 = stablehlo.dot %p, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<8x8xf32>
  %3 = stablehlo.dot %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.concatenate %3, %3, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.slice %4 [0:8, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
  %6 = stablehlo.dot %5, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.add %6, %2 : tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}
