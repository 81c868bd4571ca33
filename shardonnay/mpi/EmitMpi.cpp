//===- EmitMpi.cpp - the per-device program with calls of the runtime -----===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. emit: each spmd op and sdy.constant becomes ops of MLIR's own dialects or
//    a call of the runtime, in place, those inside an op before it.
// 2. The meshes go, and attributes of dialects that have no lowering.
// 3. checkDialects: what is left has a lowering.
// 4. makeEntry: the program on buffers.
// 5. The table of groups.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/emit/ProgramEmitter.h"
#include "shardonnay/mpi/Entry.h"
#include "shardonnay/mpi/OnDeviceBranch.h"
#include "shardonnay/mpi/PackedTensors.h"
#include "shardonnay/mpi/Passes.h"
#include "shardonnay/mpi/RuntimeCalls.h"

namespace shardonnay {

#define GEN_PASS_DEF_EMITMPIPASS
#include "shardonnay/mpi/Passes.h.inc"

using namespace mlir;

namespace {

static_assert(static_cast<int>(ReductionKind::Sum) == SHARDONNAY_SUM &&
              static_cast<int>(ReductionKind::Max) == SHARDONNAY_MAX &&
              static_cast<int>(ReductionKind::Min) == SHARDONNAY_MIN);

/// A tensor around one of its dims: [outer][dim and what is behind it].
struct AroundDim {
  int64_t outer, inner;
};
AroundDim around(ArrayRef<int64_t> shape, int64_t dim) {
  return {llvm::product_of(shape.take_front(dim)),
          llvm::product_of(shape.drop_front(dim))};
}

class Emitter : ProgramEmitter<Emitter> {
public:
  explicit Emitter(ModuleOp module)
      : ProgramEmitter(module.getContext()), calls(module, builder) {}

  /// Replaces `op`; fails with an error at it if it has no such form.
  LogicalResult emit(Operation *op) {
    builder.setInsertionPoint(op);
    return replace(op, "MPI");
  }
  void finish() { calls.finish(table); }

private:
  friend ProgramEmitter;

  FailureOr<Value> buildEmpty(Location loc, RankedTensorType type) {
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType())
        .getResult();
  }
  FailureOr<Value> build(sdy::ConstantOp op) {
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     cast<TypedAttr>(op.getValue()))
        .getResult();
  }
  FailureOr<Value> build(spmd::DeviceIndexOp op);
  FailureOr<Value> build(spmd::AllSliceOp op);
  FailureOr<Value> build(spmd::AllGatherOp op);
  FailureOr<Value> build(spmd::AllToAllOp op);
  FailureOr<Value> build(spmd::AllReduceOp op);
  FailureOr<Value> build(spmd::ReduceScatterOp op);
  FailureOr<Value> build(spmd::CollectivePermuteOp op);
  FailureOr<Value> build(spmd::FetchWindowOp op);
  /// The window behind `op` is started before those that are on their way have
  /// come: nothing in between computes, or reads them.
  bool isStartedWithNext(spmd::FetchWindowOp op);
  FailureOr<Value> build(spmd::PackOp op) { return buildPack(builder, op); }
  FailureOr<Value> build(spmd::BarrierOp op) { return Value(op.getTensor()); }
  SmallVector<Value> buildAll(spmd::UnpackOp op) {
    return buildUnpack(builder, op);
  }
  void branch(spmd::OnDeviceOp op) {
    branchOnDevice(builder, op,
                   calls.call(op.getLoc(), "shardonnay_rank", {},
                              /*hasResult=*/true));
  }

  /// The address of the group's record.
  Value group(Location loc, sdy::MeshAttr mesh, ArrayRef<sdy::AxisRefAttr> axes,
              bool communicates = true);
  template <typename SpmdOp> Value group(SpmdOp op, bool communicates = true) {
    return group(op.getLoc(), meshAt(op, op.getMeshAttr()).mesh,
                 op.getAxes().getValue(), communicates);
  }
  /// This device's index in the group, an `index`.
  template <typename SpmdOp> Value indexIn(SpmdOp op) {
    return calls.call(op.getLoc(), "shardonnay_index",
                      group(op, /*communicates=*/false), /*hasResult=*/true);
  }
  /// The number of the type's elements; fails with an error at `op`.
  FailureOr<Value> element(Operation *op, RankedTensorType type);
  /// Likewise of elements that `kind` combines.
  template <typename SpmdOp> FailureOr<Value> combined(SpmdOp op);
  Value constant(Location loc, int64_t value) {
    return calls.constant(loc, value);
  }

