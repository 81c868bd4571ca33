// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func private @foo
// CHECK-LABEL: func.func @custom_call
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @foo(%{{[^ ,:)]+}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @"a b"(%{{[^ ,:)]+}}) {api_version = 2 : i32, backend_config = "hi", called_computations = [@foo], foo = 3 : i32, has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @x(%{{[^ ,:)]+}}) {api_version = 4 : i32, backend_config = {a = 3 : i32, b = "x"}, mhlo.backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.custom_call @x(%{{[^ ,:)]+}}) {has_side_effect = true} : (tensor<4xf32>) -> ()
// CHECK: %{{[^ ,:)]+}}:2 = stablehlo.custom_call @x(%{{[^ ,:)]+}}, %{{[^ ,:)]+}}) {has_side_effect = true} : (tensor<4xf32>, !stablehlo.token) -> (tuple<tensor<4xf32>, tensor<3xf32>>, !stablehlo.token)
// CHECK: return %{{[^ ,:)]+}} : tensor<4xf32>
func.func private @foo(tensor<4xf32>) -> tensor<4xf32>
func.func @custom_call(%a: tensor<4xf32>, %t: !stablehlo.token) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "a b", has_side_effect = true, backend_config = "hi", api_version = 2 : i32, called_computations = [@foo], operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0]> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], foo = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.custom_call"(%a) {call_target_name = "x", has_side_effect = false, backend_config = {a = 3 : i32, b = "x"}, api_version = 4 : i32, called_computations = [], mhlo.backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>
  "stablehlo.custom_call"(%a) {call_target_name = "x", has_side_effect = true} : (tensor<4xf32>) -> ()
  %3:2 = "stablehlo.custom_call"(%a, %t) {call_target_name = "x", has_side_effect = true} : (tensor<4xf32>, !stablehlo.token) -> (tuple<tensor<4xf32>, tensor<3xf32>>, !stablehlo.token)
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @buffers
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @x(%{{[^ ,:)]+}}) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @Unpin(%{{[^ ,:)]+}}) : (memref<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @Pin(%{{[^ ,:)]+}}) : (tensor<4xf32>) -> memref<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.custom_call @CreateBuffer() : () -> memref<4xf32>
// CHECK: return
func.func @buffers(%a: memref<4xf32>, %b: tensor<4xf32>) {
  %0 = stablehlo.custom_call @x(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %1 = stablehlo.custom_call @Unpin(%a) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Pin(%b) : (tensor<4xf32>) -> memref<4xf32>
  %3 = stablehlo.custom_call @CreateBuffer() : () -> memref<4xf32>
  return
}

// CHECK-LABEL: func.func @tuples
// CHECK: %{{[^ ,:)]+}} = stablehlo.tuple %{{[^ ,:)]+}}, %{{[^ ,:)]+}} {foo} : tuple<tensor<4xf32>, !stablehlo.token>
// CHECK: %{{[^ ,:)]+}} = stablehlo.get_tuple_element %{{[^ ,:)]+}}[1] {foo} : (tuple<tensor<4xf32>, !stablehlo.token>) -> !stablehlo.token
// CHECK: %{{[^ ,:)]+}} = stablehlo.tuple  : tuple<>
// CHECK: return
func.func @tuples(%a: tensor<4xf32>, %t: !stablehlo.token) {
  %0 = stablehlo.tuple %a, %t {foo} : tuple<tensor<4xf32>, !stablehlo.token>
  %1 = stablehlo.get_tuple_element %0[1] {foo} : (tuple<tensor<4xf32>, !stablehlo.token>) -> !stablehlo.token
  %2 = stablehlo.tuple : tuple<>
  return
}

// CHECK-LABEL: func.func private @bar
// CHECK-LABEL: func.func @composite
// CHECK: %{{[^ ,:)]+}} = stablehlo.composite "x.y" %{{[^ ,:)]+}} {decomposition = @bar} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.composite "x.y.z" %{{[^ ,:)]+}} {composite_attributes = {a = 1 : i32}, decomposition = @bar, foo = 4 : i32, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.composite "x.y" %{{[^ ,:)]+}} ({
// CHECK: ^bb0(%{{[^ ,:)]+}}: tensor<f32>):
// CHECK: stablehlo.return %{{[^ ,:)]+}} : tensor<f32>
// CHECK: }, {
// CHECK: stablehlo.return
// CHECK: }) {decomposition = @bar} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return
func.func private @bar(tensor<4xf32>) -> tensor<4xf32>
func.func @composite(%a: tensor<4xf32>) {
  %0 = stablehlo.composite "x.y" %a {decomposition = @bar} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "x.y.z" %a {composite_attributes = {a = 1 : i32}, decomposition = @bar, foo = 4 : i32, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "x.y" %a ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return
  }) {decomposition = @bar} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
