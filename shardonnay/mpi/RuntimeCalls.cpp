//===- RuntimeCalls.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/mpi/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace shardonnay {

static constexpr llvm::StringLiteral kTable("shardonnay_table");

std::optional<int64_t> getElementNumber(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  int64_t number = llvm::StringSwitch<int64_t>(spelling)
#define SHARDONNAY_ELEMENT(name, spelling, bytes)                              \
  .Case(spelling, SHARDONNAY_##name)
                       SHARDONNAY_ELEMENTS(SHARDONNAY_ELEMENT)
#undef SHARDONNAY_ELEMENT
                           .Default(-1);
  if (number < 0)
    return std::nullopt;
  return number;
}

int64_t RuntimeTable::add(std::vector<int64_t> record) {
  auto [at, isNew] =
      known.try_emplace(record, static_cast<int64_t>(all.size()) + 2);
  if (isNew) {
    all.push_back(static_cast<int64_t>(record.size()));
    all.insert(all.end(), record.begin(), record.end());
    all.front() = static_cast<int64_t>(all.size());
  }
  return at->second;
}

int64_t RuntimeTable::addGroup(const Mesh &mesh, const AxisList &axes,
                               bool communicates) {
  std::vector<int64_t> record{communicates ? SHARDONNAY_GROUP
                                           : SHARDONNAY_INDEX_ONLY};
  auto append = [&](ArrayRef<int64_t> words) {
    record.push_back(static_cast<int64_t>(words.size()));
    record.insert(record.end(), words.begin(), words.end());
  };
  append(mesh.axisSizes());
  append(mesh.deviceIds());
  record.push_back(static_cast<int64_t>(axes.size()));
  for (AxisRef axis : axes)
    for (int64_t word : {int64_t(axis.axis), axis.pre, axis.size})
      record.push_back(word);
  return add(std::move(record));
}

int64_t RuntimeTable::addPermute(const DeviceRows &pairs) {
  std::vector<int64_t> record(2 + pairs.size());
  record[0] = SHARDONNAY_PERMUTE;
  record[1] = static_cast<int64_t>(pairs.size());
  for (ArrayRef<int64_t> pair : pairs)
    record[2 + pair[0]] = pair[1];
  return add(std::move(record));
}

Value RuntimeCalls::constant(Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value RuntimeCalls::address(Location loc, Value buffer) {
  return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
}

Value RuntimeCalls::record(Location loc, int64_t offset) {
  auto type = MemRefType::get({0}, builder.getI64Type());
  auto table = memref::GetGlobalOp::create(builder, loc, type, kTable);
  uses.push_back(table);
  return arith::AddIOp::create(builder, loc, address(loc, table),
                               constant(loc, offset * 8));
}

Value RuntimeCalls::read(Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto buffer = bufferization::ToBufferOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      tensor);
  buffer.setReadOnly(true);
  // It is pure, so CSE would make one of the reads of a tensor by two calls,
  // and what is read twice would look free to be overwritten after the first.
  buffer->setAttr("read", builder.getI64IntegerAttr(numReads++));
  return address(loc, buffer);
}

Value RuntimeCalls::call(Location loc, StringRef function, ValueRange operands,
                         bool hasResult) {
  SmallVector<Type> results;
  if (hasResult)
    results.push_back(builder.getIndexType());
  if (!module.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto declared = func::FuncOp::create(
        builder, module.getLoc(), function,
        builder.getFunctionType(operands.getTypes(), results));
    declared.setPrivate();
  }
  auto call = func::CallOp::create(builder, loc, function, results, operands);
  return hasResult ? call.getResult(0) : Value();
}

Value RuntimeCalls::callInto(Location loc, StringRef function,
                             SmallVector<Value> operands,
                             RankedTensorType type) {
  Value to = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
  operands.push_back(address(loc, to));
  call(loc, function, operands);
  return to;
}

Value RuntimeCalls::toTensor(Location loc, Value buffer,
                             RankedTensorType type) {
  return bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                           /*restrict=*/true,
                                           /*writable=*/true);
}

void RuntimeCalls::finish(const RuntimeTable &table) {
  builder.setInsertionPointToStart(module.getBody());
  ArrayRef<int64_t> words(table.words());
  int64_t count = static_cast<int64_t>(words.size());
  auto type = MemRefType::get({count}, builder.getI64Type());
  auto values = DenseElementsAttr::get(
      RankedTensorType::get({count}, builder.getI64Type()), words);
  memref::GlobalOp::create(builder, module.getLoc(), kTable,
                           /*sym_visibility=*/StringAttr(), type, values,
                           /*constant=*/true, /*alignment=*/IntegerAttr());
  for (memref::GetGlobalOp use : uses)
    use.getResult().setType(type);
}

} // namespace shardonnay