  RuntimeTable table;
  RuntimeCalls calls;
  /// What will have the windows that are started.
  SmallVector<Operation *> onTheirWay;
};

Value Emitter::group(Location loc, sdy::MeshAttr mesh,
                     ArrayRef<sdy::AxisRefAttr> axes, bool communicates) {
  return calls.record(
      loc, table.addGroup(toMesh(mesh), toAxisList(axes, mesh), communicates));
}

FailureOr<Value> Emitter::element(Operation *op, RankedTensorType type) {
  if (auto number = getElementNumber(type.getElementType()))
    return constant(op->getLoc(), *number);
  return op->emitError() << "sends elements of type " << type.getElementType()
                         << "; expected integers of 1 to 64 bits, floats or "
                            "complex numbers";
}

template <typename SpmdOp> FailureOr<Value> Emitter::combined(SpmdOp op) {
  Type type = op.getType().getElementType();
  bool isSum = op.getKind() == ReductionKind::Sum;
  if (isSum ? type.isInteger(1) : isa<ComplexType>(type))
    return op.emitError() << "combines elements of type " << type << " by "
                          << toString(op.getKind())
                          << ", which the MPI runtime does not; expected "
                          << (isSum ? "max (or) or min (and)" : "sum");
  return element(op, op.getType());
}

FailureOr<Value> Emitter::build(spmd::DeviceIndexOp op) {
  Value index = arith::IndexCastOp::create(
      builder, op.getLoc(), op.getType().getElementType(), indexIn(op));
  return tensor::FromElementsOp::create(builder, op.getLoc(), op.getType(),
                                        index)
      .getResult();
}

FailureOr<Value> Emitter::build(spmd::AllSliceOp op) {
  RankedTensorType type = op.getType();
  Location loc = op.getLoc();
  Value start = arith::MulIOp::create(
      builder, loc, indexIn(op), constant(loc, type.getDimSize(op.getDim())));
  SmallVector<OpFoldResult> zeros(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1)), starts(zeros);
  starts[op.getDim()] = start;
  return tensor::ExtractSliceOp::create(
             builder, loc, type, op.getTensor(), starts,
             getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
             ones)
      .getResult();
}

FailureOr<Value> Emitter::build(spmd::AllGatherOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = element(op, op.getType());
  if (failed(number))
    return failure();
  auto [outer, inner] =
      around(op.getTensor().getType().getShape(), op.getDim());
  return calls.callFor(loc, "shardonnay_all_gather",
                       {group(op), *number, constant(loc, outer),
                        constant(loc, inner), calls.read(loc, op.getTensor())},
                       op.getType());
}

FailureOr<Value> Emitter::build(spmd::AllToAllOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = element(op, op.getType());
  if (failed(number))
    return failure();
  // What is sent to one device, and what comes from one.
  SmallVector<int64_t> sent(op.getTensor().getType().getShape());
  sdy::MeshAttr mesh = meshAt(op, op.getMeshAttr()).mesh;
  sent[op.getSplitDim()] /=
      toAxisList(op.getAxes().getValue(), mesh).numShards();
  AroundDim split = around(sent, op.getSplitDim());
  AroundDim concat = around(sent, op.getConcatDim());
  return calls.callFor(loc, "shardonnay_all_to_all",
                       {group(op), *number, constant(loc, split.outer),
                        constant(loc, split.inner), constant(loc, concat.outer),
                        constant(loc, concat.inner),
                        calls.read(loc, op.getTensor())},
                       op.getType());
}

