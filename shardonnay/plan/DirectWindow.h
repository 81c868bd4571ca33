//===- DirectWindow.h - windows as messages between two devices -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a device may send to any number of others at once (MPI), each is sent
// what its window has of the sender's shard, and no more: no rounds, no hull of
// what several need (WindowPlan.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_DIRECTWINDOW_H
#define SHARDONNAY_PLAN_DIRECTWINDOW_H

#include "shardonnay/plan/LocalCollective.h"
#include <vector>

namespace shardonnay {

/// The messages that fetch the windows of one dim; nothing if none is needed.
/// Its bytes are those of the device that sends most, `sliceBytes` what a
/// device has of one position.
std::optional<LocalCollective> directWindow(const WindowProblem &problem,
                                            int64_t sliceBytes);

/// How many positions each device of the mesh sends for that, to all devices.
std::vector<int64_t> positionsSent(const WindowProblem &problem);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_DIRECTWINDOW_H
