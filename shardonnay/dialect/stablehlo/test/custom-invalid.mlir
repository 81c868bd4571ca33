// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op expected layouts of operands and results, or none, got only those of operands}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", operand_layouts = [dense<[0]> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has 0 layouts for 1 results}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = []} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has layout dense<1> : tensor<1xindex> for 'tensor<4xf32>', expected a permutation of its 1 dims}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", operand_layouts = [dense<[1]> : tensor<1xindex>], result_layouts = [dense<[0]> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.custom_call' op has layout dense<0> : tensor<1xindex> for '!stablehlo.token', expected a permutation of its 0 dims}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has backend_config "x", expected a dictionary with api_version 4}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", api_version = 4 : i32, backend_config = "x"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has backend_config {}, expected a string with api_version 3}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", api_version = 3 : i32, backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op expected a call_target_name, got none}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op aliases operand 1, but has 1 operands}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.custom_call' op has #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, which names no part of 'tensor<4xf32>'}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "x", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) { // expected-note {{the operand is made here}}
  // expected-error @+1 {{'stablehlo.custom_call' op aliases 'tensor<4xf32>' and 'tensor<3xf32>', expected one type}}
  %1:2 = "stablehlo.custom_call"(%a) {call_target_name = "x", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op expected no operands to create a buffer, got 1}}
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "CreateBuffer"} : (tensor<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.custom_call' op has 0 entries in output_operand_aliases for result #0, a buffer, expected one}}
  %0 = "stablehlo.custom_call"() {call_target_name = "foo"} : () -> memref<4xf32>
  return
}

// -----

func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has 2 entries in output_operand_aliases for result #0, a buffer, expected one}}
  %1:2 = "stablehlo.custom_call"(%a, %a) {call_target_name = "x", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>]} : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func private @foo(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op has name "x", expected one such as "my_namespace.my_op"}}
  %8 = "stablehlo.composite"(%a) <{name="x", decomposition=@foo}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @foo(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op expected a function as decomposition, got @bar}}
  %8 = "stablehlo.composite"(%a) <{name="a.b", decomposition=@bar}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{decomposition defined here}}
func.func private @foo(%a: tensor<4xf32>) -> tensor<5xf32>
func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op has type '(tensor<4xf32>) -> tensor<4xf32>', expected that of its decomposition '(tensor<4xf32>) -> tensor<5xf32>'}}
  %8 = "stablehlo.composite"(%a) <{name="a.b", decomposition=@foo}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tuple<tensor<4xf32>>) {
  // expected-error @+2 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  // expected-error @+1 {{'stablehlo.get_tuple_element' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %8 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tuple<tensor<4xf32>>) -> tensor<5xf32>
  return
}
