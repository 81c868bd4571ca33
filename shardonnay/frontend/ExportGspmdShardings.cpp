//===- ExportGspmdShardings.cpp - HLO shardings from sdy ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Shardings of arguments, results and ops.
// 2. Ops of `sdy`, inside out: those that state a sharding of a global value
//    become calls of `Sharding`, those that pass a value on go, computations
//    are put in place of themselves.
// 3. Meshes go.
//
// Inside a manual computation the manual axes of all computations around a
// place are its subgroup `manual`.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/CustomCall.h"
#include "shardonnay/frontend/GspmdShardings.h"
#include "shardonnay/frontend/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_EXPORTGSPMDSHARDINGSPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

class Exporter {
public:
  explicit Exporter(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  /// Finds under which manual axes each function is called.
  LogicalResult findManualContexts();
  LogicalResult findManualContext(
      func::FuncOp func,
      const llvm::DenseMap<Operation *, SmallVector<func::CallOp>> &calls);
  LogicalResult exportSignature(func::FuncOp func);
  LogicalResult exportAttribute(Operation *op);
  LogicalResult exportOp(Operation *op);
  LogicalResult exportSharding(Operation *op, TensorShardingAttr sharding);
  LogicalResult exportConstant(ConstantOp op);
  LogicalResult exportManual(ManualComputationOp op);

  /// The HLO sharding of a value of `op`; `inner`: of one inside of `op`, a
  /// manual computation.
  FailureOr<HloSharding> convert(TensorShardingAttr sharding, Operation *op,
                                 bool inner = false);
  /// The axes of `mesh` that are manual inside of `op`.
  AxisList manualAxes(Operation *op, MeshAttr mesh);
  /// A call `target` on `input`, marked with `sharding`; the dims that
  /// `attribute` leaves open are unspecified.
  Value call(OpBuilder &builder, Location loc, StringRef target, Type type,
             Value input, const HloSharding &sharding,
             TensorShardingAttr attribute);
  void setText(NamedAttrList &attributes, const HloSharding &sharding) {
    attributes.set(kHloShardingAttr,
                   StringAttr::get(module.getContext(), sharding.str()));
  }

  ModuleOp module;
  /// The manual axes around the calls of each function, by their manual
  /// computations.
  llvm::DenseMap<Operation *, SmallVector<StringAttr>> contexts;
};

/// The axes that are manual at `op` by the computations around it, those of the
/// innermost last.
SmallVector<StringAttr> namesAround(Operation *op) {
  SmallVector<StringAttr> names;
  for (; op; op = op->getParentOp())
    if (auto manual = dyn_cast<ManualComputationOp>(op))
      llvm::append_range(names, manual.getManualAxes().getValue());
  return names;
}

LogicalResult Exporter::findManualContexts() {
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, SmallVector<func::CallOp>> calls;
  module.walk([&](func::CallOp call) {
    if (Operation *callee = symbols.lookup(call.getCallee()))
      calls[callee].push_back(call);
  });
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(findManualContext(func, calls)))
      return failure();
  return success();
}

LogicalResult Exporter::findManualContext(
    func::FuncOp func,
    const llvm::DenseMap<Operation *, SmallVector<func::CallOp>> &calls) {
  // Under recursion, what is around the first call counts.
  if (!contexts.try_emplace(func).second)
    return success();
  func::CallOp first;
  for (func::CallOp call : calls.lookup(func)) {
    auto caller = call->getParentOfType<func::FuncOp>();
    if (failed(findManualContext(caller, calls)))
      return failure();
    SmallVector<StringAttr> names = namesAround(call);
    llvm::append_range(names, contexts[caller]);
    llvm::sort(names, [](StringAttr a, StringAttr b) {
      return a.getValue() < b.getValue();
    });
    if (first && names != contexts[func]) {
      InFlightDiagnostic diag =
          call.emitError("@")
          << call.getCallee()
          << " is called under other manual axes than elsewhere, and HLO "
             "shardings in it would differ; inline it or call a copy";
      diag.attachNote(first.getLoc()) << "elsewhere";
      return diag;
    }
    first = call;
    contexts[func] = names;
  }
  return success();
}

LogicalResult Exporter::run() {
  if (failed(findManualContexts()))
    return failure();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(exportSignature(func)))
      return failure();
  SmallVector<Operation *> ops;
  // Inside out: what is in a computation still sees it around itself.
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(exportAttribute(op)) || failed(exportOp(op)))
      return failure();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
  return success();
}

