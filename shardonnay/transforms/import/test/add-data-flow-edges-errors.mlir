// RUN: sdy-opt %s -verify-diagnostics -sdy-add-data-flow-edges

func.func @dynamic(%arg0: tensor<?xf32>) {
  // expected-error @below {{passes on a value of type 'tensor<?xf32>', expected tensors of static shape}}
  %0 = stablehlo.optimization_barrier %arg0 : tensor<?xf32>
  return
}
