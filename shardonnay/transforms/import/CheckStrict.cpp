//===- CheckStrict.cpp - what the documents ask for beyond verifiers ------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Collect what breaks a constraint from C80 on, in the order of the program.
// 2. Strict: an error at each place. Else one warning for each constraint, at
//    its first place, that counts the others.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/import/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_CHECKSTRICTPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// Places that break one constraint each.
class Findings {
public:
  void add(StringRef constraint, Location loc, const Twine &message) {
    byConstraint[constraint].push_back({loc, message.str()});
  }

  /// Failure if there is any and they are errors.
  LogicalResult emit(bool areErrors) const;

private:
  llvm::MapVector<StringRef, SmallVector<std::pair<Location, std::string>>>
      byConstraint;
};

/// Looks at every sharding of a program.
class StrictChecker {
public:
  StrictChecker(Findings &findings, bool isStrict)
      : findings(findings), isStrict(isStrict) {}

  void check(Operation *op);

private:
  void checkFunction(func::FuncOp func);
  void checkManual(ManualComputationOp op);
  /// Every manual axis is used in each of the shardings.
  void checkUsed(ManualComputationOp op, TensorShardingPerValueAttr shardings,
                 StringRef what);
  void checkSharding(TensorShardingAttr sharding, Type type, Operation *op,
                     Location loc);
  void checkDim(int64_t dim, int64_t size, ArrayRef<AxisRefAttr> axes,
                MeshAttr mesh, Location loc);
  void checkOrigins(Attribute origins, Location loc);

  Findings &findings;
  bool isStrict;
};

LogicalResult Findings::emit(bool areErrors) const {
  for (const auto &[constraint, places] : byConstraint) {
    if (areErrors) {
      for (const auto &[loc, message] : places)
        emitError(loc) << message << " [" << constraint << "]";
      continue;
    }
    InFlightDiagnostic diag = emitWarning(places.front().first)
                              << places.front().second << " [" << constraint
                              << "]";
    if (places.size() > 1)
      diag << ", and " << places.size() - 1 << " more of the kind";
  }
  return success(!areErrors || byConstraint.empty());
}

std::string toText(ArrayRef<AxisRefAttr> axes) {
  return llvm::join(
      llvm::map_range(axes, [](AxisRefAttr axis) { return axis.toString(); }),
      ", ");
}

void StrictChecker::checkDim(int64_t dim, int64_t size,
                             ArrayRef<AxisRefAttr> axes, MeshAttr mesh,
                             Location loc) {
  while (!axes.empty() && toAxisRef(axes.back(), mesh).size == 1)
    axes = axes.drop_back();
  if (axes.empty() || ShapedType::isDynamic(size))
    return;
  int64_t minor = toAxisRef(axes.back(), mesh).size;
  int64_t shards = toAxisList(axes, mesh).numShards();
  if (shards > size && shards / minor >= size)
    findings.add("C80", loc, // C80
                 "dim " + Twine(dim) + " of size " + Twine(size) +
                     " is sharded by " + toText(axes) +
                     ": nothing is left for the last axis to shard, take it "
                     "out");
}

void StrictChecker::checkSharding(TensorShardingAttr sharding, Type type,
                                  Operation *op, Location loc) {
  MeshAttr mesh = getMesh(op, sharding);
  SmallVector<AxisRefAttr> axes;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    llvm::append_range(axes, dim.getAxes());
  llvm::append_range(axes, sharding.getReplicatedAxes());
  llvm::append_range(axes, sharding.getUnreducedAxes());
  for (AxisRefAttr axis : axes)
    if (axis.getSubAxisInfo()) {
      findings.add("C83", loc, // C83
                   "a program uses whole axes, got " + axis.toString() +
                       ": split the axis in the mesh");
      break;
    }
  auto shaped = dyn_cast<ShapedType>(type);
  if (!isa<RankedTensorType>(type) && !sharding.getDimShardings().empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    findings.add("C86", loc, // C86
                 "only tensors have dims to shard, got " + text);
  }
  if (!shaped || sharding.getRank() != shaped.getRank())
    return;
  for (auto [dim, dimSharding] : llvm::enumerate(sharding.getDimShardings()))
    checkDim(dim, shaped.getDimSize(dim), dimSharding.getAxes(), mesh, loc);
}

/// It shards nothing, so that nobody needs to say where.
bool isOfSizeOne(StringRef axis, MeshAttr mesh) {
  int64_t index = mesh.getAxisIndex(axis);
  return index >= 0 && mesh.getAxes()[index].getSize() == 1;
}

