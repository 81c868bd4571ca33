//===- Attributes.cpp - invariants that an attribute has alone ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "shardonnay/dialect/sdy/Bytecode.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// `[operand-0, result-1]`.
static ParseResult parseEdgeValueRefs(AsmParser &parser,
                                      SmallVector<EdgeValueRefAttr> &refs) {
  // At least one: a step without a target moved nothing.
  return failure(parser.parseLSquare() || parser.parseCommaSeparatedList([&] {
    return parser.parseCustomAttributeWithFallback(refs.emplace_back());
  }) || parser.parseRSquare());
}

static void printEdgeValueRefs(AsmPrinter &printer,
                               ArrayRef<EdgeValueRefAttr> refs) {
  printer << '[';
  llvm::interleaveComma(refs, printer, [&](EdgeValueRefAttr ref) {
    printer << stringifyEnum(ref.getType()) << '-' << ref.getIndex();
  });
  printer << ']';
}

#include "shardonnay/dialect/sdy/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/sdy/Attributes.cpp.inc"

namespace {
struct ShardingEncoding
    : VerifiableTensorEncoding::ExternalModel<ShardingEncoding,
                                              TensorShardingAttr> {
  LogicalResult verifyEncoding(Attribute attr, ArrayRef<int64_t> shape,
                               Type elementType, EmitError emitError) const {
    return sdy::verifyEncoding(cast<TensorShardingAttr>(attr),
                               RankedTensorType::get(shape, elementType),
                               emitError);
  }
};
} // namespace

void SdyDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardonnay/dialect/sdy/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/sdy/Ops.cpp.inc"
      >();
  addBytecodeInterface(*this);
  TensorShardingAttr::attachInterface<ShardingEncoding>(*getContext());
}

LogicalResult MeshAxisAttr::verify(EmitError emitError, StringRef name,
                                   int64_t size) {
  if (size < 1 && !ShapedType::isDynamic(size)) // C1
    return emitError() << "expected a size of at least 1 for axis \"" << name
                       << "\", got " << size;
  return success();
}

/// Device ids must be a permutation of 0..n-1 other than the identity.
static LogicalResult verifyDeviceIds(EmitError emitError, int64_t numDevices,
                                     ArrayRef<int64_t> ids) {
  if (static_cast<int64_t>(ids.size()) != numDevices) // C3
    return emitError() << "expected " << numDevices
                       << " device ids, one for each position of the mesh, got "
                       << ids.size();
  llvm::SmallBitVector seen(ids.size());
  for (int64_t id : ids) {
    if (id < 0 || id >= numDevices) // C3
      return emitError() << "expected device ids from 0 to " << numDevices - 1
                         << ", got " << id;
    if (seen.test(id)) // C3
      return emitError() << "device id " << id << " occurs twice";
    seen.set(id);
  }
  if (llvm::is_sorted(ids)) // C4
    return emitError() << "device ids are in their own order: leave them out";
  return success();
}

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> ids) {
  if (axes.empty()) {
    if (ids.size() > 1) // C5
      return emitError() << "expected at most one device id in a mesh without "
                            "axes, got "
                         << ids.size();
    if (ids.size() == 1 && ids.front() < 0) // C5
      return emitError() << "expected a device id of at least 0, got "
                         << ids.front();
    return success();
  }
  llvm::StringSet<> names;
  int64_t numDevices = 1;
  for (MeshAxisAttr axis : axes) {
    if (!names.insert(axis.getName()).second) // C2
      return emitError() << "axis \"" << axis.getName() << "\" occurs twice";
    if (llvm::MulOverflow(numDevices, axis.getSize(), numDevices)) // C6
      return emitError() << "the number of devices does not fit 64 bits";
    if (!axis.hasSize() && !ids.empty()) // C3
      return emitError() << "device ids of a mesh whose axis \""
                         << axis.getName()
                         << "\" has no size: expected sizes, or no ids";
  }
  return ids.empty() ? success() : verifyDeviceIds(emitError, numDevices, ids);
}

bool MeshAttr::hasSizes() const {
  return llvm::all_of(getAxes(),
                      [](MeshAxisAttr axis) { return axis.hasSize(); });
}

int64_t MeshAttr::getNumDevices() const {
  int64_t product = 1;
  for (MeshAxisAttr axis : getAxes())
    product *= axis.getSize();
  return product;
}

int64_t MeshAttr::getAxisIndex(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return index;
  return -1;
}

LogicalResult SubAxisInfoAttr::verify(EmitError emitError, int64_t preSize,
                                      int64_t size) {
  if (preSize < 1) // C9
    return emitError() << "expected a sub-axis pre-size of at least 1, got "
                       << preSize;
  if (size <= 1) // C10
    return emitError() << "expected a sub-axis size greater than 1, got "
                       << size;
  return success();
}

LogicalResult
PropagationEdgesAttr::verify(EmitError emitError,
                             ArrayRef<PropagationOneStepAttr> steps) {
  llvm::SmallDenseSet<int64_t> seen;
  for (PropagationOneStepAttr step : steps) {
    if (step.getStepIndex() < 0) // C69
      return emitError() << "expected a step number of at least 0, got "
                         << step.getStepIndex();
    if (!seen.insert(step.getStepIndex()).second) // C69
      return emitError() << "step number " << step.getStepIndex()
                         << " occurs twice: write its axes in one step";
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries())
      if (llvm::is_contained(entry.getTargets(), entry.getSource())) // C70
        return emitError() << "step number " << step.getStepIndex() << ": axis "
                           << entry.getAxisName().toString()
                           << " goes from a value to itself, expected another "
                              "target";
  }
  return success();
}

LogicalResult AllToAllParamAttr::verify(EmitError emitError,
                                        ArrayRef<AxisRefAttr> axes, int64_t,
                                        int64_t) {
  if (axes.empty()) // C62
    return emitError() << "expected axes in each move";
  return success();
}

LogicalResult TensorShardingAttr::verify(
    EmitError emitError, Attribute meshOrRef, ArrayRef<DimensionShardingAttr>,
    ArrayRef<AxisRefAttr>, ArrayRef<AxisRefAttr>, shardonnay::ReductionKind) {
  if (!isa_and_present<MeshAttr, FlatSymbolRefAttr>(meshOrRef)) // C7
    return emitError() << "expected a mesh or the name of one, got "
                       << meshOrRef;
  return success();
}

bool TensorShardingAttr::isReplicated() const {
  return getUnreducedAxes().empty() &&
         llvm::all_of(getDimShardings(), [](DimensionShardingAttr dim) {
           return dim.getAxes().empty();
         });
}

bool TensorShardingAttr::isFullyClosed() const {
  return llvm::all_of(getDimShardings(), [](DimensionShardingAttr dim) {
    return dim.getIsClosed();
  });
}

static TensorShardingAttr getWithoutAxes(MLIRContext *context, int64_t rank,
                                         Attribute meshOrRef, bool isClosed) {
  SmallVector<DimensionShardingAttr> dims(
      rank, DimensionShardingAttr::get(context, {}, isClosed, std::nullopt));
  return TensorShardingAttr::get(context, meshOrRef, dims);
}

TensorShardingAttr TensorShardingAttr::getFullyOpen(MLIRContext *context,
                                                    int64_t rank,
                                                    Attribute meshOrRef) {
  return getWithoutAxes(context, rank, meshOrRef, /*isClosed=*/false);
}

TensorShardingAttr TensorShardingAttr::getFullyClosed(MLIRContext *context,
                                                      int64_t rank,
                                                      Attribute meshOrRef) {
  return getWithoutAxes(context, rank, meshOrRef, /*isClosed=*/true);
}
