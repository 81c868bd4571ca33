//===- ProgramEmitter.h - the ops that every target writes ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of one device is written op by op, each in its place. Which ops
// there are, and that nothing is sent of a tensor without elements, is the same
// for all targets: a target's emitter says only what it makes of each op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_PROGRAMEMITTER_H
#define SHARDONNAY_EMIT_PROGRAMEMITTER_H

#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/emit/ReplicaGroups.h"
#include "llvm/ADT/TypeSwitch.h"

namespace shardonnay {

/// `Target` derives from this and has `build(op)`, the value of an op of one
/// result; `buildEmpty(loc, type)`, a tensor without elements; `buildAll(op)`,
/// what an `unpack` gives; and `branch(op)`, which replaces an `on_device`.
template <typename Target> class ProgramEmitter {
protected:
  explicit ProgramEmitter(mlir::MLIRContext *context) : builder(context) {}

  /// Replaces `op`. Fails with an error at it if `build` does, or if it is none
  /// of a program's, which has no form for the target of this `name`.
  mlir::LogicalResult replace(mlir::Operation *op, llvm::StringRef name);

  mlir::sdy::NamedMesh meshAt(mlir::Operation *op,
                              mlir::FlatSymbolRefAttr name) {
    auto mesh = symbols.lookupNearestSymbolFrom<mlir::sdy::MeshOp>(op, name);
    return {mesh.getMesh(), name};
  }
  /// Who sends to whom.
  DeviceRows pairsOf(mlir::spmd::CollectivePermuteOp op);

  mlir::OpBuilder builder;

private:
  mlir::SymbolTableCollection symbols;
};

template <typename Target>
mlir::LogicalResult ProgramEmitter<Target>::replace(mlir::Operation *op,
                                                    llvm::StringRef name) {
  namespace spmd = mlir::spmd;
  auto &target = static_cast<Target &>(*this);
  auto replaceBy = [](mlir::Operation *op, mlir::ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return mlir::success();
  };
  return llvm::TypeSwitch<mlir::Operation *, mlir::LogicalResult>(op)
      .Case([&](spmd::OnDeviceOp op) {
        target.branch(op);
        return mlir::success();
      })
      .Case(
          [&](spmd::UnpackOp op) { return replaceBy(op, target.buildAll(op)); })
      .template Case<mlir::sdy::ConstantOp, spmd::DeviceIndexOp,
                     spmd::AllSliceOp, spmd::AllGatherOp, spmd::AllToAllOp,
                     spmd::AllReduceOp, spmd::ReduceScatterOp,
                     spmd::CollectivePermuteOp, spmd::FetchWindowOp,
                     spmd::PackOp, spmd::BarrierOp>([&](auto op) {
        auto type =
            llvm::cast<mlir::RankedTensorType>(op->getResultTypes().front());
        llvm::FailureOr<mlir::Value> value =
            llvm::is_contained(type.getShape(), 0)
                ? target.buildEmpty(op.getLoc(), type)
                : target.build(op);
        return failed(value) ? mlir::failure() : replaceBy(op, *value);
      })
      .Default([&](mlir::Operation *op) {
        return op->emitError("has no ")
               << name << " form; run sdy-partition-to-local first";
      });
}

template <typename Target>
DeviceRows ProgramEmitter<Target>::pairsOf(mlir::spmd::CollectivePermuteOp op) {
  mlir::sdy::NamedMesh to = meshAt(op, op.getMeshAttr()), from = to;
  if (mlir::FlatSymbolRefAttr name = op.getSourceMeshAttr())
    from = meshAt(op, name);
  auto read = [](mlir::sdy::ListOfAxisRefListsAttr axesPerDim,
                 const mlir::sdy::NamedMesh &on) {
    return llvm::map_to_vector<4>(axesPerDim.getValue(),
                                  [&](mlir::sdy::AxisRefListAttr list) {
                                    return toAxisList(list.getValue(), on.mesh);
                                  });
  };
  return getSourceTargetPairs({from.toMesh(), read(op.getSource(), from)},
                              {to.toMesh(), read(op.getTarget(), to)});
}

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_PROGRAMEMITTER_H
