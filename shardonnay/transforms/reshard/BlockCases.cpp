//===- BlockCases.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/BlockCases.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/SingleDevice.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/ProgramOps.h"

using namespace mlir;

namespace shardonnay {

static CaseTable::Kind readKind(Operation *op) {
  if (isa<ShardableDataFlowOpInterface, func::CallOp, sdy::ReshardOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return CaseTable::Kind::NoCase;
  return sdy::looksAtOperands(op) ? CaseTable::Kind::OwnCase
                                  : CaseTable::Kind::EqualOps;
}

CaseTable::Kind CaseTable::kindOf(Operation *op) {
  auto [entry, isNew] = kinds.try_emplace(op->getName());
  if (isNew)
    entry->second = readKind(op);
  return entry->second;
}

int32_t CaseTable::classOf(const ValueClass &value) {
  auto [number, isNew] = classNumbers.find(
      {sdy::toWord(value.type.getAsOpaquePointer()),
       sdy::toWord(value.sharding.getAsOpaquePointer()),
       static_cast<uintptr_t>(value.constant), sdy::toWord(value.known)});
  if (isNew) {
    number = classes.size();
    classes.push_back(value);
  }
  return number;
}

BlockCases::BlockCases(Block &block, const MeshScope &scope,
                       OpChoosers &choosers)
    : scope(scope), choosers(choosers), table(choosers.getCases()),
      slots(64, -1) {
  for (BlockArgument argument : block.getArguments())
    classOf(argument);
  if (auto func = dyn_cast<func::FuncOp>(block.getParentOp()))
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      otherMeshes |= !scope.allows(sdy::getFuncResultSharding(func, i));
  for (Operation &op : block) {
    fetchAhead(&op);
    append(&op);
    read(entries.size() - 1);
  }
}

int32_t BlockCases::makeClass(Value value, bool constant, const OpCase *known) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  otherMeshes |= !scope.allows(sharding);
  return table.classOf({value.getType(), sharding, constant, known});
}

int32_t BlockCases::classOf(Value value) {
  if (int32_t number = producerOf(value); number >= 0) {
    const OpCase *opCase = entries[number].opCase;
    return opCase ? opCase->results[cast<OpResult>(value).getResultNumber()]
                  : makeClass(value, false, nullptr);
  }
  auto [entry, isNew] = outside.try_emplace(value);
  if (isNew)
    entry->second =
        makeClass(value, constants.isConstantExpression(value), nullptr);
  return entry->second;
}

void BlockCases::append(Operation *op) {
  entries.push_back({op, nullptr});
  if (entries.size() * 2 > slots.size()) {
    std::vector<int32_t> before(slots.size() * 2, -1);
    before.swap(slots);
    for (int32_t number : before)
      if (number >= 0)
        slots[slotOf(entries[number].op)] = number;
  }
  if (op->getNumResults())
    slots[slotOf(op)] = entries.size() - 1;
}

void BlockCases::read(int32_t number) {
  Operation *op = entries[number].op;
  const OpCase *opCase =
      table.kindOf(op) != CaseTable::Kind::NoCase ? findCase(op) : nullptr;
  entries[number].opCase = opCase;
  if (!opCase)
    for (Value result : op->getResults())
      otherMeshes |= !scope.allows(sdy::getSharding(result));
}

const OpCase *BlockCases::findCase(Operation *op) {
  sdy::Words words;
  bool comparable = table.kindOf(op) == CaseTable::Kind::EqualOps &&
                    table.forms.append(op, words);
  SmallVector<int32_t> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(classOf(operand));
    words.push_back(operands.back());
  }
  if (!comparable) {
    decide(op, operands, table.cases.emplace_back());
    return &table.cases.back();
  }
  words.push_back(sdy::toWord(scope.getMesh().getAsOpaquePointer()));
  auto [known, isNew] = table.known.find(words);
  if (isNew) {
    known = &table.cases.emplace_back();
    decide(op, operands, *known);
  }
  return known;
}

bool BlockCases::isConstant(Operation *op, ArrayRef<int32_t> operands,
                            const OpCase &opCase) const {
  if (isa<sdy::ConstantOp>(op))
    return true;
  if (op->hasTrait<OpTrait::ConstantLike>() &&
      !isa<ShapedType>(op->getResult(0).getType()))
    return true;
  auto expression = dyn_cast<ConstantExpressionOpInterface>(op);
  return expression && op->getNumResults() == 1 &&
         expression.isConstantExpression() && opCase.rule &&
         llvm::all_of(operands, [&](int32_t operand) {
           return table.classes[operand].constant;
         });
}

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

void BlockCases::decide(Operation *op, ArrayRef<int32_t> operands,
                        OpCase &opCase) {
  opCase.rule = choosers.getRule(op);
  bool constant = isConstant(op, operands, opCase);
  // It may be a shape or a position, which rules look at.
  bool looksAt =
      isa<sdy::ConstantOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
  for (OpResult result : op->getResults()) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    bool isFloat = tensor && isa<FloatType>(tensor.getElementType());
    opCase.results.push_back(
        makeClass(result, constant, looksAt && !isFloat ? &opCase : nullptr));
  }
  bool isSharded = false, isAllowed = true;
  for (int32_t number : llvm::concat<const int32_t>(operands, opCase.results)) {
    sdy::TensorShardingAttr sharding = table.classes[number].sharding;
    isSharded |= sharding != nullptr;
    isAllowed &= scope.allows(sharding);
  }
  if (!isAllowed || !llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return;
  opCase.onOneDevice = sdy::getSingleDevice(op).has_value();
  if (opCase.rule)
    opCase.decision =
        &choosers.decide(op, *opCase.rule, scope, [&](Value value) {
          return table.classes[classOf(value)].constant;
        });
  opCase.agrees = isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
                  (opCase.rule && !opCase.onOneDevice &&
                   (!isSharded || opCase.decision->differs.none()));
}

void BlockCases::change(OpResult result, const TensorSharding &sharding,
                        llvm::function_ref<void(int32_t)> changed) {
  sdy::setSharding(result, scope.write(sharding));
  auto readAgain = [&](Operation *op) {
    if (int32_t number = numberOf(op); number >= 0) {
      read(number);
      changed(number);
    }
  };
  readAgain(result.getOwner());
  llvm::for_each(result.getUsers(), readAgain);
}

void BlockCases::tryChange(OpResult result, const TensorSharding &sharding,
                           llvm::function_ref<bool()> goesOn) {
  sdy::setSharding(result, scope.write(sharding));
  read(numberOf(result.getOwner()));
  if (!goesOn())
    return;
  for (Operation *user : result.getUsers())
    if (int32_t number = numberOf(user); number >= 0)
      read(number);
}

} // namespace shardonnay
