// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @barrier
func.func @barrier(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // CHECK: stablehlo.optimization_barrier %{{[^ ]+}}, %{{[^ ]+}} : tensor<4xf32>, !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %x, %t : tensor<4xf32>, !stablehlo.token
  // CHECK: stablehlo.optimization_barrier {a = "b"} %{{[^ ]+}} : tensor<4xf32>
  %1 = stablehlo.optimization_barrier {a = "b"} %x : tensor<4xf32>
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  return
}

// CHECK-LABEL: func.func @while
func.func @while(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK: %[[R:[^:]+]]:2 = stablehlo.while(%[[X:[^ ]+]] = %{{[^,]+}}, %[[N:[^ ]+]] = %{{[^)]+}}) : tensor<4xf32>, tensor<i32> attributes {a = "b"}
  // CHECK-NEXT: cond {
  // CHECK: stablehlo.compare GT, %[[N]], %{{.*}}
  // CHECK: } do {
  // CHECK: stablehlo.subtract %[[N]], %{{.*}}
  // CHECK: stablehlo.return %[[X]], %{{.*}} : tensor<4xf32>, tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<4xf32>, tensor<i32> attributes {a = "b"}
  cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.subtract %i, %c : tensor<i32>
    stablehlo.return %a, %1 : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @while_nothing
func.func @while_nothing(%p: tensor<i1>) {
  // CHECK: stablehlo.while()
  // CHECK-NEXT: cond {
  stablehlo.while() cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// CHECK-LABEL: func.func @while_refines
func.func @while_refines(%x: tensor<?xf32>, %p: tensor<i1>) {
  // CHECK: stablehlo.while(%{{.*}}) : (tensor<?xf32>) -> tensor<4xf32>
  %0 = stablehlo.while(%a = %x) : (tensor<?xf32>) -> tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %a : tensor<?xf32>
  }
  return
}

// CHECK-LABEL: func.func @branches
func.func @branches(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<?xf32>) {
  // CHECK: "stablehlo.if"(%{{.*}}) ({
  // CHECK: }, {
  // CHECK: }) : (tensor<i1>) -> tensor<?xf32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  // CHECK: "stablehlo.case"(%{{.*}}) ({
  // CHECK: }, {
  // CHECK: }) {a = "b"} : (tensor<i32>) -> ()
  "stablehlo.case"(%i) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) {a = "b"} : (tensor<i32>) -> ()
  return
}

// CHECK-LABEL: func.func @map
func.func @map(%x: tensor<4x5xf32>) -> tensor<4x5xi32> {
  // CHECK: "stablehlo.map"(%{{.*}}) <{dimensions = array<i64: 0, 1>}> ({
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<f32>):
    %1 = stablehlo.convert %i : (tensor<f32>) -> tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4x5xf32>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// CHECK-LABEL: func.func private @comparator
func.func private @comparator(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: stablehlo.return %{{.*}} : tensor<f32>
  stablehlo.return %x : tensor<f32>
}
