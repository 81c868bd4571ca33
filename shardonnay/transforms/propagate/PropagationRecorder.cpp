//===- PropagationRecorder.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationRecorder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace shardonnay {

PropagationRecorder::PropagationRecorder(const PropagationGraph &graph,
                                         int32_t firstStep)
    : arrivalsOf(graph.numTensors()), nextStep(firstStep) {
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    for (auto [dim, sharding] : llvm::enumerate(graph.sharding(tensor).dims))
      for (AxisRef axis : sharding.axes) {
        AxisArrival given;
        given.tensor = given.origin = tensor;
        given.dim = dim;
        given.axis = axis;
        add(given);
      }
}

void PropagationRecorder::add(AxisArrival arrival) {
  arrivalsOf[arrival.tensor].push_back(record.arrivals.size());
  record.arrivals.push_back(arrival);
}

const AxisArrival *PropagationRecorder::find(int32_t tensor, int32_t dim,
                                             AxisRef axis) const {
  for (int32_t index : llvm::reverse(arrivalsOf[tensor])) {
    const AxisArrival &arrival = record.arrivals[index];
    if (arrival.dim == dim && arrival.axis.overlaps(axis))
      return &arrival;
  }
  return nullptr;
}

void PropagationRecorder::setOrigin(int32_t tensor, AxisRef axis,
                                    int32_t origin) {
  for (int32_t index : arrivalsOf[tensor])
    if (record.arrivals[index].axis.overlaps(axis))
      record.arrivals[index].origin = origin;
}

