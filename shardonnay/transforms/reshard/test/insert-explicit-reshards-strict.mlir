// RUN: sdy-opt %s -allow-unregistered-dialect --sdy-insert-explicit-reshards="enable-full-version=true no-implicit-replication=true" -verify-diagnostics

sdy.mesh @mesh = <["d"=2, "m"=4]>

// expected-note @+1 {{operand 0 is sharded}}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{op 'test.unknown' cannot be computed sharded, it has no sharding rule: gathers 24 bytes per device}}
  %0 = "test.unknown"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