void StrictChecker::checkUsed(ManualComputationOp op,
                              TensorShardingPerValueAttr shardings,
                              StringRef what) {
  for (auto [index, sharding] : llvm::enumerate(shardings.getShardings())) {
    llvm::SmallDenseSet<StringRef> used;
    for (DimensionShardingAttr dim : sharding.getDimShardings())
      for (AxisRefAttr axis : dim.getAxes())
        used.insert(axis.getName());
    for (AxisRefAttr axis : sharding.getReplicatedAxes())
      used.insert(axis.getName());
    for (AxisRefAttr axis : sharding.getUnreducedAxes())
      used.insert(axis.getName());
    MeshAttr mesh = getMesh(op, sharding);
    for (StringAttr axis : op.getManualAxes().getValue())
      if (!isOfSizeOne(axis, mesh) && !used.contains(axis.getValue()))
        findings.add("C82", op.getLoc(), // C82
                     "manual axis \"" + axis.getValue() +
                         "\" is not used in the sharding of " + what + " " +
                         Twine(index) +
                         ": shard a dim, or write it replicated");
  }
}

void StrictChecker::checkManual(ManualComputationOp op) {
  MeshAttr mesh;
  for (TensorShardingPerValueAttr list :
       {op.getInShardings(), op.getOutShardings()})
    for (TensorShardingAttr sharding : list.getShardings()) {
      MeshAttr other = getMesh(op, sharding);
      if (other.isEmpty())
        continue;
      if (mesh && other != mesh)
        findings.add("C84", op.getLoc(), // C84
                     "the shardings of a manual computation are on one mesh, "
                     "got two");
      mesh = mesh ? mesh : other;
    }
  ArrayRef<StringAttr> axes = op.getManualAxes().getValue();
  if (mesh && !llvm::is_sorted(axes, [&](StringAttr a, StringAttr b) {
        return mesh.getAxisIndex(a) < mesh.getAxisIndex(b);
      }))
    findings.add("C81", op.getLoc(), // C81
                 "manual axes are in the order of the mesh, got \"" +
                     llvm::join(llvm::map_range(axes,
                                                [](StringAttr axis) {
                                                  return axis.getValue();
                                                }),
                                "\", \"") +
                     "\"");
  if (isStrict) { // else unused ones are replicated, as JAX writes them
    checkUsed(op, op.getInShardings(), "operand");
    checkUsed(op, op.getOutShardings(), "result");
  }
  for (auto [sharding, type] : llvm::zip_equal(
           op.getInShardings().getShardings(), op.getOperandTypes()))
    checkSharding(sharding, type, op, op.getLoc());
}

void StrictChecker::checkOrigins(Attribute origins, Location loc) {
  auto isRecord = [](Attribute attr) {
    auto record = dyn_cast<DictionaryAttr>(attr);
    return record && llvm::all_of(record, [](NamedAttribute entry) {
             return isa<StringAttr>(entry.getValue());
           });
  };
  auto list = dyn_cast_or_null<ArrayAttr>(origins);
  if (origins && !isRecord(origins) && !(list && llvm::all_of(list, isRecord)))
    findings.add("C87", loc, // C87
                 "origins are text for each axis, as in {x = \"input: 0\"}");
}

void StrictChecker::checkFunction(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Location loc =
        func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc();
    if (auto sharding =
            func.getArgAttrOfType<TensorShardingAttr>(i, kShardingAttr))
      checkSharding(sharding, func.getArgumentTypes()[i], func, loc);
    checkOrigins(func.getArgAttr(i, kShardingOriginsAttr), loc);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    if (TensorShardingAttr sharding = getFuncResultSharding(func, i))
      checkSharding(sharding, func.getResultTypes()[i], func, func.getLoc());
    checkOrigins(func.getResultAttr(i, kShardingOriginsAttr), func.getLoc());
  }
}

void StrictChecker::check(Operation *op) {
  if (auto func = dyn_cast<func::FuncOp>(op))
    checkFunction(func);
  if (auto manual = dyn_cast<ManualComputationOp>(op))
    checkManual(manual);
  for (StringRef name : {kShardingOriginsAttr, kBlockArgShardingOriginsAttr,
                         kResultShardingOriginsAttr})
    checkOrigins(op->getDiscardableAttr(name), op->getLoc());
  for (Value result : op->getResults())
    if (TensorShardingAttr sharding = getSharding(result))
      checkSharding(sharding, result.getType(), op, op->getLoc());
}

struct CheckStrictPass : impl::CheckStrictPassBase<CheckStrictPass> {
  using CheckStrictPassBase::CheckStrictPassBase;

  void runOnOperation() override {
    Findings findings;
    StrictChecker checker(findings, strict);
    walkOps<WalkOrder::PreOrder>(getOperation(),
                                 [&](Operation *op) { checker.check(op); });
    if (failed(findings.emit(strict)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace shardonnay