AxisList Exporter::manualAxes(Operation *op, MeshAttr mesh) {
  SmallVector<StringAttr> names = namesAround(op);
  auto func = dyn_cast<func::FuncOp>(op);
  llvm::append_range(
      names, contexts[func ? func : op->getParentOfType<func::FuncOp>()]);
  AxisList axes;
  for (StringAttr name : names)
    if (int64_t axis = mesh.getAxisIndex(name); axis >= 0)
      axes.append(toMesh(mesh).fullAxis(axis));
  return axes.sorted();
}

FailureOr<HloSharding> Exporter::convert(TensorShardingAttr sharding,
                                         Operation *op, bool inner) {
  MeshAttr mesh = sdy::getMesh(op, sharding);
  if (!mesh)
    return op->emitError("sharding ")
           << sharding << " names no mesh, expected one of the module's";
  if (mesh.isMaximal()) {
    HloSharding maximal = HloSharding::of(HloSharding::Kind::Maximal);
    maximal.device = mesh.getDeviceIds().front();
    return maximal;
  }
  TensorSharding value = toSharding(sharding, mesh);
  if (!value.unreduced.empty() && value.kind != ReductionKind::Sum)
    return op->emitError("sharding ")
           << sharding
           << " is unreduced by another kind than sum, which HLO shardings "
              "can't say; reduce it first";
  AxisList manual =
      manualAxes(inner || isa<func::FuncOp>(op) ? op : op->getParentOp(), mesh);
  // The manual axes of an in- or out-sharding shard nothing inside.
  if (inner)
    for (DimSharding &dim : value.dims)
      dim.axes = dim.axes.subtract(manual);
  return toHloSharding(toMesh(mesh), value, manual);
}

LogicalResult Exporter::exportSignature(func::FuncOp func) {
  SignatureAttributes signature(func);
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto sharding = func.getArgAttrOfType<TensorShardingAttr>(i, kShardingAttr);
    if (!sharding)
      continue;
    FailureOr<HloSharding> hlo = convert(sharding, func);
    if (failed(hlo))
      return failure();
    signature.setArgument(i, kShardingAttr, nullptr);
    signature.setArgument(i, kHloShardingAttr,
                          StringAttr::get(func.getContext(), hlo->str()));
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    TensorShardingAttr sharding = getFuncResultSharding(func, i);
    if (!sharding)
      continue;
    FailureOr<HloSharding> hlo = convert(sharding, func);
    if (failed(hlo))
      return failure();
    signature.setResult(i, kShardingAttr, nullptr);
    signature.setResult(i, kHloShardingAttr,
                        StringAttr::get(func.getContext(), hlo->str()));
  }
  return success();
}

LogicalResult Exporter::exportAttribute(Operation *op) {
  op->removeAttr(kShardingRuleAttr);
  auto all = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr);
  if (!all)
    return success();
  HloSharding tuple = HloSharding::of(HloSharding::Kind::Tuple);
  for (TensorShardingAttr sharding : all.getShardings()) {
    FailureOr<HloSharding> hlo = convert(sharding, op);
    if (failed(hlo))
      return failure();
    tuple.elements.push_back(*hlo);
  }
  op->removeAttr(kShardingAttr);
  // XLA drops and adds operands of loops and leaves a tuple of shardings as it
  // was; what computes the values that a loop carries says the same.
  if (tuple.elements.empty() ||
      op->getName().getStringRef() == "stablehlo.while")
    return success();
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  setText(attributes,
          tuple.elements.size() == 1 ? tuple.elements.front() : tuple);
  op->setDiscardableAttrs(attributes.getDictionary(op->getContext()));
  return success();
}

Value Exporter::call(OpBuilder &builder, Location loc, StringRef target,
                     Type type, Value input, const HloSharding &sharding,
                     TensorShardingAttr attribute) {
  std::string open;
  llvm::raw_string_ostream os(open);
  for (auto [index, dim] : llvm::enumerate(attribute.getDimShardings()))
    if (!dim.getIsClosed())
      os << (open.empty() ? "unspecified_dims=[" : ",") << index;
  if (!open.empty())
    os << "]";
  NamedAttrList attributes;
  attributes.set("backend_config", builder.getStringAttr(open));
  setText(attributes, sharding);
  return createCustomCall(builder, loc, target, type, input, attributes)
      ->getResult(0);
}

