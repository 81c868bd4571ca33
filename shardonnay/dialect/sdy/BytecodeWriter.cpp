//===- BytecodeWriter.cpp - sdy attributes into bytecode ------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/BytecodeForm.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;
using namespace mlir::sdy::bytecode;
using shardonnay::ReductionKind;

uint64_t mlir::sdy::bytecode::toCode(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return 0;
  case ReductionKind::Max:
    return 1;
  case ReductionKind::Min:
    return 2;
  }
  llvm_unreachable("no such reduction kind");
}

uint64_t mlir::sdy::bytecode::toCode(EdgeNodeType type) {
  switch (type) {
  case EdgeNodeType::OPERAND:
    return 0;
  case EdgeNodeType::RESULT:
    return 1;
  }
  llvm_unreachable("no such side of an operation");
}

namespace {

/// Writes attributes in the current version's form.
class Writer {
public:
  explicit Writer(DialectBytecodeWriter &out) : out(out) {}

  /// Failure if there is no form for `attr`; then MLIR writes it as text.
  LogicalResult write(Attribute attr) {
    return llvm::TypeSwitch<Attribute, LogicalResult>(attr)
        .Case([&](MeshAxisAttr axis) {
          return put(Code::MeshAxis, [&] { body(axis); });
        })
        .Case(
            [&](MeshAttr mesh) { return put(Code::Mesh, [&] { body(mesh); }); })
        .Case([&](SubAxisInfoAttr info) {
          return put(Code::SubAxisInfo, [&] { body(info); });
        })
        .Case([&](AxisRefAttr axis) {
          return put(Code::AxisRef, [&] { axes(axis); });
        })
        .Case([&](AxisRefListAttr list) {
          return put(Code::AxisRefList, [&] { axes(list.getValue()); });
        })
        .Case([&](ListOfAxisRefListsAttr lists) {
          return put(Code::ListOfAxisRefLists, [&] {
            out.writeList(lists.getValue(),
                          [&](AxisRefListAttr list) { axes(list.getValue()); });
          });
        })
        .Case([&](ManualAxesAttr list) {
          return put(Code::ManualAxes,
                     [&] { out.writeAttributes(list.getValue()); });
        })
        .Default([&](Attribute) { return writeSharding(attr); });
  }

private:
  LogicalResult writeSharding(Attribute attr) {
    return llvm::TypeSwitch<Attribute, LogicalResult>(attr)
        .Case([&](ReductionKindAttr kind) {
          return put(Code::ReductionKind,
                     [&] { out.writeVarInt(toCode(kind.getValue())); });
        })
        .Case([&](DimensionShardingAttr dim) {
          return put(Code::DimensionSharding, [&] { body(dim); });
        })
        .Case([&](TensorShardingAttr sharding) {
          return put(Code::TensorSharding, [&] { body(sharding); });
        })
        .Case([&](TensorShardingPerValueAttr list) {
          return put(Code::TensorShardingPerValue,
                     [&] { out.writeAttributes(list.getShardings()); });
        })
        .Default([&](Attribute) { return writeRule(attr); });
  }

  LogicalResult writeRule(Attribute attr) {
    return llvm::TypeSwitch<Attribute, LogicalResult>(attr)
        .Case([&](DimMappingAttr dim) {
          return put(Code::DimMapping,
                     [&] { numbers(dim.getFactorIndices()); });
        })
        .Case([&](TensorMappingAttr tensor) {
          return put(Code::TensorMapping, [&] { body(tensor); });
        })
        .Case([&](OpShardingRuleAttr rule) {
          return put(Code::OpShardingRule, [&] { body(rule); });
        })
        .Case([&](AllToAllParamAttr param) {
          return put(Code::AllToAllParam, [&] { body(param); });
        })
        .Case([&](AllToAllParamListAttr list) {
          return put(Code::AllToAllParamList, [&] {
            out.writeList(list.getValue(),
                          [&](AllToAllParamAttr param) { body(param); });
          });
        })
        .Default([&](Attribute) { return writeRecord(attr); });
  }

  LogicalResult writeRecord(Attribute attr) {
    return llvm::TypeSwitch<Attribute, LogicalResult>(attr)
        .Case([&](EdgeValueRefAttr ref) {
          return put(Code::EdgeValueRef, [&] { body(ref); });
        })
        .Case([&](AxisToPropagationDetailsAttr details) {
          return put(Code::AxisToPropagationDetails, [&] { body(details); });
        })
        .Case([&](PropagationOneStepAttr step) {
          return put(Code::PropagationOneStep, [&] { body(step); });
        })
        .Case([&](PropagationEdgesAttr edges) {
          return put(Code::PropagationEdges, [&] {
            out.writeList(edges.getValue(),
                          [&](PropagationOneStepAttr step) { body(step); });
          });
        })
        .Default([](Attribute) { return failure(); });
  }

  LogicalResult put(Code code, llvm::function_ref<void()> parts) {
    out.writeVarInt(static_cast<uint64_t>(code));
    parts();
    return success();
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
    out.writeList(mesh.getAxes(), [&](MeshAxisAttr axis) { body(axis); });
    numbers(mesh.getDeviceIds());
  }

  void body(SubAxisInfoAttr info) {
    out.writeVarInt(info.getPreSize());
    out.writeVarInt(info.getSize());
  }

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
    out.writeVarInt(toCode(sharding.getReductionKind()));
    axes(sharding.getUnreducedAxes());
  }

  void body(TensorMappingAttr tensor) {
    out.writeList(tensor.getDimMappings(),
                  [&](DimMappingAttr dim) { numbers(dim.getFactorIndices()); });
  }

  void body(OpShardingRuleAttr rule) {
    out.writeVarIntWithFlag(rule.getFactorSizes().size(), rule.getIsCustom());
    for (int64_t size : rule.getFactorSizes())
      out.writeVarInt(size);
    auto tensor = [&](TensorMappingAttr mapping) { body(mapping); };
    out.writeList(rule.getOperandMappings(), tensor);
    out.writeList(rule.getResultMappings(), tensor);
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

  void body(EdgeValueRefAttr ref) {
    out.writeVarInt(toCode(ref.getType()));
    out.writeVarInt(ref.getIndex());
  }

  void body(AxisToPropagationDetailsAttr details) {
    axes(details.getAxisName());
    body(details.getSource());
    out.writeList(details.getTargets(),
                  [&](EdgeValueRefAttr target) { body(target); });
  }

  void body(PropagationOneStepAttr step) {
    out.writeVarInt(step.getStepIndex());
    out.writeList(step.getAxisEntries(),
                  [&](AxisToPropagationDetailsAttr details) { body(details); });
  }

  DialectBytecodeWriter &out;
};

} // namespace

LogicalResult mlir::sdy::bytecode::write(Attribute attr,
                                         DialectBytecodeWriter &out) {
  return Writer(out).write(attr);
}
