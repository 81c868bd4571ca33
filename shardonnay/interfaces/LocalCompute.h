//===- LocalCompute.h - an op on one device's slices ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_LOCALCOMPUTE_H
#define SHARDONNAY_INTERFACES_LOCALCOMPUTE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeRange.h"
#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/algebra/Factor.h"
#include <optional>

namespace shardonnay {

/// What an op is told when it writes its local computation. Implemented by the
/// `partition` stage.
class LocalContext {
public:
  virtual ~LocalContext() = default;
  /// The op's rule on its global types.
  virtual const FactorRule &rule() const = 0;
  /// The axes that shard factor `factor`: the same in every tensor that has it.
  virtual const AxisList &factorAxes(int32_t factor) const = 0;
  /// The local types of the results.
  virtual llvm::ArrayRef<mlir::Type> resultTypes() const = 0;
  /// This device's index along `axes`, 0 .. numShards-1, as a tensor<i32>; the
  /// constant 0 is never asked for.
  virtual mlir::Value deviceIndex(mlir::OpBuilder &builder, mlir::Location loc,
                                  const AxisList &axes) = 0;
  /// The op's own types.
  virtual mlir::TypeRange globalOperandTypes() const = 0;
  virtual mlir::TypeRange globalResultTypes() const = 0;
  /// This device's shard of `tensor`, whose dim `dim` (global size
  /// `globalSize`) is sharded by `axes` into equal shards: `fill`, a scalar
  /// tensor of the element type, where it reaches behind the dim's end.
  virtual mlir::Value fillEnd(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value tensor, int64_t dim,
                              int64_t globalSize, const AxisList &axes,
                              mlir::Value fill) = 0;
  /// This device's part of what `window`, one of the rule's, says of `tensor`,
  /// which is tensor number window.tensor, or it with its holes filled;
  /// `sharded` is shardWindow's. Positions that do not exist hold `fill` (null:
  /// anything). Communicates with the neighbours that hold the others; not at
  /// all where all windows are in the own shard. Also where the factor is not
  /// sharded.
  virtual mlir::Value fetchWindow(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value tensor,
                                  const FactorWindow &window,
                                  const ShardWindow &sharded,
                                  mlir::Value fill) = 0;
  /// The same of a dim without holes, as its size in `tensor` says.
  mlir::Value fetchWindow(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tensor, const FactorWindow &window,
                          mlir::Value fill);
  /// The rule's windows that are to be fetched here.
  llvm::SmallVector<FactorWindow, 2> shardWindows() const;
  /// The axes that tell apart the devices that together compute this op: all of
  /// the mesh, but those that are manual around it.
  virtual AxisList deviceAxes() = 0;
  /// The sum of `tensor` over the devices along `axes` (not empty), on each of
  /// them.
  virtual mlir::Value allReduce(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value tensor, const AxisList &axes) = 0;
  /// The one position that `tensor` has of dim 0 on each device along `axes`
  /// (not empty), on each of them, for a factor that is exchanged.
  virtual mlir::Value allGather(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value tensor, const AxisList &axes) = 0;
};

/// Where a tensor is kept: devices communicate what is in their own memory.
enum class Memory { Device, Host };

/// Where `op` moves its operand to, if it is a move.
std::optional<Memory> getMemoryMovedTo(mlir::Operation *op);

/// The axes that shard dim `dim` of a tensor with `mapping`.
AxisList axesOfDim(const LocalContext &context, const TensorMapping &mapping,
                   int64_t dim);

/// The axes over which the results are partial sums.
AxisList axesOfPartialSums(const LocalContext &context);

/// What stands for an op's results on this device; fails with an error at it.
using LocalResults = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;

/// `op` with `operands` and the context's result types; attributes and regions
/// as they are, shardings dropped.
llvm::SmallVector<mlir::Value> cloneLocally(mlir::Operation *op,
                                            mlir::OpBuilder &builder,
                                            mlir::ValueRange operands,
                                            const LocalContext &context);

} // namespace shardonnay

#include "shardonnay/interfaces/LocalCompute.h.inc"

#endif // SHARDONNAY_INTERFACES_LOCALCOMPUTE_H
