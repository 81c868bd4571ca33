//===- Entry.cpp ----------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/mpi/Entry.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/mpi/RuntimeCalls.h"

using namespace mlir;

namespace shardonnay {

static constexpr llvm::StringLiteral kEntry("shardonnay_program");

/// The dialect has a lowering to LLVM by MLIR's own passes.
static bool isLowered(StringRef dialect) {
  static constexpr llvm::StringLiteral kLowered[] = {
      "affine",  "arith", "bufferization", "builtin", "cf",
      "complex", "func",  "index",         "linalg",  "math",
      "memref",  "scf",   "tensor",        "tosa",    "ub"};
  return llvm::is_contained(kLowered, dialect);
}

static func::FuncOp findEntry(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      return func;
  return nullptr;
}

/// The buffer of a tensor that crosses the boundary; null, and an error, if it
/// has none.
static MemRefType getBufferType(Location loc, Type type, StringRef what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape() &&
      getElementNumber(tensor.getElementType()))
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  emitError(loc) << what << " of type " << type
                 << " has no array; expected a tensor of a known shape, of "
                    "integers, floats or complex numbers";
  return nullptr;
}

static LogicalResult collectBuffers(func::FuncOp func,
                                    SmallVector<Type> &buffers) {
  for (BlockArgument argument : func.getArguments()) {
    MemRefType type =
        getBufferType(argument.getLoc(), argument.getType(), "an argument");
    if (!type)
      return failure();
    buffers.push_back(type);
  }
  for (Type result : func.getResultTypes()) {
    MemRefType type = getBufferType(func.getLoc(), result, "a result");
    if (!type)
      return failure();
    buffers.push_back(type);
  }
  return success();
}

/// Each argument is the tensor of its buffer; those of results come behind.
static void rewriteArguments(func::FuncOp func, ArrayRef<Type> buffers) {
  Block &body = func.front();
  unsigned numArguments = body.getNumArguments();
  auto builder = OpBuilder::atBlockBegin(&body);
  for (unsigned i = 0; i < numArguments; ++i) {
    BlockArgument argument = body.getArgument(i);
    Type type = argument.getType();
    argument.setType(buffers[i]);
    auto tensor = bufferization::ToTensorOp::create(
        builder, argument.getLoc(), type, argument, /*restrict=*/true,
        /*writable=*/false);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  for (Type type : buffers.drop_front(numArguments))
    body.addArgument(type, func.getLoc());
}

static void rewriteReturn(func::FuncOp func, unsigned numArguments) {
  Operation *end = func.front().getTerminator();
  OpBuilder builder(end);
  for (auto [i, result] : llvm::enumerate(end->getOperands()))
    bufferization::MaterializeInDestinationOp::create(
        builder, end->getLoc(), /*result=*/Type(), result,
        func.getArgument(numArguments + i), /*restrict=*/true,
        /*writable=*/true);
  end->setOperands(ValueRange());
}

LogicalResult makeEntry(ModuleOp module) {
  func::FuncOp func = findEntry(module);
  if (!func)
    return module.emitError(
        "has no public function with a body; expected one to run");
  unsigned numArguments = func.getNumArguments();
  SmallVector<Type> buffers;
  if (failed(collectBuffers(func, buffers)))
    return failure();
  rewriteArguments(func, buffers);
  rewriteReturn(func, numArguments);
  func.setArgAttrsAttr(nullptr);
  func.setResAttrsAttr(nullptr);
  func.setFunctionType(FunctionType::get(module.getContext(), buffers, {}));
  func.setName(kEntry);
  func->setAttr("llvm.emit_c_interface", UnitAttr::get(module.getContext()));
  return success();
}

SmallVector<Operation *> findToEmit(ModuleOp module) {
  SmallVector<Operation *> found;
  module->walk([&](Operation *op) {
    if (isa_and_present<sdy::SdyDialect, spmd::SpmdDialect>(op->getDialect()) &&
        !isa<sdy::MeshOp>(op) && !op->hasTrait<OpTrait::IsTerminator>())
      found.push_back(op);
  });
  return found;
}

void dropForeignAttributes(ModuleOp module) {
  sdy::eraseAttributesIf(module, [](NamedAttribute attribute) {
    auto [dialect, name] = attribute.getName().getValue().split('.');
    return !name.empty() && dialect != "llvm" && !isLowered(dialect);
  });
}

LogicalResult checkDialects(ModuleOp module) {
  WalkResult walked = module->walk([](Operation *op) {
    if (isLowered(op->getName().getDialectNamespace()))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "' has no lowering to LLVM here; expected MLIR's own "
                       "dialects (linalg, tosa, tensor, arith, math, scf): "
                       "legalise the program to them first";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

} // namespace shardonnay
