//===- DeviceIndex.cpp - a device's index as arithmetic -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/DeviceIndex.h"

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/plan/MeshMapping.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// p / stride mod size.
struct Digit {
  int64_t stride;
  int64_t size;
};

/// Major to minor, neighbours in the mesh merged.
SmallVector<Digit> getDigits(const Mesh &mesh, const AxisList &axes) {
  SmallVector<Digit> digits;
  for (AxisRef axis : axes) {
    int64_t stride = mesh.axisSize(axis.axis) / axis.end();
    for (int64_t minor = axis.axis + 1; minor < mesh.numAxes(); ++minor)
      stride *= mesh.axisSize(minor);
    if (!digits.empty() && digits.back().stride == stride * axis.size)
      digits.back() = {stride, digits.back().size * axis.size};
    else
      digits.push_back({stride, axis.size});
  }
  return digits;
}

/// Scalar arithmetic on numbers up to `largest`.
class IndexArithmetic {
public:
  IndexArithmetic(OpBuilder &builder, Location loc, int64_t largest = 0)
      : builder(builder), loc(loc),
        element(builder.getIntegerType(llvm::isInt<32>(largest) ? 32 : 64)),
        scalar(RankedTensorType::get({}, element)) {}

  Value constant(int64_t value) {
    return stablehlo::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(scalar, builder.getIntegerAttr(element, value)));
  }
  Value multiply(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : stablehlo::MulOp::create(builder, loc, lhs, constant(rhs));
  }
  Value divide(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : stablehlo::DivOp::create(builder, loc, lhs, constant(rhs));
  }
  Value remainder(Value lhs, int64_t rhs) {
    return stablehlo::RemOp::create(builder, loc, lhs, constant(rhs));
  }
  Value add(Value lhs, Value rhs) {
    return lhs ? stablehlo::AddOp::create(builder, loc, lhs, rhs) : rhs;
  }
  Value partitionId() {
    return toScalar(stablehlo::PartitionIdOp::create(builder, loc, idType()));
  }
  Value replicaId() {
    return toScalar(stablehlo::ReplicaIdOp::create(builder, loc, idType()));
  }
  /// values[index].
  Value lookUp(ArrayRef<int64_t> values, Value index) {
    auto type =
        RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
    auto elements = llvm::map_to_vector(values, [&](int64_t value) {
      return APInt(element.getIntOrFloatBitWidth(), value, /*isSigned=*/true);
    });
    Value table = stablehlo::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, elements));
    Value slice = stablehlo::DynamicSliceOp::create(
        builder, loc, table, ValueRange(index), ArrayRef<int64_t>{1});
    return stablehlo::ReshapeOp::create(builder, loc, scalar, slice);
  }

private:
  RankedTensorType idType() {
    return RankedTensorType::get(
        {}, builder.getIntegerType(32, /*isSigned=*/false));
  }
  Value toScalar(Value id) {
    return stablehlo::ConvertOp::create(builder, loc, scalar, id);
  }

  OpBuilder &builder;
  Location loc;
  Type element;
  RankedTensorType scalar;
};

/// The running device, as the mesh numbers its devices.
Value buildDeviceId(IndexArithmetic &index, const DeviceGrid &grid) {
  switch (grid.place()) {
  case DeviceGrid::Ids::Partitions:
    return index.partitionId();
  case DeviceGrid::Ids::Replicas:
    return index.replicaId();
  case DeviceGrid::Ids::Flattened:
    return index.add(index.multiply(index.replicaId(), grid.partitions()),
                     index.partitionId());
  }
  llvm_unreachable("all kinds are handled");
}

/// Where in the mesh the running device stands.
Value buildPosition(IndexArithmetic &index, const DeviceGrid &grid,
                    const Mesh &mesh) {
  Value id = buildDeviceId(index, grid);
  if (mesh.deviceIds().empty())
    return id;
  return index.lookUp(getPositions(mesh), id);
}

} // namespace

Value buildDeviceId(OpBuilder &builder, Location loc, const DeviceGrid &grid) {
  IndexArithmetic index(builder, loc);
  return buildDeviceId(index, grid);
}

Value buildLookUp(OpBuilder &builder, Location loc, ArrayRef<int64_t> values,
                  Value index) {
  int64_t largest = values.empty() ? 0 : *llvm::max_element(values);
  return IndexArithmetic(builder, loc, largest).lookUp(values, index);
}

Value buildDeviceIndex(OpBuilder &builder, Location loc, const DeviceGrid &grid,
                       const Mesh &mesh, const AxisList &axes, int64_t scale) {
  IndexArithmetic index(builder, loc, axes.numShards() * scale);
  if (axes.numShards() == 1)
    return index.constant(0);
  Value position = buildPosition(index, grid, mesh);
  SmallVector<Digit> digits = getDigits(mesh, axes);
  Value sum;
  int64_t minor = axes.numShards() * scale;
  for (Digit digit : digits) {
    minor /= digit.size;
    Value value = index.divide(position, digit.stride);
    if (digit.stride * digit.size != mesh.numDevices())
      value = index.remainder(value, digit.size);
    sum = index.add(sum, index.multiply(value, minor));
  }
  return sum;
}

} // namespace shardonnay
