//===- MeshScope.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/MeshScope.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace shardonnay {

FailureOr<MeshScope>
MeshScope::get(Operation *op, ArrayRef<sdy::TensorShardingAttr> shardings) {
  MeshScope scope;
  for (sdy::TensorShardingAttr sharding : shardings) {
    sdy::MeshAttr mesh = sharding ? sdy::getMesh(op, sharding) : nullptr;
    if (!mesh || mesh.isEmpty())
      continue;
    if (mesh.isMaximal())
      return op->emitOpError()
             << "has a tensor on device " << mesh.getDeviceIds().front()
             << " alone, expected all tensors on the whole mesh; drop the "
                "single-device sharding";
    if (scope.mesh && mesh != scope.mesh)
      return op->emitOpError()
             << "has tensors on two meshes, " << scope.meshOrRef << " and "
             << sharding.getMeshOrRef()
             << ", expected one; give all shardings of the program on one mesh";
    if (scope.mesh)
      continue;
    scope.mesh = mesh;
    scope.meshOrRef = sharding.getMeshOrRef();
  }
  return scope;
}

TensorSharding MeshScope::read(Value value) const {
  return read(sdy::getSharding(value),
              cast<RankedTensorType>(value.getType()).getRank());
}

TensorSharding MeshScope::read(sdy::TensorShardingAttr attr,
                               int64_t rank) const {
  TensorSharding closed = TensorSharding::fullyClosed(rank);
  if (!attr || attr.isReplicated())
    return closed;
  TensorSharding sharding = sdy::toSharding(attr, mesh);
  for (auto [to, from] : llvm::zip_equal(closed.dims, sharding.dims))
    to.axes = from.axes;
  closed.unreduced = sharding.unreduced;
  closed.kind = sharding.kind;
  return closed;
}

sdy::TensorShardingAttr MeshScope::write(const TensorSharding &sharding) const {
  return sdy::fromSharding(sharding, meshOrRef, mesh);
}

int64_t localBytes(RankedTensorType type, const TensorSharding &sharding) {
  Type element = type.getElementType();
  int64_t bits = 64;
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (element.isIntOrFloat())
    bits = element.getIntOrFloatBitWidth();
  int64_t elements = 1;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), sharding.dims))
    elements *= llvm::divideCeil(size, dim.axes.numShards());
  return llvm::divideCeil(elements * bits, 8);
}

} // namespace shardonnay
