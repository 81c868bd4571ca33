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

/// An attribute with invariants has this function.
template <typename AttrT, typename... Parts>
using Verify = decltype(AttrT::verify(
    std::declval<llvm::function_ref<InFlightDiagnostic()>>(),
    std::declval<const Parts &>()...));

/// Reads what Writer wrote. Nothing is trusted: sizes are not reserved, and no
/// attribute is made before its invariants hold.
class Reader {
public:
  explicit Reader(DialectBytecodeReader &in) : in(in) {}

  /// Null, and an error, if there is no valid attribute.
  template <size_t... Code> Attribute read(std::index_sequence<Code...>) {
    static constexpr Attribute (Reader::*forms[])() = {
        &Reader::whole<std::tuple_element_t<Code, Coded>>...};
    uint64_t code = 0;
    if (failed(in.readVarInt(code)))
      return nullptr;
    if (code < std::size(forms))
      return (this->*forms[code])();
    in.emitError() << "unknown code " << code
                   << " of an 'sdy' attribute: the bytecode is damaged";
    return nullptr;
  }

private:
  template <typename AttrT> Attribute whole() {
    AttrT attr;
    return succeeded(read(attr)) ? attr : AttrT();
  }

  /// Failure, and the attribute's own diagnostic, unless its invariants hold.
  template <typename AttrT, typename... Parts>
  LogicalResult make(AttrT &attr, const Parts &...parts) {
    auto emitError = [&] { return in.emitError(); };
    if constexpr (llvm::is_detected<Verify, AttrT, Parts...>::value)
      if (failed(AttrT::verify(emitError, parts...)))
        return failure();
    attr = AttrT::get(in.getContext(), parts...);
    return success();
  }

  template <typename... Parts> LogicalResult readAll(Parts &...parts) {
    return success((succeeded(read(parts)) && ...));
  }

  /// An attribute that is written as its parts, which are of these types.
  template <typename... Parts, typename AttrT>
  LogicalResult readParts(AttrT &attr) {
    std::tuple<Parts...> all;
    return std::apply(
        [&](Parts &...parts) {
          return failure(failed(readAll(parts...)) ||
                         failed(make(attr, parts...)));
        },
        all);
  }

  /// `count` elements; each takes a byte at least, so that a damaged count
  /// ends with the file.
  template <typename T, typename ReadT>
  LogicalResult elements(uint64_t count, SmallVectorImpl<T> &values,
                         ReadT readOne) {
    for (; count != 0; --count)
      if (failed(readOne(values.emplace_back())))
        return failure();
    return success();
  }

  template <typename T> LogicalResult read(SmallVectorImpl<T> &values) {
    uint64_t count = 0;
    return failure(
        failed(in.readVarInt(count)) ||
        failed(elements(count, values, [&](T &value) { return read(value); })));
  }

  template <typename T, size_t size>
  LogicalResult readPlace(const std::array<T, size> &values, T &value,
                          StringRef what) {
    uint64_t place = 0;
    if (failed(in.readVarInt(place)))
      return failure();
    if (place >= size)
      return in.emitError() << "unknown " << what << ' ' << place;
    value = values[place];
    return success();
  }

  LogicalResult read(int64_t &value) {
    uint64_t number = 0;
    LogicalResult result = in.readVarInt(number);
    value = static_cast<int64_t>(number);
    return result;
  }
  LogicalResult read(ReductionKind &kind) {
    return readPlace(kReductionKinds, kind, "reduction kind");
  }
  LogicalResult read(EdgeNodeType &side) {
    return readPlace(kSides, side, "side of an operation");
  }
  LogicalResult read(StringAttr &name) { return in.readAttribute(name); }

  LogicalResult read(MeshAxisAttr &attr) {
    StringRef name;
    int64_t size = 0;
    if (failed(in.readString(name)) || failed(read(size)))
      return failure();
    return make(attr, name, size == 0 ? ShapedType::kDynamic : size);
  }

  LogicalResult read(MeshAttr &attr) {
    return readParts<SmallVector<MeshAxisAttr>, SmallVector<int64_t>>(attr);
  }

  LogicalResult read(SubAxisInfoAttr &attr) {
    return readParts<int64_t, int64_t>(attr);
  }

  LogicalResult readAxis(AxisRefAttr &attr, bool mayBeSubAxis) {
    StringRef name;
    int64_t preSize = 0, size = 0;
    SubAxisInfoAttr info;
    if (failed(in.readString(name)) || (mayBeSubAxis && failed(read(preSize))))
      return failure();
    if (preSize != 0 &&
        (failed(read(size)) || failed(make(info, preSize, size))))
      return failure();
    return make(attr, name, info);
  }

  LogicalResult readAxes(uint64_t count, bool subAxes,
                         SmallVectorImpl<AxisRefAttr> &axes) {
    return elements(count, axes,
                    [&](AxisRefAttr &axis) { return readAxis(axis, subAxes); });
  }

