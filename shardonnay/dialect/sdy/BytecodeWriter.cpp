//===- BytecodeWriter.cpp - sdy attributes into bytecode ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/BytecodeForm.h"

using namespace mlir;
using namespace mlir::sdy;
using namespace mlir::sdy::bytecode;
using shardonnay::ReductionKind;

namespace {

/// Writes attributes in the current version's form.
class Writer {
public:
  explicit Writer(DialectBytecodeWriter &out) : out(out) {}

  /// Failure if there is no form for `attr`; then MLIR writes it as text.
  template <size_t... Code>
  LogicalResult write(Attribute attr, std::index_sequence<Code...>) {
    return success((put<std::tuple_element_t<Code, Coded>>(attr, Code) || ...));
  }

private:
  /// False if `attr` is of another type.
  template <typename AttrT> bool put(Attribute attr, uint64_t code) {
    auto typed = dyn_cast<AttrT>(attr);
    if (!typed)
      return false;
    out.writeVarInt(code);
    body(typed);
    return true;
  }

  template <typename T, size_t size>
  void place(const std::array<T, size> &values, T value) {
    out.writeVarInt(llvm::find(values, value) - values.begin());
  }

  template <typename AttrT> void bodies(ArrayRef<AttrT> attrs) {
    out.writeList(attrs, [&](AttrT attr) { body(attr); });
  }

  void numbers(ArrayRef<int64_t> values) {
    out.writeList(values, [&](int64_t value) { out.writeVarInt(value); });
  }

  /// Axes without their number; with `subAxes`, a pre-size of 0 stands for a
  /// full axis.
  void axes(ArrayRef<AxisRefAttr> list, bool subAxes) {
    for (AxisRefAttr axis : list) {
      out.writeOwnedString(axis.getName());
      if (!subAxes)
        continue;
      SubAxisInfoAttr info = axis.getSubAxisInfo();
      out.writeVarInt(info ? info.getPreSize() : 0);
      if (info)
        out.writeVarInt(info.getSize());
    }
  }

  static bool hasSubAxes(ArrayRef<AxisRefAttr> list) {
    return llvm::any_of(
        list, [](AxisRefAttr axis) { return bool(axis.getSubAxisInfo()); });
  }

  void axes(ArrayRef<AxisRefAttr> list) {
    bool subAxes = hasSubAxes(list);
    out.writeVarIntWithFlag(list.size(), subAxes);
    axes(list, subAxes);
  }

  void body(MeshAxisAttr axis) {
    out.writeOwnedString(axis.getName());
    out.writeVarInt(axis.hasSize() ? axis.getSize() : 0);
  }

  void body(MeshAttr mesh) {
    bodies(mesh.getAxes());
    numbers(mesh.getDeviceIds());
  }

  void body(SubAxisInfoAttr info) {
    out.writeVarInt(info.getPreSize());
    out.writeVarInt(info.getSize());
  }

  void body(AxisRefAttr axis) { axes(axis); }
  void body(AxisRefListAttr list) { axes(list.getValue()); }
  void body(ListOfAxisRefListsAttr lists) { bodies(lists.getValue()); }
  void body(ManualAxesAttr names) { out.writeAttributes(names.getValue()); }
  void body(ReductionKindAttr kind) { place(kReductionKinds, kind.getValue()); }

  void body(DimensionShardingAttr dim) {
    bool subAxes = hasSubAxes(dim.getAxes());
    bool hasPriority = dim.getPriority().has_value();
    out.writeVarInt(dim.getAxes().size() << 3 | uint64_t(subAxes) << 2 |
                    uint64_t(dim.getIsClosed()) << 1 | uint64_t(hasPriority));
    if (hasPriority)
      out.writeVarInt(*dim.getPriority());
    axes(dim.getAxes(), subAxes);
  }

  void body(TensorShardingAttr sharding) {
    bool hasReplicated = !sharding.getReplicatedAxes().empty();
    bool hasUnreduced = !sharding.getUnreducedAxes().empty() ||
                        sharding.getReductionKind() != ReductionKind::Sum;
    out.writeAttribute(sharding.getMeshOrRef());
    out.writeVarInt(uint64_t(sharding.getRank()) << 2 |
                    uint64_t(hasReplicated) << 1 | uint64_t(hasUnreduced));
    for (DimensionShardingAttr dim : sharding.getDimShardings())
      body(dim);
    if (hasReplicated)
      axes(sharding.getReplicatedAxes());
    if (!hasUnreduced)
      return;
    place(kReductionKinds, sharding.getReductionKind());
    axes(sharding.getUnreducedAxes());
  }

  void body(TensorShardingPerValueAttr list) {
    out.writeAttributes(list.getShardings());
  }

  void body(DimMappingAttr dim) { numbers(dim.getFactorIndices()); }
  void body(TensorMappingAttr tensor) { bodies(tensor.getDimMappings()); }

  void body(OpShardingRuleAttr rule) {
    out.writeVarIntWithFlag(rule.getFactorSizes().size(), rule.getIsCustom());
    for (int64_t size : rule.getFactorSizes())
      out.writeVarInt(size);
    bodies(rule.getOperandMappings());
    bodies(rule.getResultMappings());
    numbers(rule.getReductionFactors());
    numbers(rule.getNeedReplicationFactors());
    numbers(rule.getPermutationFactors());
    numbers(rule.getBlockedPropagationFactors());
  }

  void body(AllToAllParamAttr param) {
    axes(param.getAxes());
    out.writeVarInt(param.getSrcDim());
    out.writeVarInt(param.getTgtDim());
  }

  void body(AllToAllParamListAttr list) { bodies(list.getValue()); }

  void body(EdgeValueRefAttr ref) {
    place(kSides, ref.getType());
    out.writeVarInt(ref.getIndex());
  }

  void body(AxisToPropagationDetailsAttr details) {
    axes(details.getAxisName());
    body(details.getSource());
    bodies(details.getTargets());
  }

  void body(PropagationOneStepAttr step) {
    out.writeVarInt(step.getStepIndex());
    bodies(step.getAxisEntries());
  }

  void body(PropagationEdgesAttr edges) { bodies(edges.getValue()); }

  DialectBytecodeWriter &out;
};

} // namespace

LogicalResult mlir::sdy::bytecode::write(Attribute attr,
                                         DialectBytecodeWriter &out) {
  return Writer(out).write(attr, Codes());
}
