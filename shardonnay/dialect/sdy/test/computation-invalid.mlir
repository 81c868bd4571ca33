// RUN: sdy-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @in_shardings(%arg0: tensor<8xf32>) {
  // C24
  // expected-error @below {{expected 1 operand shardings, got 0}}
  sdy.manual_computation(%arg0) in_shardings=[] out_shardings=[] manual_axes={} (%arg1: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @arguments(%arg0: tensor<8xf32>) {
  // C26
  // expected-error @below {{expected 1 body arguments, got 0}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={} () {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2]>
func.func @one_mesh(%arg0: tensor<8xf32>) {
  // C30
  // expected-error @below {{expected all shardings to have one mesh, got}}
  sdy.manual_computation(%arg0, %arg0) in_shardings=[<@mesh, [{}]>, <@other, [{}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>, tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @unknown_axis(%arg0: tensor<8xf32>) {
  // C27
  // expected-error @below {{unknown manual axis "z", expected one of the mesh of the shardings}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"z"} (%arg1: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @twice(%arg0: tensor<8xf32>) {
  // C28
  // expected-error @below {{manual axis "x" occurs twice}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x", "x"} (%arg1: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @free_before_manual(%arg0: tensor<8xf32>) {
  // C31
  // expected-error @below {{operand 0, dim 0: manual axis "x" stands behind axis "y", which is not manual: manual axes come first}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @uneven(%arg0: tensor<7xf32>) {
  // C32
  // expected-error @+1 {{operand 0, dim 0: expected a size that the 2 shards of the manual axes divide, got 7}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<4xf32>) { // expected-note {{the value is made here}}
    sdy.return
  } : (tensor<7xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @local_type(%arg0: tensor<8xf32>) {
  // C33
  // expected-error @below {{result 0: expected the type 'tensor<4xf32>' in the body, got 'tensor<8xf32>'}}
  // expected-note @below {{the value is made here}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @nested(%arg0: tensor<8xf32>) {
  // expected-note @below {{made manual here}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    // C29
    // expected-error @below {{axis "x" is manual already: leave it out here}}
    sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%arg2: tensor<8xf32>) {
      sdy.return
    } : (tensor<8xf32>) -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @bound_axis(%arg0: tensor<8xf32>) {
  // expected-note @below {{made manual here}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    // C23
    // expected-error @below {{axis "x" is manual here and cannot be used: take it out}}
    %0 = sdy.sharding_constraint %arg1 <@mesh, [{}], replicated={"x"}> : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @named(%arg0: tensor<8xf32>) {
  // C34
  // expected-error @below {{body arguments: expected type 'tensor<8xf32>' at number 0, got 'tensor<4xf32>'}}
  // expected-note @below {{the value is made here}}
  sdy.named_computation<"f">(%arg0) (%arg1: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @named_result(%arg0: tensor<8xf32>) {
  // C26
  // expected-error @below {{expected 1 returned values, got 0}}
  %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> (tensor<8xf32>)
  return
}

// -----

func.func @no_terminator() {
  // expected-error @below {{expects a non-empty block}}
  "sdy.named_computation"() <{name = "f"}> ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

// The body asks for the sharding of its argument, which is not there.
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @body_before_shardings(%arg0: tensor<8xf32>) {
  // C24
  // expected-error @below {{expected 1 operand shardings, got 0}}
  sdy.manual_computation(%arg0) in_shardings=[] out_shardings=[] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    %0 = sdy.all_gather [{"y"}] %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @body_of_more_arguments(%arg0: tensor<8xf32>) {
  // C26
  // expected-error @below {{expected 1 body arguments, got 2}}
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
    %0 = sdy.all_gather [{"y"}] %arg2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named_body_before_shardings(%arg0: tensor<8xf32>) {
  // C24
  // expected-error @below {{expected 1 operand shardings, got 0}}
  sdy.named_computation<"f">(%arg0) in_shardings=[] (%arg1: tensor<8xf32>) {
    %0 = sdy.all_gather [{"y"}] %arg1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}