  LogicalResult read(SmallVectorImpl<AxisRefAttr> &axes) {
    uint64_t count = 0;
    bool subAxes = false;
    return failure(failed(in.readVarIntWithFlag(count, subAxes)) ||
                   failed(readAxes(count, subAxes, axes)));
  }

  LogicalResult read(AxisRefAttr &attr) {
    SmallVector<AxisRefAttr> list;
    if (failed(read(list)))
      return failure();
    if (list.size() != 1)
      return in.emitError() << "expected one axis, got " << list.size();
    attr = list.front();
    return success();
  }

  LogicalResult read(AxisRefListAttr &attr) {
    return readParts<SmallVector<AxisRefAttr>>(attr);
  }
  LogicalResult read(ListOfAxisRefListsAttr &attr) {
    return readParts<SmallVector<AxisRefListAttr>>(attr);
  }
  LogicalResult read(ManualAxesAttr &attr) {
    return readParts<SmallVector<StringAttr>>(attr);
  }
  LogicalResult read(ReductionKindAttr &attr) {
    return readParts<ReductionKind>(attr);
  }

  LogicalResult read(DimensionShardingAttr &attr) {
    uint64_t header = 0;
    std::optional<int64_t> priority;
    SmallVector<AxisRefAttr> axes;
    if (failed(in.readVarInt(header)))
      return failure();
    bool hasPriority = header & 1, isClosed = header & 2, subAxes = header & 4;
    if ((hasPriority && failed(read(priority.emplace()))) ||
        failed(readAxes(header >> 3, subAxes, axes)))
      return failure();
    return make(attr, axes, isClosed, priority);
  }

  LogicalResult read(TensorShardingAttr &attr) {
    Attribute meshOrRef;
    uint64_t header = 0;
    SmallVector<DimensionShardingAttr> dims;
    SmallVector<AxisRefAttr> replicated, unreduced;
    ReductionKind kind = ReductionKind::Sum;
    if (failed(in.readAttribute(meshOrRef)) || failed(in.readVarInt(header)) ||
        failed(elements(header >> 2, dims,
                        [&](DimensionShardingAttr &dim) { return read(dim); })))
      return failure();
    bool hasUnreduced = header & 1, hasReplicated = header & 2;
    if ((hasReplicated && failed(read(replicated))) ||
        (hasUnreduced && failed(readAll(kind, unreduced))))
      return failure();
    return make(attr, meshOrRef, dims, replicated, unreduced, kind);
  }

  LogicalResult read(SmallVectorImpl<TensorShardingAttr> &shardings) {
    uint64_t count = 0;
    return failure(
        failed(in.readVarInt(count)) ||
        failed(elements(count, shardings, [&](TensorShardingAttr &sharding) {
          return in.readAttribute(sharding);
        })));
  }
  LogicalResult read(TensorShardingPerValueAttr &attr) {
    return readParts<SmallVector<TensorShardingAttr>>(attr);
  }

  LogicalResult read(DimMappingAttr &attr) {
    return readParts<SmallVector<int64_t>>(attr);
  }
  LogicalResult read(TensorMappingAttr &attr) {
    return readParts<SmallVector<DimMappingAttr>>(attr);
  }

  LogicalResult read(OpShardingRuleAttr &attr) {
    uint64_t numFactors = 0;
    bool isCustom = false;
    SmallVector<int64_t> sizes, reduction, needReplication, permutation,
        blocked;
    SmallVector<TensorMappingAttr> operands, results;
    if (failed(in.readVarIntWithFlag(numFactors, isCustom)) ||
        failed(elements(numFactors, sizes,
                        [&](int64_t &size) { return read(size); })) ||
        failed(readAll(operands, results, reduction, needReplication,
                       permutation, blocked)))
      return failure();
    return make(attr, sizes, operands, results, reduction, needReplication,
                permutation, blocked, isCustom);
  }

  LogicalResult read(AllToAllParamAttr &attr) {
    return readParts<SmallVector<AxisRefAttr>, int64_t, int64_t>(attr);
  }
  LogicalResult read(AllToAllParamListAttr &attr) {
    return readParts<SmallVector<AllToAllParamAttr>>(attr);
  }

  LogicalResult read(EdgeValueRefAttr &attr) {
    return readParts<EdgeNodeType, int64_t>(attr);
  }
  LogicalResult read(AxisToPropagationDetailsAttr &attr) {
    return readParts<AxisRefAttr, EdgeValueRefAttr,
                     SmallVector<EdgeValueRefAttr>>(attr);
  }
  LogicalResult read(PropagationOneStepAttr &attr) {
    return readParts<int64_t, SmallVector<AxisToPropagationDetailsAttr>>(attr);
  }
  LogicalResult read(PropagationEdgesAttr &attr) {
    return readParts<SmallVector<PropagationOneStepAttr>>(attr);
  }

  DialectBytecodeReader &in;
};

} // namespace

Attribute mlir::sdy::bytecode::read(DialectBytecodeReader &in) {
  return Reader(in).read(Codes());
}
