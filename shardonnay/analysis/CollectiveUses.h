//===- CollectiveUses.h - the collectives of a program ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of a program, by one reading: of `sdy` ops on global types
// (after `collectives`) and of `spmd` ops on local ones (after `partition`).
// What partitioning adds is windows alone, and they are predicted: those around
// an `sdy` collective whose shards do not nest, and those that an op's rule
// says a device fetches (a convolution's halo); there are no others.
//
// Those that the user wrote, in manual computations, count like ours.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_COLLECTIVEUSES_H
#define SHARDONNAY_ANALYSIS_COLLECTIVEUSES_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/plan/LocalCollective.h"

namespace shardonnay {

struct CollectiveUse {
  LocalCollective collective;
  /// "" if nothing is reduced.
  llvm::StringRef reduction;
  /// By the user, who calls it so; "" for ours.
  llvm::StringRef written;
  mlir::Operation *op = nullptr;
  mlir::sdy::MeshAttr mesh;
  /// How often the loops around it in its function run.
  mlir::sdy::Trips trips;
  /// How often its function is called: by the text, and with calls in loops
  /// counted as often as these run.
  int64_t calls = 1, executedCalls = 1;
};

/// The exchanges that the collective is to `partition`, on what devices hold of
/// its operand, which is sharded as `source` on `mesh`.
llvm::SmallVector<LocalCollective>
simulateCollective(mlir::sdy::CollectiveOpInterface op,
                   mlir::sdy::MeshAttr mesh, const TensorSharding &source,
                   int64_t elementBytes);

/// Devices send each other what they hold, and nothing is reduced.
bool isMove(mlir::Operation *op);

/// In program order; nothing for slices.
std::vector<CollectiveUse> readCollectives(mlir::ModuleOp module);

/// Operand `tensor` of `op` is a slice of what each device has whole along the
/// dims that the rule's windows are of: they are taken from that, and nothing
/// is fetched.
bool isTakenFromWhole(mlir::Operation *op, const FactorRule &rule,
                      int32_t tensor);

/// Counts a message once that several windows or gathers of a value need: the
/// program of one device has it once.
void countSharedWindows(std::vector<CollectiveUse> &uses);

/// Counts fetched windows as messages from device to device (DirectWindow.h),
/// as a target sends them that has such.
void countDirectWindows(std::vector<CollectiveUse> &uses);

/// What the device that sends most of direct windows sends of all of them,
/// loops and calls as often as they run.
int64_t directWindowBytes(llvm::ArrayRef<CollectiveUse> uses);

/// Those of `uses` that the user wrote, or that we planned.
std::vector<CollectiveUse> onlyWritten(llvm::ArrayRef<CollectiveUse> uses);
std::vector<CollectiveUse> onlyPlanned(llvm::ArrayRef<CollectiveUse> uses);

/// What communication costs a device.
struct CommunicationCost {
  /// Every collective once, for each call of its function.
  int64_t bytes = 0;
  /// Those in a loop as often as it runs, if that is known.
  int64_t executedBytes = 0;
  /// What the executed ones cost by a device model, in seconds or bytes
  /// (MeshCosts::str).
  double price = 0;
  /// Collectives in loops that run an unknown number of times.
  int64_t unknownTrips = 0;
};

CommunicationCost costOf(llvm::ArrayRef<CollectiveUse> uses,
                         const DeviceModel &model);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_COLLECTIVEUSES_H
