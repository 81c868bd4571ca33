// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

func.func @no_rule(%arg0: tensor<8xf32>) {
  // C40
  // expected-error @below {{expected 'sdy.sharding_rule' to be an '#sdy.op_sharding_rule', got "x"}}
  "test.op"(%arg0) {sdy.sharding_rule = "x"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @counts(%arg0: tensor<8xf32>) {
  // C42
  // expected-error @below {{sharding rule has 2 operand mappings, expected 1}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @ranks(%arg0: tensor<8xf32>) {
  // C43
  // expected-error @below {{sharding rule, result 0: mapping has 2 dims, expected 1 as in 'tensor<8xf32>'}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_size(%arg0: tensor<8xf32>) {  // expected-note {{the operand is made here}}
  // C45
  // expected-error @below {{sharding rule, operand 0: factor number 1 has no size, expected a factor of the 1 listed}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([j])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reused(%arg0: tensor<8x8xf32>) {  // expected-note {{the operand is made here}}
  // C47
  // expected-error @below {{sharding rule, operand 0: factor number 0 occurs twice}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i]) {i=8}>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @size_one(%arg0: tensor<8xf32>) {  // expected-note {{the operand is made here}}
  // C48
  // expected-error @below {{sharding rule, operand 0: dim 0 has a factor of size 1 among others}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=8, j=1}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @unused(%arg0: tensor<8xf32>) {
  // C49
  // expected-error @below {{sharding rule: factor number 1 of size 4 is in no operand and no result}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=4}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @two_kinds(%arg0: tensor<8x8xf32>) {
  // C51
  // expected-error @below {{sharding rule, need_replication: factor number 1 has another kind already}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=8} reduction={j} need_replication={j}>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @unsorted(%arg0: tensor<8x8xf32>) {
  // C50
  // expected-error @below {{sharding rule, permutation: expected ascending factors}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=8} permutation={j, i}>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduction_in_result(%arg0: tensor<8xf32>) {
  // C52
  // expected-error @below {{sharding rule: reduction factor number 0 is in a result}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_result(%arg0: tensor<8xf32>) {
  // C41
  // expected-error @below {{sharding rule: expected mappings of at least one operand and one result}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->() {i=8}>} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @symbol(%arg0: tensor<8xf32>) {
  // C45
  // expected-error @below {{expected factors from i..z, z_1, z_2, .., got 'a'}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([a])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @size_order(%arg0: tensor<8xf32>) {
  // C53
  // expected-error @below {{expected the sizes of the factors in the order i, j, .., z, z_1, ..}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {j=8, i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative_size(%arg0: tensor<8xf32>) {
  // C53
  // expected-error @below {{sharding rule: factor number 0 has the negative size -8}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=-8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @dynamic(%arg0: tensor<?xf32>) {  // expected-note {{the operand is made here}}
  // C44
  // expected-error @below {{sharding rule, operand 0: expected a ranked tensor of static shape, got 'tensor<?xf32>': an operation with others has no rule}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : (tensor<?xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @two_in_one(%arg0: tensor<8xf32>) {
  // C45
  // expected-error @below {{expected one factor, got 2}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {ij=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_such_factor(%arg0: tensor<8xf32>) {
  // C45
  // expected-error @below {{expected factors from i..z, z_1, z_2, .., got 'z_9223372036854775807'}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([z_9223372036854775807])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @zero(%arg0: tensor<8xf32>) {
  // C45
  // expected-error @below {{expected factors from i..z, z_1, z_2, .., got 'z_0'}}
  "test.op"(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([z_0])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
