//===- BindAxisSizes.cpp - the devices that there are ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Of each mesh with axes of size `?`: the number of devices, divided by the
//    sizes that are known, is what those axes share (`shareOut`).
// 2. The mesh of the program has as many devices as were given.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_BINDAXISSIZESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// The largest divisor of `number` whose power of `exponent` is no larger.
int64_t largestRootDivisor(int64_t number, size_t exponent) {
  auto fits = [&](int64_t divisor) {
    int64_t rest = number;
    for (size_t i = 0; i < exponent; ++i)
      rest /= divisor;
    return rest >= 1;
  };
  int64_t largest = 1;
  for (int64_t divisor = 2; fits(divisor); ++divisor)
    if (number % divisor == 0)
      largest = divisor;
  return largest;
}

/// `number` as a product of `count` factors, as equal as they can be, larger
/// ones first (as MPI_Dims_create has it).
SmallVector<int64_t> shareOut(int64_t number, size_t count) {
  SmallVector<int64_t> factors(count, number);
  for (size_t left = count; left > 1; --left) {
    factors[left - 1] = largestRootDivisor(factors[0], left);
    factors[0] /= factors[left - 1];
  }
  return factors;
}

struct BindAxisSizesPass : impl::BindAxisSizesPassBase<BindAxisSizesPass> {
  using BindAxisSizesPassBase::BindAxisSizesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (devices == 0) {
      if (failed(verifyMeshSizes(module)))
        signalPassFailure();
      return;
    }
    for (auto mesh : module.getOps<MeshOp>())
      if (!mesh.getMesh().hasSizes() && failed(bind(mesh)))
        return signalPassFailure();
    MeshOp mesh = getProgramMesh(module);
    int64_t found = mesh ? mesh.getMesh().getNumDevices() : 1, given = devices;
    if (found == given)
      return;
    Operation *culprit = mesh ? mesh.getOperation() : module.getOperation();
    culprit->emitError() << "expected a program for " << given
                         << " devices (option 'devices'), got one for "
                         << found;
    signalPassFailure();
  }

private:
  LogicalResult bind(MeshOp op) {
    ArrayRef<MeshAxisAttr> axes = op.getMesh().getAxes();
    // The axes without a size count as 1.
    int64_t known = op.getMesh().getNumDevices(), given = devices;
    if (given % known != 0)
      return op.emitError()
             << "expected a number of devices that " << known
             << " divides, the product of the known sizes, got " << given;
    auto hasNoSize = [](MeshAxisAttr axis) { return !axis.hasSize(); };
    SmallVector<int64_t> sizes =
        shareOut(given / known, llvm::count_if(axes, hasNoSize));
    SmallVector<MeshAxisAttr> bound(axes);
    auto *next = sizes.begin();
    for (MeshAxisAttr &axis : bound)
      if (!axis.hasSize())
        axis = MeshAxisAttr::get(op.getContext(), axis.getName(), *next++);
    op.setMeshAttr(MeshAttr::get(op.getContext(), bound, {}));
    return success();
  }
};

} // namespace
} // namespace shardonnay
