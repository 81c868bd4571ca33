// RUN: sdy-opt %s -verify-diagnostics -sdy-partition-to-local

// expected-error @below {{has an axis without a size, expected sizes: say how many devices there are (option 'devices', or the pass sdy-bind-axis-sizes)}}
sdy.mesh @mesh = <["x"=2, "y"=?]>
func.func @main() {
  return
}
