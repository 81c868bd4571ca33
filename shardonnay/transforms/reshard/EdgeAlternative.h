//===- EdgeAlternative.h - a loop that carries otherwise --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What flows into or out of a loop in another sharding than the loop carries it
// in has no op with another strategy: the loop might carry it as it is
// outside. Then the ops around what is carried, in the loop as often as it
// runs, are sharded anew.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_EDGEALTERNATIVE_H
#define SHARDONNAY_TRANSFORMS_RESHARD_EDGEALTERNATIVE_H

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/reshard/OpSolvers.h"

namespace shardonnay {

/// What it costs to carry as it is what flows through `op`, and otherwise.
/// Empty if neither end is carried, or by a body whose shardings are given.
std::string describeOtherCarry(mlir::sdy::ReshardOp op, const MeshScope &scope,
                               OpSolvers &solvers);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_EDGEALTERNATIVE_H
