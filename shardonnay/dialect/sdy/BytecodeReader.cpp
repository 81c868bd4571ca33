//===- BytecodeReader.cpp - sdy attributes out of bytecode ----------------===//
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

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// An attribute with invariants has this function.
template <typename AttrT, typename... Parts>
using Verify = decltype(AttrT::verify(std::declval<EmitError>(),
                                      std::declval<Parts>()...));

/// Reads what Writer wrote. Nothing is trusted: sizes are not reserved, and no
/// attribute is made before its invariants hold.
class Reader {
public:
  explicit Reader(DialectBytecodeReader &in)
      : in(in), context(in.getContext()) {}

  /// Null, and an error, if there is no valid attribute.
  Attribute read() {
    uint64_t code = 0;
    if (failed(in.readVarInt(code)))
      return nullptr;
    switch (static_cast<Code>(code)) {
    case Code::MeshAxis:
      return orNull(meshAxis());
    case Code::Mesh:
      return orNull(mesh());
    case Code::SubAxisInfo:
      return orNull(subAxisInfo());
    case Code::AxisRef:
      return orNull(axisRef());
    case Code::AxisRefList:
      return orNull(axisRefList());
    case Code::ListOfAxisRefLists:
      return list<ListOfAxisRefListsAttr, AxisRefListAttr>(
          [&] { return axisRefList(); });
    case Code::ManualAxes:
      return references<ManualAxesAttr, StringAttr>();
    case Code::ReductionKind:
      return reductionKindAttr();
    case Code::DimensionSharding:
      return orNull(dimensionSharding());
    case Code::TensorSharding:
      return tensorSharding();
    case Code::TensorShardingPerValue:
      return references<TensorShardingPerValueAttr, TensorShardingAttr>();
    case Code::DimMapping:
      return orNull(dimMapping());
    case Code::TensorMapping:
      return orNull(tensorMapping());
    case Code::OpShardingRule:
      return rule();
    case Code::AllToAllParam:
      return orNull(allToAllParam());
    case Code::AllToAllParamList:
      return list<AllToAllParamListAttr, AllToAllParamAttr>(
          [&] { return allToAllParam(); });
    case Code::EdgeValueRef:
      return orNull(edgeValueRef());
    case Code::AxisToPropagationDetails:
      return orNull(propagationDetails());
    case Code::PropagationOneStep:
      return orNull(propagationStep());
    case Code::PropagationEdges:
      return propagationEdges();
    }
    in.emitError() << "unknown code " << code
                   << " of an 'sdy' attribute: the bytecode is damaged";
    return nullptr;
  }

private:
  template <typename AttrT> static Attribute orNull(FailureOr<AttrT> attr) {
    return succeeded(attr) ? Attribute(*attr) : Attribute();
  }

  /// An attribute whose invariants hold, or failure and its own diagnostic.
  template <typename AttrT, typename... Parts>
  FailureOr<AttrT> checked(Parts... parts) {
    auto emitError = [&] { return in.emitError(); };
    if constexpr (llvm::is_detected<Verify, AttrT, Parts...>::value)
      if (failed(AttrT::verify(emitError, parts...)))
        return failure();
    return AttrT::get(context, parts...);
  }

