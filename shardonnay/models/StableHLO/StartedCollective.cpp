//===- StartedCollective.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/StartedCollective.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Collective.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

namespace {
struct Started {
  CollectiveKind kind;
  llvm::json::Object config;
};
} // namespace

static std::optional<Started> readConfig(CustomCallOp call) {
  auto kind = llvm::StringSwitch<std::optional<CollectiveKind>>(
                  call.getCallTargetName())
                  .Case("all-gather-start", CollectiveKind::AllGather)
                  .Case("all-reduce-start", CollectiveKind::AllReduce)
                  .Case("all-to-all-start", CollectiveKind::AllToAll)
                  .Case("collective-permute-start", CollectiveKind::Permute)
                  .Case("reduce-scatter-start", CollectiveKind::ReduceScatter)
                  .Default(std::nullopt);
  auto frontend =
      call->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  if (!kind || !frontend || call.getNumOperands() != 1 ||
      call.getNumResults() != 1 || !hasStaticShapes(call))
    return std::nullopt;
  auto text = frontend.getAs<StringAttr>("async_collective_config");
  if (!text)
    return std::nullopt;
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  llvm::json::Object *config = parsed->getAsObject();
  if (!config)
    return std::nullopt;
  return Started{*kind, std::move(*config)};
}

/// The dims that it splits or joins; nothing if it says no such dim.
static std::optional<SmallVector<int64_t>> readExchanged(const Started &started,
                                                         int64_t rank) {
  SmallVector<StringRef> names;
  if (started.kind == CollectiveKind::AllGather)
    names = {"all_gather_dimension"};
  else if (started.kind == CollectiveKind::ReduceScatter)
    names = {"scatter_dimension"};
  else if (started.kind == CollectiveKind::AllToAll)
    names = {"split_dimension", "concat_dimension"};
  SmallVector<int64_t> dims;
  for (StringRef name : names) {
    std::optional<int64_t> dim = started.config.getInteger(name);
    if (!dim || *dim < 0 || *dim >= rank)
      return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

std::optional<FactorRule> shardonnay::startedRule(CustomCallOp call) {
  std::optional<Started> started = readConfig(call);
  if (!started)
    return std::nullopt;
  int64_t rank = shapeOf(call.getOperand(0)).size();
  std::optional<SmallVector<int64_t>> exchanged = readExchanged(*started, rank);
  if (!exchanged ||
      static_cast<int64_t>(shapeOf(call.getResult(0)).size()) != rank)
    return std::nullopt;
  return exchangeRule(call, *exchanged);
}

/// A list of lists of devices; nothing if `rows` is none.
static std::optional<SmallVector<SmallVector<int64_t>>>
readDevices(const llvm::json::Array *rows) {
  if (!rows)
    return std::nullopt;
  SmallVector<SmallVector<int64_t>> groups;
  for (const llvm::json::Value &row : *rows) {
    const llvm::json::Array *devices = row.getAsArray();
    if (!devices)
      return std::nullopt;
    SmallVector<int64_t> &group = groups.emplace_back();
    for (const llvm::json::Value &device : *devices) {
      std::optional<int64_t> id = device.getAsInteger();
      if (!id || *id < 0)
        return std::nullopt;
      group.push_back(*id);
    }
  }
  return groups;
}

/// How the function that `call` names combines; "" if it names none.
static StringRef reductionOf(CustomCallOp call) {
  auto called = call->getAttrOfType<ArrayAttr>("called_computations");
  if (!called || called.size() != 1)
    return "";
  auto name = dyn_cast<SymbolRefAttr>(called[0]);
  auto function =
      name ? SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(call,
                                                                       name)
           : nullptr;
  if (!function || function.isExternal())
    return "other";
  std::optional<ReductionKind> kind = combinerOf(function.getFunctionBody());
  return kind ? toString(*kind) : "other";
}

bool shardonnay::readStarted(CustomCallOp call, UserCollective &written) {
  std::optional<Started> started = readConfig(call);
  if (!started)
    return false;
  bool inPairs = started->kind == CollectiveKind::Permute;
  auto groups = readDevices(
      started->config.getArray(inPairs ? "permutation" : "replica_groups"));
  if (!groups)
    return false;
  written.kind = started->kind;
  written.reduction = reductionOf(call);
  written.groups = std::move(*groups);
  written.inPairs = inPairs;
  written.isStart = true;
  written.name = call.getCallTargetName();
  return true;
}
