//===- PeakMemory.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/PeakMemory.h"

#include "shardonnay/algebra/Counts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/analysis/FusedChains.h"
#include "shardonnay/analysis/HostValues.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/cost/Liveness.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// The value that holds the data: barriers, and sdy ops on global types, only
/// rename it, and so does a loop what it leaves as it was.
Value storage(Value value) {
  while (Operation *op = getOwnerOp(value)) {
    auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op);
    if (op->getNumRegions() != 0) {
      Value source = getInvariantSource(value, op);
      if (!source)
        break;
      value = source;
    } else if (dataFlow) {
      SmallVector<OpOperand *> sources = dataFlow.getEdgeSources(value);
      if (sources.size() != 1)
        break;
      value = sources.front()->get();
    } else if (isa<spmd::BarrierOp>(op) ||
               (isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
                op->getNumOperands() == 1)) {
      value = op->getOperand(0);
    } else {
      break;
    }
  }
  return value;
}

/// The first are then the largest, largest first, of equal ones the earlier.
void bringLargestForward(MutableArrayRef<Value> values) {
  for (size_t i = 0; i < std::min(values.size(), kLargestValues); ++i) {
    Value *largest =
        llvm::max_element(values.drop_front(i), [](Value a, Value b) {
          return byteSize(a.getType()) < byteSize(b.getType());
        });
    std::rotate(values.begin() + i, largest, largest + 1);
  }
}

class PeakFinder {
public:
  explicit PeakFinder(ModuleOp module)
      : module(module), onHosts(findHostValues(module)) {}

  PeakMemory find(Block &block, bool isEntry = false);
  /// The peak of the function's own values and what it calls; nothing where it
  /// calls itself.
  PeakMemory find(func::FuncOp func);

private:
  MemoryOp read(Operation &op);
  void readInside(Operation &op, MemoryOp &memory);
  void addUses(Value value, MemoryOp &memory);
  void reserveResults(Block &block);
  int64_t bytesOf(Value value) const {
    return onHosts.contains(value) ? 0 : byteSize(value.getType());
  }
  int64_t argumentBytes(Block &block) const;

  /// One block at a time.
  struct Reading {
    Reading(const PeakFinder &finder, Block &block)
        : finder(finder), chains(block) {}

    const PeakFinder &finder;
    FusedChains chains;
    /// They are written to where the caller wants them.
    DenseSet<Value> results;
    MemoryBlock block;
    SmallVector<Value> values;
    DenseMap<Value, int32_t> numbers;
    SmallVector<Operation *> ops;
    /// By op: the peak inside it.
    DenseMap<Operation *, PeakMemory> inside;

    int32_t add(Value value) {
      auto [entry, isNew] = numbers.try_emplace(value, values.size());
      if (isNew) {
        values.push_back(value);
        block.bytes.push_back(results.contains(value) ? 0
                                                      : finder.bytesOf(value));
      }
      return entry->second;
    }
  };

  ModuleOp module;
  DenseSet<Value> onHosts;
  Reading *reading = nullptr;
  DenseMap<Operation *, PeakMemory> functions;
};

/// Sum of the sizes of the block arguments that hold data.
int64_t PeakFinder::argumentBytes(Block &block) const {
  int64_t bytes = 0;
  for (BlockArgument argument : block.getArguments())
    if (storage(argument) == argument)
      bytes = countSum(bytes, bytesOf(argument));
  return bytes;
}

void PeakFinder::readInside(Operation &op, MemoryOp &memory) {
  PeakMemory worst;
  if (isa<ShardableDataFlowOpInterface>(op)) {
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        PeakMemory peak = find(block);
        peak.bytes -= argumentBytes(block);
        memory.carried = std::max(memory.carried, argumentBytes(block));
        if (!worst.op || peak.bytes > worst.bytes)
          worst = peak;
      }
    memory.hasRegions = op.getNumRegions() > 0;
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    // The arguments are the caller's values, and stay.
    worst = find(callee);
    worst.bytes -= argumentBytes(callee.getBody().front());
    memory.hasRegions = true;
  }
  memory.inside = worst.bytes;
  if (memory.hasRegions)
    reading->inside[&op] = worst;
}

