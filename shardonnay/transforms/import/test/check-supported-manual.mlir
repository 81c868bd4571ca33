// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-check-supported

sdy.mesh @mesh = <["x"=2]>

// Each device runs on what it has, whatever that is.
func.func @main(%arg0: tensor<8xf32>) {
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  sdy.named_computation<"f">() () {
    sdy.return
  } : () -> ()
  return
}
