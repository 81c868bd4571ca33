// Every valid program in a .mlir file of this repository survives bytecode. (130: fewer would mean that they were not found.)
// RUN: %python %S/round_trip.py 130