LogicalResult Exporter::exportSharding(Operation *op,
                                       TensorShardingAttr sharding) {
  FailureOr<HloSharding> hlo = convert(sharding, op);
  if (failed(hlo))
    return failure();
  OpBuilder builder(op);
  Value input = op->getOperand(0);
  op->replaceAllUsesWith(
      ValueRange(call(builder, op->getLoc(), "Sharding", input.getType(), input,
                      *hlo, sharding)));
  op->erase();
  return success();
}

LogicalResult Exporter::exportConstant(ConstantOp op) {
  OperationState state(op.getLoc(), "stablehlo.constant");
  state.addTypes(op.getType());
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.addAttribute("value", op.getValue());
  OpBuilder builder(op);
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
  return success();
}

LogicalResult Exporter::exportManual(ManualComputationOp op) {
  OpBuilder builder(op);
  Block &body = op.getBody().front();
  for (auto [input, argument, sharding] :
       llvm::zip_equal(op.getTensors(), body.getArguments(),
                       op.getInShardings().getShardings())) {
    FailureOr<HloSharding> outside = convert(sharding, op);
    FailureOr<HloSharding> inside = convert(sharding, op, /*inner=*/true);
    if (failed(outside) || failed(inside))
      return failure();
    Value sharded = call(builder, op.getLoc(), "Sharding", input.getType(),
                         input, *outside, sharding);
    argument.replaceAllUsesWith(call(builder, op.getLoc(),
                                     "SPMDFullToShardShape", argument.getType(),
                                     sharded, *inside, sharding));
  }
  Operation *terminator = body.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  for (auto [local, result, sharding] : llvm::zip_equal(
           results, op.getResults(), op.getOutShardings().getShardings())) {
    FailureOr<HloSharding> outside = convert(sharding, op);
    FailureOr<HloSharding> inside = convert(sharding, op, /*inner=*/true);
    if (failed(outside) || failed(inside))
      return failure();
    Value marked = call(builder, op.getLoc(), "Sharding", local.getType(),
                        local, *inside, sharding);
    result.replaceAllUsesWith(call(builder, op.getLoc(), "SPMDShardToFullShape",
                                   result.getType(), marked, *outside,
                                   sharding));
  }
  op.erase();
  return success();
}

/// Puts `values` in place of the results of `op`.
LogicalResult replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

LogicalResult Exporter::exportOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ShardingConstraintOp, ReshardOp>(
          [&](auto op) { return exportSharding(op, op.getSharding()); })
      .Case<AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp,
            AllReduceOp, ReduceScatterOp, ShardedToUnreducedOp,
            ReplicatedToUnreducedOp>(
          [&](auto op) { return exportSharding(op, op.getOutSharding()); })
      .Case<PropagationBarrierOp, DataFlowEdgeOp>(
          [](auto op) { return replace(op, op.getInput()); })
      .Case([&](ShardingGroupOp op) {
        HloSharding group = HloSharding::of(HloSharding::Kind::Unknown);
        group.groupKind = HloSharding::GroupKind::As;
        group.group = op.getGroupId();
        NamedAttrList attributes;
        OpBuilder builder(op);
        attributes.set("backend_config", builder.getStringAttr(""));
        attributes.set("has_side_effect", builder.getBoolAttr(true));
        setText(attributes, group);
        createCustomCall(builder, op.getLoc(), "Sharding",
                         op.getInput().getType(), op.getInput(), attributes);
        op.erase();
        return success();
      })
      .Case([&](ConstantOp op) { return exportConstant(op); })
      .Case([&](ManualComputationOp op) { return exportManual(op); })
      .Case([&](NamedComputationOp op) {
        Block &body = op.getBody().front();
        for (auto [argument, operand] :
             llvm::zip_equal(body.getArguments(), op.getOperands()))
          argument.replaceAllUsesWith(operand);
        Operation *terminator = body.getTerminator();
        SmallVector<Value> results(terminator->getOperands());
        terminator->erase();
        op->getBlock()->getOperations().splice(op->getIterator(),
                                               body.getOperations());
        return replace(op, results);
      })
      .Default([](Operation *) { return success(); });
}

struct ExportGspmdShardingsPass
    : impl::ExportGspmdShardingsPassBase<ExportGspmdShardingsPass> {
  void runOnOperation() override {
    if (failed(Exporter(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace shardonnay
