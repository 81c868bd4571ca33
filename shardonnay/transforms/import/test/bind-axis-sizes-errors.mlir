// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-bind-axis-sizes=devices=6

// expected-error @below {{expected a number of devices that 4 divides, the product of the known sizes, got 6}}
sdy.mesh @mesh = <["x"=?, "y"=4]>

// -----

// expected-error @below {{expected a program for 6 devices (option 'devices'), got one for 8}}
sdy.mesh @mesh = <["x"=8]>

// -----

// expected-error @below {{expected a program for 6 devices (option 'devices'), got one for 1}}
module {}
