//===- KnownPipelines.h - pipelines that sdy tools know -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_KNOWNPIPELINES_H
#define SHARDONNAY_PIPELINE_KNOWNPIPELINES_H

namespace shardonnay {

/// Registers, for textual use, what users of the existing `sdy` tools know:
///   sdy-import-pipeline       into the form that propagation reads
///   sdy-propagation-pipeline  import, propagation, export
///   sdy-export-pipeline       what propagation decided is made final
///   sdy-convert-global-to-local  partition and emit (a pass in those tools)
/// Unlike compile(), they keep functions, refuse nothing that propagation can
/// pass by, and leave the rest to explicit reshards unless asked otherwise.
void registerKnownPipelines();

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_KNOWNPIPELINES_H