bool PropagationRecorder::visit(const PropagationGraph &graph,
                                const PropagationVisit &visit) {
  recordRefusals(graph, visit);
  bool changes = false;
  for (auto [slot, id] : llvm::enumerate(visit.newShardings))
    if (id != kNone) {
      recordChange(graph, visit, slot);
      changes = true;
    }
  nextStep += changes;
  return true;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

static const OpArray &opsOf(const PropagationGraph &graph,
                            const PropagationVisit &visit) {
  return visit.isReturn ? graph.returns() : graph.ops();
}

static const OpSignature &formOf(const PropagationGraph &graph,
                                 const PropagationVisit &visit) {
  return graph.form(opsOf(graph, visit).form(visit.op));
}

/// The factor of dim `dim` along which tensor `slot` got `axis`.
static int32_t factorOf(const FactorRule &rule, const PropagationVisit &visit,
                        int32_t slot, int32_t dim, AxisRef axis) {
  for (int32_t factor : rule.tensor(slot).dims[dim])
    if (visit.after[slot].factors[factor].axes.excludes(axis) &&
        visit.after[slot].factors[factor].axes !=
            visit.before[slot].factors[factor].axes)
      return factor;
  return kNone;
}

/// The first tensor that had `axis` along `factor`, those first that had all
/// that tensor `slot` has now; kNone if none had.
static int32_t sourceSlotOf(const PropagationVisit &visit, int32_t slot,
                            int32_t factor, AxisRef axis) {
  const AxisList &all = visit.after[slot].factors[factor].axes;
  int32_t source = kNone;
  for (auto [other, row] : llvm::enumerate(visit.before)) {
    const FactorSharding &cell = row.factors[factor];
    if (!cell.present || static_cast<int32_t>(other) == slot)
      continue;
    if (all.isPrefixOf(cell.axes))
      return other;
    if (source == kNone && cell.axes.excludes(axis))
      source = other;
  }
  return source;
}

void PropagationRecorder::recordChange(const PropagationGraph &graph,
                                       const PropagationVisit &visit,
                                       int32_t slot) {
  PackedNumbers::Slice tensors = opsOf(graph, visit).tensors(visit.op);
  const FactorRule &rule = *formOf(graph, visit).rule;
  const TensorSharding &grown =
      graph.shardingOf(visit.newShardings[slot]).sharding;
  for (int32_t member : graph.groupOf(tensors[slot])) {
    const TensorSharding &old = graph.sharding(member);
    for (int32_t dim : llvm::seq<int32_t>(grown.dims.size())) {
      if (!old.dims[dim].axes.isPrefixOf(grown.dims[dim].axes))
        continue;
      for (AxisRef axis : grown.dims[dim].axes.dropPrefix(old.dims[dim].axes)) {
        AxisArrival arrival;
        arrival.step = nextStep;
        arrival.tensor = member;
        arrival.dim = dim;
        arrival.axis = axis;
        arrival.place = {visit.op, visit.isReturn};
        arrival.round = visit.round;
        arrival.level = static_cast<int32_t>(visit.level);
        int32_t factor = factorOf(rule, visit, slot, dim, axis);
        if (factor == kNone)
          continue;
        arrival.sourceSlot = sourceSlotOf(visit, slot, factor, axis);
        if (arrival.sourceSlot == kNone)
          continue;
        arrival.slot = member == tensors[slot] ? slot : kNone;
        arrival.source = tensors[arrival.sourceSlot];
        arrival.sourceDim = rule.tensor(arrival.sourceSlot).dimOf(factor);
        const AxisArrival *before =
            find(arrival.source, arrival.sourceDim, axis);
        arrival.origin = before ? before->origin : arrival.source;
        add(arrival);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

/// The largest tensor that offers `axes` along `factor`, the first of equals.
static int32_t offering(const FactorRule &rule, const PropagationVisit &visit,
                        int32_t factor, const AxisList &axes) {
  int32_t best = kNone;
  for (auto [slot, row] : llvm::enumerate(visit.before)) {
    const FactorSharding &cell = row.factors[factor];
    if (cell.present && axes.isPrefixOf(cell.axes) &&
        (best == kNone || tensorSize(rule, slot) > tensorSize(rule, best)))
      best = slot;
  }
  return best;
}

/// Why, in this very step, `winner` was served before `loser`.
static DecidingRule orderOfFactors(const OpSignature &form,
                                   const PropagationVisit &visit,
                                   int32_t winner, const AxisList &winnerAxes,
                                   int32_t loser, const AxisList &loserAxes) {
  int32_t winning = offering(*form.rule, visit, winner, winnerAxes);
  int32_t losing = offering(*form.rule, visit, loser, loserAxes);
  if (winning == kNone || losing == kNone)
    return DecidingRule::CameFirst;
  if (tensorSize(*form.rule, winning) != tensorSize(*form.rule, losing))
    return DecidingRule::LargerSource;
  if (form.elementwise && winnerAxes.numShards() != loserAxes.numShards())
    return DecidingRule::MoreShards;
  return winning != losing ? DecidingRule::EarlierTensor
                           : DecidingRule::EarlierFactor;
}

DecidingRule PropagationRecorder::decidingRule(const PropagationGraph &graph,
                                               const PropagationVisit &visit,
                                               const Refusal &refusal,
                                               const AxisRefused &entry) {
  if (entry.winner == kNone)
    return DecidingRule::None;
  int32_t column = refusal.reason == RefusalReason::UsedByFactor
                       ? refusal.otherFactor
                       : refusal.factor;
  const FactorSharding &was = visit.before[refusal.otherTensor].factors[column];
  const FactorSharding &is = visit.after[refusal.otherTensor].factors[column];
  if (refusal.reason == RefusalReason::UsedByFactor && was.axes != is.axes &&
      !was.axes.excludes(entry.axes[0]))
    return orderOfFactors(formOf(graph, visit), visit, column, is.axes,
                          refusal.factor, refusal.wanted);
  for (const AxisRef axis : is.axes) {
    if (refusal.reason == RefusalReason::UsedByFactor &&
        !entry.axes.excludes(axis))
      continue;
    const AxisArrival *arrival = find(entry.winner, entry.winnerDim, axis);
    if (!arrival || arrival->step < 0)
      return DecidingRule::Given;
    const AxisArrival *other =
        entry.source == kNone
            ? nullptr
            : find(entry.source, entry.sourceDim, entry.axes[0]);
    int64_t otherRound = other && other->step >= 0 ? other->round : visit.round;
    if (arrival->round < otherRound)
      return DecidingRule::UserPriority;
    if (arrival->level < static_cast<int32_t>(visit.level) &&
        (!other || other->step < arrival->step))
      return DecidingRule::OpPriority;
    return DecidingRule::CameFirst;
  }
  return DecidingRule::Given;
}

void PropagationRecorder::recordRefusals(const PropagationGraph &graph,
                                         const PropagationVisit &visit) {
  PackedNumbers::Slice tensors = opsOf(graph, visit).tensors(visit.op);
  const FactorRule &rule = *formOf(graph, visit).rule;
  std::vector<AxisRefused> &entries = refusals[{visit.op, visit.isReturn}];
  std::vector<AxisRefused> last = std::move(entries);
  entries.clear();
  for (const Refusal &refusal : visit.refusals) {
    if (tensors[refusal.tensor] == kNone)
      continue;
    AxisRefused entry{refusal.reason};
    entry.place = {visit.op, visit.isReturn};
    entry.tensor = tensors[refusal.tensor];
    entry.dim = rule.tensor(refusal.tensor).dimOf(refusal.factor);
    entry.axes = refusal.wanted.dropPrefix(refusal.granted);
    int32_t source =
        refusal.reason == RefusalReason::Disagreement
            ? refusal.otherTensor
            : offering(rule, visit, refusal.factor, refusal.wanted);
    if (source != kNone) {
      entry.source = tensors[source];
      entry.sourceDim = rule.tensor(source).dimOf(refusal.factor);
    }
    if (refusal.reason == RefusalReason::UsedByFactor) {
      entry.winner = tensors[refusal.otherTensor];
      entry.winnerDim =
          rule.tensor(refusal.otherTensor).dimOf(refusal.otherFactor);
    } else if (refusal.reason == RefusalReason::Disagreement) {
      entry.winner = entry.tensor;
      entry.winnerDim = entry.dim;
    }
    // A conflict was decided when it first came up.
    auto same = llvm::find_if(last, [&](const AxisRefused &o) {
      return o.reason == entry.reason && o.tensor == entry.tensor &&
             o.dim == entry.dim && o.axes == entry.axes &&
             o.winner == entry.winner && o.winnerDim == entry.winnerDim;
    });
    entry.rule = same != last.end()
                     ? same->rule
                     : decidingRule(graph, visit, refusal, entry);
    entries.push_back(std::move(entry));
  }
}

PropagationRecord PropagationRecorder::take() {
  for (auto &[place, entries] : refusals)
    llvm::append_range(record.refused, entries);
  refusals.clear();
  return std::move(record);
}

} // namespace shardonnay