/// What is read for `value` is in use.
void PeakFinder::addUses(Value value, MemoryOp &memory) {
  value = storage(value);
  if (!reading->chains.isInMemory(value)) {
    for (Value source : reading->chains.sources(value))
      addUses(source, memory);
    return;
  }
  if (auto known = reading->numbers.find(value);
      known != reading->numbers.end())
    memory.uses.push_back(known->second);
}

MemoryOp PeakFinder::read(Operation &op) {
  MemoryOp memory;
  if (op.getNumResults() == 1 && !reading->chains.isInMemory(op.getResult(0)))
    return memory;
  op.walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      addUses(operand, memory);
  });
  memory.inPlace = FusedChains::worksInPlace(&op);
  readInside(op, memory);
  for (Value result : op.getResults())
    if (storage(result) == result) {
      memory.makes.push_back(reading->add(result));
      if (reading->results.contains(result))
        memory.carried -= bytesOf(result);
    }
  memory.carried = std::max<int64_t>(0, memory.carried);
  return memory;
}

/// A program's results have their places all the time, which are those of its
/// donated arguments, on the host, or new ones.
void PeakFinder::reserveResults(Block &block) {
  auto func = cast<func::FuncOp>(block.getParentOp());
  Operation *end = block.getTerminator();
  SmallVector<bool> given(end->getNumOperands());
  for (unsigned i = 0; i < given.size(); ++i)
    given[i] = isHostResult(func, i);
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto result =
            func.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
        result && result.getValue().ult(given.size()))
      given[result.getInt()] = true;
  for (auto [value, isGiven] : llvm::zip_equal(end->getOperands(), given)) {
    Value written = storage(value);
    while (!reading->chains.isInMemory(written))
      written = storage(reading->chains.sources(written).front());
    reading->results.insert(written);
    reading->block.reserved += isGiven ? 0 : byteSize(value.getType());
  }
}

PeakMemory PeakFinder::find(Block &block, bool isEntry) {
  Reading here(*this, block);
  Reading *outer = reading;
  reading = &here;
  here.block.argumentsStay = isa<func::FuncOp>(block.getParentOp());
  for (BlockArgument argument : block.getArguments())
    if (storage(argument) == argument)
      here.block.arguments.push_back(here.add(argument));
  if (isEntry)
    reserveResults(block);
  int64_t held = here.block.reserved + argumentBytes(block);
  for (Operation &op : block) {
    MemoryOp memory = read(op);
    here.block.ops.push_back(std::move(memory));
    here.ops.push_back(&op);
  }
  reading = outer;
  MemoryPeak peak = findPeak(here.block);
  PeakMemory result;
  result.bytes = peak.bytes;
  result.held = held;
  if (peak.op >= 0) {
    result.op = here.ops[peak.op];
    auto inner = here.inside.find(result.op);
    if (inner != here.inside.end() && inner->second.op) {
      result.op = inner->second.op;
      result.live = inner->second.live;
    }
  }
  for (int32_t buffer : peak.live)
    if (!onHosts.contains(here.values[buffer]))
      result.live.push_back(here.values[buffer]);
  bringLargestForward(result.live);
  return result;
}

PeakMemory PeakFinder::find(func::FuncOp func) {
  auto [entry, isNew] = functions.try_emplace(func);
  if (!isNew)
    return entry->second;
  PeakMemory peak = find(func.getBody().front(), func.isPublic());
  return functions[func] = peak;
}

} // namespace

PeakMemory findPeakMemory(ModuleOp module) {
  PeakFinder finder(module);
  PeakMemory worst;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    PeakMemory peak = finder.find(func);
    if (peak.bytes > worst.bytes)
      worst = peak;
  }
  return worst;
}

} // namespace shardonnay