  /// `count` elements; each takes a byte at least, so that a damaged count
  /// ends with the file.
  template <typename T>
  LogicalResult elements(uint64_t count, SmallVectorImpl<T> &values,
                         llvm::function_ref<FailureOr<T>()> element) {
    for (; count != 0; --count) {
      FailureOr<T> value = element();
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    return success();
  }

  template <typename T>
  LogicalResult elements(SmallVectorImpl<T> &values,
                         llvm::function_ref<FailureOr<T>()> element) {
    uint64_t count = 0;
    return failure(failed(in.readVarInt(count)) ||
                   failed(elements(count, values, element)));
  }

  template <typename ListT, typename T>
  Attribute list(llvm::function_ref<FailureOr<T>()> element) {
    SmallVector<T> values;
    if (failed(elements(values, element)))
      return nullptr;
    return orNull(checked<ListT>(ArrayRef(values)));
  }

  template <typename ListT, typename T> Attribute references() {
    return list<ListT, T>([&]() -> FailureOr<T> {
      T attr;
      if (failed(in.readAttribute(attr)))
        return failure();
      return attr;
    });
  }

  LogicalResult number(int64_t &value) {
    uint64_t read = 0;
    LogicalResult result = in.readVarInt(read);
    value = static_cast<int64_t>(read);
    return result;
  }

  FailureOr<int64_t> number() {
    int64_t value = 0;
    if (failed(number(value)))
      return failure();
    return value;
  }

  LogicalResult numbers(SmallVectorImpl<int64_t> &values) {
    return elements<int64_t>(values, [&] { return number(); });
  }

  FailureOr<MeshAxisAttr> meshAxis() {
    StringRef name;
    uint64_t size = 0;
    if (failed(in.readString(name)) || failed(in.readVarInt(size)))
      return failure();
    return checked<MeshAxisAttr>(name, size == 0 ? ShapedType::kDynamic
                                                 : static_cast<int64_t>(size));
  }

  FailureOr<MeshAttr> mesh() {
    SmallVector<MeshAxisAttr> axes;
    SmallVector<int64_t> deviceIds;
    if (failed(elements<MeshAxisAttr>(axes, [&] { return meshAxis(); })) ||
        failed(numbers(deviceIds)))
      return failure();
    return checked<MeshAttr>(ArrayRef(axes), ArrayRef(deviceIds));
  }

  FailureOr<SubAxisInfoAttr> subAxisInfo() {
    int64_t preSize = 0;
    if (failed(number(preSize)))
      return failure();
    return subAxisInfo(preSize);
  }

  FailureOr<SubAxisInfoAttr> subAxisInfo(int64_t preSize) {
    int64_t size = 0;
    if (failed(number(size)))
      return failure();
    return checked<SubAxisInfoAttr>(preSize, size);
  }

  FailureOr<AxisRefAttr> axis(bool mayBeSubAxis) {
    StringRef name;
    int64_t preSize = 0;
    if (failed(in.readString(name)) ||
        (mayBeSubAxis && failed(number(preSize))))
      return failure();
    if (preSize == 0)
      return checked<AxisRefAttr>(name, SubAxisInfoAttr());
    FailureOr<SubAxisInfoAttr> info = subAxisInfo(preSize);
    if (failed(info))
      return failure();
    return checked<AxisRefAttr>(name, *info);
  }

  LogicalResult axes(SmallVectorImpl<AxisRefAttr> &list) {
    uint64_t count = 0;
    bool subAxes = false;
    if (failed(in.readVarIntWithFlag(count, subAxes)))
      return failure();
    return elements<AxisRefAttr>(count, list, [&] { return axis(subAxes); });
  }

  FailureOr<AxisRefAttr> axisRef() {
    SmallVector<AxisRefAttr> list;
    if (failed(axes(list)))
      return failure();
    if (list.size() != 1)
      return in.emitError() << "expected one axis, got " << list.size();
    return list.front();
  }

  FailureOr<AxisRefListAttr> axisRefList() {
    SmallVector<AxisRefAttr> list;
    if (failed(axes(list)))
      return failure();
    return checked<AxisRefListAttr>(ArrayRef(list));
  }

  FailureOr<ReductionKind> reductionKind() {
    uint64_t code = 0;
    if (failed(in.readVarInt(code)))
      return failure();
    for (ReductionKind kind :
         {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min})
      if (toCode(kind) == code)
        return kind;
    return in.emitError() << "unknown reduction kind " << code;
  }

  Attribute reductionKindAttr() {
    FailureOr<ReductionKind> kind = reductionKind();
    return succeeded(kind) ? orNull(checked<ReductionKindAttr>(*kind))
                           : nullptr;
  }

  FailureOr<DimensionShardingAttr> dimensionSharding() {
    uint64_t header = 0;
    std::optional<int64_t> priority;
    if (failed(in.readVarInt(header)))
      return failure();
    bool hasPriority = header & 1, isClosed = header & 2, subAxes = header & 4;
    if (hasPriority && failed(number(priority.emplace())))
      return failure();
    SmallVector<AxisRefAttr> list;
    if (failed(elements<AxisRefAttr>(header >> 3, list,
                                     [&] { return axis(subAxes); })))
      return failure();
    return checked<DimensionShardingAttr>(ArrayRef(list), isClosed, priority);
  }

  Attribute tensorSharding() {
    Attribute meshOrRef;
    uint64_t header = 0;
    SmallVector<DimensionShardingAttr> dims;
    SmallVector<AxisRefAttr> replicated, unreduced;
    ReductionKind kind = ReductionKind::Sum;
    if (failed(in.readAttribute(meshOrRef)) || failed(in.readVarInt(header)) ||
        failed(elements<DimensionShardingAttr>(
            header >> 2, dims, [&] { return dimensionSharding(); })))
      return nullptr;
    bool hasUnreduced = header & 1, hasReplicated = header & 2;
    if (hasReplicated && failed(axes(replicated)))
      return nullptr;
    if (hasUnreduced) {
      FailureOr<ReductionKind> read = reductionKind();
      if (failed(read) || failed(axes(unreduced)))
        return nullptr;
      kind = *read;
    }
    return orNull(checked<TensorShardingAttr>(meshOrRef, ArrayRef(dims),
                                              ArrayRef(replicated),
                                              ArrayRef(unreduced), kind));
  }

  FailureOr<DimMappingAttr> dimMapping() {
    SmallVector<int64_t> factors;
    if (failed(numbers(factors)))
      return failure();
    return checked<DimMappingAttr>(ArrayRef(factors));
  }

  FailureOr<TensorMappingAttr> tensorMapping() {
    SmallVector<DimMappingAttr> dims;
    if (failed(elements<DimMappingAttr>(dims, [&] { return dimMapping(); })))
      return failure();
    return checked<TensorMappingAttr>(ArrayRef(dims));
  }

  Attribute rule() {
    uint64_t numFactors = 0;
    bool isCustom = false;
    SmallVector<int64_t> sizes, reduction, needReplication, permutation,
        blocked;
    SmallVector<TensorMappingAttr> operands, results;
    auto tensor = [&] { return tensorMapping(); };
    if (failed(in.readVarIntWithFlag(numFactors, isCustom)) ||
        failed(
            elements<int64_t>(numFactors, sizes, [&] { return number(); })) ||
        failed(elements<TensorMappingAttr>(operands, tensor)) ||
        failed(elements<TensorMappingAttr>(results, tensor)) ||
        failed(numbers(reduction)) || failed(numbers(needReplication)) ||
        failed(numbers(permutation)) || failed(numbers(blocked)))
      return nullptr;
    return orNull(checked<OpShardingRuleAttr>(
        ArrayRef(sizes), ArrayRef(operands), ArrayRef(results),
        ArrayRef(reduction), ArrayRef(needReplication), ArrayRef(permutation),
        ArrayRef(blocked), isCustom));
  }

  FailureOr<AllToAllParamAttr> allToAllParam() {
    SmallVector<AxisRefAttr> list;
    int64_t source = 0, target = 0;
    if (failed(axes(list)) || failed(number(source)) || failed(number(target)))
      return failure();
    return checked<AllToAllParamAttr>(ArrayRef(list), source, target);
  }

  FailureOr<EdgeValueRefAttr> edgeValueRef() {
    uint64_t code = 0, index = 0;
    if (failed(in.readVarInt(code)) || failed(in.readVarInt(index)))
      return failure();
    for (EdgeNodeType type : {EdgeNodeType::OPERAND, EdgeNodeType::RESULT})
      if (toCode(type) == code)
        return checked<EdgeValueRefAttr>(type, static_cast<int64_t>(index));
    return in.emitError() << "unknown side " << code << " of an operation";
  }

  FailureOr<AxisToPropagationDetailsAttr> propagationDetails() {
    FailureOr<AxisRefAttr> axis = axisRef();
    if (failed(axis))
      return failure();
    FailureOr<EdgeValueRefAttr> source = edgeValueRef();
    SmallVector<EdgeValueRefAttr> targets;
    if (failed(source) || failed(elements<EdgeValueRefAttr>(
                              targets, [&] { return edgeValueRef(); })))
      return failure();
    return checked<AxisToPropagationDetailsAttr>(*axis, *source,
                                                 ArrayRef(targets));
  }

  FailureOr<PropagationOneStepAttr> propagationStep() {
    int64_t index = 0;
    SmallVector<AxisToPropagationDetailsAttr> details;
    if (failed(number(index)) ||
        failed(elements<AxisToPropagationDetailsAttr>(
            details, [&] { return propagationDetails(); })))
      return failure();
    return checked<PropagationOneStepAttr>(index, ArrayRef(details));
  }

  Attribute propagationEdges() {
    SmallVector<PropagationOneStepAttr> steps;
    if (failed(elements<PropagationOneStepAttr>(
            steps, [&] { return propagationStep(); })))
      return nullptr;
    return orNull(checked<PropagationEdgesAttr>(ArrayRef(steps)));
  }

  DialectBytecodeReader &in;
  MLIRContext *context;
};

} // namespace

Attribute mlir::sdy::bytecode::read(DialectBytecodeReader &in) {
  return Reader(in).read();
}
