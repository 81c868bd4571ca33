//===- PropagationRecorder.h - writes down what is decided ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRECORDER_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRECORDER_H

#include "shardonnay/report/PropagationRecord.h"
#include "shardonnay/transforms/propagate/PropagationEngine.h"
#include "llvm/ADT/MapVector.h"

namespace shardonnay {

class PropagationRecorder : public PropagationSink {
public:
  /// Takes the shardings of `graph` as given. Steps are numbered from
  /// `firstStep`.
  explicit PropagationRecorder(const PropagationGraph &graph,
                               int32_t firstStep = 0);

  bool visit(const PropagationGraph &graph,
             const PropagationVisit &visit) override;

  /// Says where the constraint stands that gave an axis to `tensor`.
  void setOrigin(int32_t tensor, AxisRef axis, int32_t origin);

  /// All that happened; to be called at the end.
  PropagationRecord take();

private:
  void recordChange(const PropagationGraph &graph,
                    const PropagationVisit &visit, int32_t slot);
  void recordRefusals(const PropagationGraph &graph,
                      const PropagationVisit &visit);
  DecidingRule decidingRule(const PropagationGraph &graph,
                            const PropagationVisit &visit,
                            const Refusal &refusal, const AxisRefused &entry);

  PropagationRecord record;
  /// By tensor, its arrivals in order.
  std::vector<llvm::SmallVector<int32_t, 2>> arrivalsOf;
  int32_t nextStep;
  /// By op and whether it is a return, what its last visit refused.
  llvm::MapVector<std::pair<int32_t, int32_t>, std::vector<AxisRefused>>
      refusals;

  const AxisArrival *find(int32_t tensor, int32_t dim, AxisRef axis) const;
  void add(AxisArrival arrival);
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONRECORDER_H
