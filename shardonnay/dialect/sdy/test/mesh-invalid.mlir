// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// C2
// expected-error @below {{axis "x" occurs twice}}
sdy.mesh @mesh = <["x"=2, "x"=4]>

// -----

// C1
// expected-error @below {{expected a size of at least 1 for axis "x", got 0}}
sdy.mesh @mesh = <["x"=0]>

// -----

// C3
// expected-error @below {{expected 4 device ids, one for each position of the mesh, got 2}}
sdy.mesh @mesh = <["x"=4], device_ids=[1, 0]>

// -----

// C3
// expected-error @below {{expected device ids from 0 to 1, got 2}}
sdy.mesh @mesh = <["x"=2], device_ids=[2, 0]>

// -----

// C3
// expected-error @below {{device id 1 occurs twice}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 1]>

// -----

// C5
// expected-error @below {{expected at most one device id in a mesh without axes, got 2}}
sdy.mesh @mesh = <[], device_ids=[0, 1]>

// -----

// C5
// expected-error @below {{expected a device id of at least 0, got -1}}
sdy.mesh @mesh = <[], device_ids=[-1]>

// -----

// C6
// expected-error @below {{the number of devices does not fit 64 bits}}
sdy.mesh @mesh = <["x"=4294967296, "y"=4294967296]>

// -----

func.func @not_in_a_module() {
  // expected-error @below {{expects parent op 'builtin.module'}}
  sdy.mesh @mesh = <["x"=2]>
  return
}

// -----

// C3
// expected-error @below {{expected device ids, got none: leave the list out}}
sdy.mesh @mesh = <["x"=2], device_ids=[]>

// -----

// The beginning of the identity is not the identity.
// C3
// expected-error @below {{expected 4 device ids, one for each position of the mesh, got 2}}
sdy.mesh @mesh = <["x"=4], device_ids=[0, 1]>

// -----

// C3
// expected-error @below {{device ids of a mesh whose axis "x" has no size: expected sizes, or no ids}}
sdy.mesh @mesh = <["x"=?], device_ids=[1, 0]>