FailureOr<Value> Emitter::build(spmd::AllReduceOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = combined(op);
  if (failed(number))
    return failure();
  return calls.callFor(loc, "shardonnay_all_reduce",
                       {group(op),
                        constant(loc, static_cast<int64_t>(op.getKind())),
                        *number, constant(loc, op.getType().getNumElements()),
                        calls.read(loc, op.getTensor())},
                       op.getType());
}

FailureOr<Value> Emitter::build(spmd::ReduceScatterOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = combined(op);
  if (failed(number))
    return failure();
  auto [outer, inner] = around(op.getType().getShape(), op.getDim());
  return calls.callFor(loc, "shardonnay_reduce_scatter",
                       {group(op),
                        constant(loc, static_cast<int64_t>(op.getKind())),
                        *number, constant(loc, outer), constant(loc, inner),
                        calls.read(loc, op.getTensor())},
                       op.getType());
}

FailureOr<Value> Emitter::build(spmd::CollectivePermuteOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = element(op, op.getType());
  if (failed(number))
    return failure();
  return calls.callFor(loc, "shardonnay_permute",
                       {calls.record(loc, table.addPermute(pairsOf(op))),
                        *number, constant(loc, op.getType().getNumElements()),
                        calls.read(loc, op.getTensor())},
                       op.getType());
}

FailureOr<Value> Emitter::build(spmd::FetchWindowOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> number = element(op, op.getType());
  if (failed(number))
    return failure();
  sdy::MeshAttr mesh;
  if (op.getMeshAttr())
    mesh = meshAt(op, op.getMeshAttr()).mesh;
  else
    mesh = sdy::MeshAttr::get(op.getContext(), {}, {});
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t dim = op.getDim();
  SmallVector<Value> operands = {
      group(loc, mesh, op.shardingAxes()),
      group(loc, mesh, op.countingAxes(), /*communicates=*/false), *number};
  for (int64_t size :
       {llvm::product_of(shape.take_front(dim)),
        llvm::product_of(shape.drop_front(dim + 1)),
        op.getTensor().getType().getDimSize(dim),
        static_cast<int64_t>(op.getGlobalSize()),
        static_cast<int64_t>(op.getStart()), static_cast<int64_t>(op.getStep()),
        static_cast<int64_t>(op.getSize()), int64_t(op.getPeriodic())})
    operands.push_back(constant(loc, size));
  operands.push_back(op.getFill() ? calls.read(loc, op.getFill())
                                  : constant(loc, 0));
  operands.push_back(calls.read(loc, op.getTensor()));
  Value buffer = calls.callInto(loc, "shardonnay_fetch_window",
                                std::move(operands), op.getType());
  bool isLast = !isStartedWithNext(op);
  if (isLast) {
    calls.call(loc, "shardonnay_await_windows", {});
    for (Operation *tensor : onTheirWay)
      tensor->moveBefore(op);
    onTheirWay.clear();
  }
  Value tensor = calls.toTensor(loc, buffer, op.getType());
  if (!isLast)
    onTheirWay.push_back(tensor.getDefiningOp());
  return tensor;
}

bool Emitter::isStartedWithNext(spmd::FetchWindowOp op) {
  auto isOnItsWay = [&](Value value) {
    Operation *made = value.getDefiningOp();
    return made == op || llvm::is_contained(onTheirWay, made);
  };
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (llvm::any_of(next->getOperands(), isOnItsWay))
      return false;
    // Of a window without elements nothing is sent.
    if (auto window = dyn_cast<spmd::FetchWindowOp>(next))
      return window.getType().getNumElements() > 0;
    if (!isa<tensor::EmptyOp, tensor::ExtractSliceOp>(next) &&
        !next->hasTrait<OpTrait::ConstantLike>())
      return false;
  }
  return false;
}

struct EmitMpi : impl::EmitMpiPassBase<EmitMpi> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(sdy::verifyMeshSizes(module)))
      return signalPassFailure();
    Emitter emitter(module);
    for (Operation *op : findToEmit(module))
      if (failed(emitter.emit(op)))
        return signalPassFailure();
    for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      mesh.erase();
    dropForeignAttributes(module);
    if (failed(checkDialects(module)) || failed(makeEntry(module)))
      return signalPassFailure();
    emitter.finish();
  }
};

} // namespace

} // namespace shardonnay
