//===- MemoryPrices.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MemoryPrices.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

namespace {

/// The lowest and the highest price of a byte, in the time that it takes to
/// send one: far below what anything is worth that is sent once, and far above
/// what is sent for many uses.
constexpr double kFirstPrice = 1.0 / 8;
constexpr double kLastPrice = 32;
constexpr int kMostDearer = 4;

class MemoryPriceSearch {
public:
  MemoryPriceSearch(size_t numOps, int64_t limit, int mostPlans,
                    PlanWithPrices planWith)
      : limit(limit), plansLeft(mostPlans), planWith(planWith), prices(numOps) {
  }

  std::optional<std::vector<double>> run();

private:
  std::optional<PricedPlan> plan() {
    --plansLeft;
    return planWith(prices);
  }
  /// Raises the prices of what is alive at the plan's peak; false if all are at
  /// their highest.
  bool raise(const PricedPlan &plan);
  /// Takes off prices without which the plan stays within the limit and costs
  /// less than `plan`.
  void lower(PricedPlan plan);

  int64_t limit;
  int plansLeft;
  PlanWithPrices planWith;
  std::vector<double> prices;
};

bool MemoryPriceSearch::raise(const PricedPlan &plan) {
  bool raised = false;
  SmallDenseSet<int64_t> seen;
  for (int64_t number : plan.producers) {
    double &price = prices[number];
    if (!seen.insert(number).second || price >= kLastPrice)
      continue;
    price = price == 0 ? kFirstPrice : 2 * price;
    raised = true;
  }
  return raised;
}

void MemoryPriceSearch::lower(PricedPlan plan) {
  SmallVector<int64_t> priced;
  for (auto [number, price] : enumerate(prices))
    if (price > 0)
      priced.push_back(number);
  for (size_t size = priced.size(); size > 1 && plansLeft > 0;) {
    size = divideCeil(size, 2);
    for (size_t begin = 0; begin < priced.size() && plansLeft > 0;
         begin += size) {
      std::vector<double> before = prices;
      for (int64_t number :
           ArrayRef(priced).slice(begin, std::min(size, priced.size() - begin)))
        prices[number] = 0;
      std::optional<PricedPlan> next =
          prices == before ? std::nullopt : this->plan();
      if (next && next->peak <= limit && next->cost < plan.cost)
        plan = *next;
      else
        prices = before;
    }
  }
}

std::optional<std::vector<double>> MemoryPriceSearch::run() {
  std::vector<double> best;
  std::optional<PricedPlan> bestPlan;
  auto isBetter = [&](const PricedPlan &plan) {
    if (!bestPlan || bestPlan->peak > limit)
      return !bestPlan || plan.peak < bestPlan->peak;
    return plan.peak <= limit && plan.cost < bestPlan->cost;
  };
  for (int dearer = 0; plansLeft > 0 && dearer <= kMostDearer;) {
    std::optional<PricedPlan> next = plan();
    if (!next)
      return std::nullopt;
    if (next->held > limit)
      return std::vector<double>(prices.size());
    if (isBetter(*next)) {
      best = prices;
      bestPlan = next;
      dearer = 0;
    } else if (bestPlan->peak <= limit) {
      ++dearer;
    }
    if ((next->peak <= limit && !next->sendsAgain) || !raise(*next))
      break;
  }
  prices = best;
  if (bestPlan && bestPlan->peak <= limit)
    lower(*bestPlan);
  return prices;
}

} // namespace

std::optional<std::vector<double>> findMemoryPrices(size_t numOps,
                                                    int64_t limit,
                                                    int mostPlans,
                                                    PlanWithPrices plan) {
  return MemoryPriceSearch(numOps, limit, mostPlans, plan).run();
}

} // namespace shardonnay
