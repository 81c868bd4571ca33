// Every valid program in a .mlir file of this repository survives bytecode. (240: fewer would mean that they were not found.)
// RUN: %python %S/round_trip.py 240
