//===- LoopNest.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/LoopNest.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace shardonnay::upstream {

using Shapes = SmallVector<SmallVector<int64_t>>;

/// The shapes of operands, then results; no dims for what is no tensor. Nothing
/// if one is dynamic, or in memory.
static std::optional<Shapes> staticShapes(Operation *op) {
  Shapes shapes;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    SmallVector<int64_t> &shape = shapes.emplace_back();
    if (!isa<ShapedType>(type))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return std::nullopt;
    llvm::append_range(shape, tensor.getShape());
  }
  return shapes;
}

static bool isParallel(const Loop &loop) {
  return loop.type == utils::IteratorType::parallel;
}

namespace {
/// Makes one rule.
class RuleBuilder {
public:
  RuleBuilder(Operation *op, const LoopNest &nest, const Shapes &shapes)
      : op(op), nest(nest), shapes(shapes), sizes(nest.loops.size(), -1),
        unsharded(nest.loops.size()), windowed(nest.loops.size()),
        factorOfLoop(nest.loops.size(), -1) {}

  bool fits() const;
  std::optional<FactorRule> build();

private:
  int64_t numOperands() const { return op->getNumOperands(); }
  /// The parallel loop that moves the window that `expression` is; -1 if it is
  /// none.
  int64_t windowLoop(AffineExpr expression) const;
  void readDims();
  void readResults();
  void readDiagonals();
  void addLoops();
  void addTensor(size_t index);
  void addWindow(int32_t operand, AffineExpr expression, int64_t size);
  int32_t addFactor(int64_t size, FactorKind kind);
  int32_t factorOf(AffineExpr expression, int64_t size,
                   const TensorMapping &mapping);

  Operation *op;
  const LoopNest &nest;
  const Shapes &shapes;
  SmallVector<int64_t> sizes;
  llvm::SmallBitVector unsharded, windowed;
  SmallVector<int32_t> factorOfLoop;
  FactorRule rule;
};
} // namespace

bool RuleBuilder::fits() const {
  if (nest.maps.size() != shapes.size())
    return false;
  for (auto [map, shape] : llvm::zip_equal(nest.maps, shapes))
    if (!map || map.getNumResults() != shape.size() ||
        map.getNumDims() != nest.loops.size())
      return false;
  return true;
}

int64_t RuleBuilder::windowLoop(AffineExpr expression) const {
  int64_t found = -1;
  for (auto [number, loop] : llvm::enumerate(nest.loops)) {
    if (!expression.isFunctionOfDim(number) || !isParallel(loop))
      continue;
    if (found >= 0)
      return -1;
    found = number;
  }
  return expression.isPureAffine() ? found : -1;
}

/// How long the loops are, and which of them are read through windows.
void RuleBuilder::readDims() {
  for (auto [map, shape] : llvm::zip_equal(nest.maps, shapes))
    for (auto [expression, size] : llvm::zip_equal(map.getResults(), shape)) {
      if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
        int64_t &known = sizes[dim.getPosition()];
        known = std::max(known, size);
        continue;
      }
      int64_t window = windowLoop(expression);
      for (size_t loop = 0; loop < nest.loops.size(); ++loop)
        if (expression.isFunctionOfDim(loop))
          (static_cast<int64_t>(loop) == window ? windowed : unsharded)
              .set(loop);
    }
}

/// A loop that is parallel has each result once, a reduction none.
void RuleBuilder::readResults() {
  for (size_t i = numOperands(); i < nest.maps.size(); ++i)
    for (auto [number, loop] : llvm::enumerate(nest.loops))
      if (nest.maps[i].isFunctionOfDim(number) != isParallel(loop))
        unsharded.set(number);
}

/// A loop that indexes two dims of one tensor would need a block of it.
void RuleBuilder::readDiagonals() {
  for (AffineMap map : nest.maps)
    for (size_t loop = 0; loop < nest.loops.size(); ++loop)
      if (llvm::count_if(map.getResults(), [&](AffineExpr expression) {
            return expression.isFunctionOfDim(loop);
          }) > 1)
        unsharded.set(loop);
}

int32_t RuleBuilder::addFactor(int64_t size, FactorKind kind) {
  Factor factor;
  factor.size = size;
  factor.kind = kind;
  rule.factors.push_back(factor);
  return rule.factors.size() - 1;
}

void RuleBuilder::addLoops() {
  for (auto [number, loop] : llvm::enumerate(nest.loops)) {
    if (sizes[number] < 0)
      continue;
    bool isReduction = !isParallel(loop);
    if (isReduction && !loop.combiner)
      unsharded.set(number);
    FactorKind kind = unsharded[number]  ? FactorKind::NeedReplication
                      : isReduction      ? FactorKind::Reduction
                      : windowed[number] ? FactorKind::Windowed
                                         : FactorKind::PassThrough;
    factorOfLoop[number] = addFactor(sizes[number], kind);
    if (kind == FactorKind::Reduction)
      rule.factors.back().combiner = *loop.combiner;
  }
}

int32_t RuleBuilder::factorOf(AffineExpr expression, int64_t size,
                              const TensorMapping &mapping) {
  auto dim = dyn_cast<AffineDimExpr>(expression);
  int64_t loop = dim ? dim.getPosition() : windowLoop(expression);
  int32_t factor = loop < 0 ? -1 : factorOfLoop[loop];
  bool isWindow = !dim && factor >= 0;
  if (factor < 0 || mapping.has(factor) ||
      (!isWindow && rule.factors[factor].size != size))
    return addFactor(size, size == 1 ? FactorKind::PassThrough
                                     : FactorKind::NeedReplication);
  return factor;
}

void RuleBuilder::addTensor(size_t index) {
  TensorMapping mapping;
  for (auto [expression, size] :
       llvm::zip_equal(nest.maps[index].getResults(), shapes[index]))
    mapping.dims.push_back(DimFactors{factorOf(expression, size, mapping)});
  bool isOperand = static_cast<int64_t>(index) < numOperands();
  if (isOperand)
    for (auto [expression, size] :
         llvm::zip_equal(nest.maps[index].getResults(), shapes[index]))
      addWindow(index, expression, size);
  if (isOperand)
    rule.operands.push_back(std::move(mapping));
  else
    rule.results.push_back(std::move(mapping));
}

/// What iterations see of a dim of `size`, if it is a window of one of them and
/// of loops that are never sharded. Of what is no sum nobody asks: it is not
/// sharded.
void RuleBuilder::addWindow(int32_t operand, AffineExpr expression,
                            int64_t size) {
  int64_t loop = windowLoop(expression);
  if (isa<AffineDimExpr>(expression) || loop < 0 || factorOfLoop[loop] < 0)
    return;
  for (size_t other = 0; other < sizes.size(); ++other)
    if (sizes[other] < 0 && expression.isFunctionOfDim(other))
      return;
  auto at = [&](llvm::function_ref<int64_t(int64_t)> position) {
    SmallVector<AffineExpr> positions;
    for (size_t i = 0; i < sizes.size(); ++i)
      positions.push_back(getAffineConstantExpr(position(i), op->getContext()));
    return cast<AffineConstantExpr>(expression.replaceDims(positions))
        .getValue();
  };
  int64_t first = at([](int64_t) { return 0; });
  FactorWindow window;
  window.tensor = operand;
  window.factor = factorOfLoop[loop];
  window.size = size;
  window.count = sizes[loop];
  window.stride = at([&](int64_t i) { return i == loop ? 1 : 0; }) - first;
  // It begins where the map's own constant is zero: on a device the map adds
  // the constant to what is fetched.
  window.extent =
      at([&](int64_t i) { return i == loop ? 0 : sizes[i] - 1; }) + 1;
  rule.windows.push_back(window);
}

std::optional<FactorRule> RuleBuilder::build() {
  readDims();
  readResults();
  readDiagonals();
  addLoops();
  for (size_t i = 0; i < nest.maps.size(); ++i)
    addTensor(i);
  std::string error;
  if (!rule.verify(shapes, error))
    return std::nullopt;
  return std::move(rule);
}

std::optional<FactorRule> ruleOf(Operation *op, const LoopNest &nest) {
  std::optional<Shapes> shapes = staticShapes(op);
  if (!shapes)
    return std::nullopt;
  RuleBuilder builder(op, nest, *shapes);
  return builder.fits() ? builder.build() : std::nullopt;
}

std::optional<FactorRule> ruleOfJoined(Operation *op, int64_t joined) {
  if (!hasStaticShapes(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> ranks(op->getNumOperands(), type.getRank());
  FactorRuleBuilder builder(ranks, {type.getRank()});
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    builder.add(
        type.getDimSize(dim), SmallVector<int64_t>(ranks.size(), dim), {dim},
        dim == joined ? FactorKind::NeedReplication : FactorKind::PassThrough);
  return builder.build();
}

PropagationClass propagationClassOf(const LoopNest &nest) {
  if (!llvm::all_of(nest.loops, isParallel))
    return PropagationClass::Compute;
  bool hasSmaller = false, hasWhole = false;
  for (auto [number, map] : llvm::enumerate(nest.maps)) {
    // Result, or scalar.
    if (number + 1 == nest.maps.size() || map.getNumResults() == 0)
      continue;
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return PropagationClass::Compute;
    if (number < nest.inits.size() && nest.inits[number])
      continue;
    (map.isPermutation() ? hasWhole : hasSmaller) = true;
  }
  return hasSmaller && !hasWhole ? PropagationClass::BroadcastBackward
                                 : PropagationClass::PassThrough;
}

bool isElementwise(Operation *op, const LoopNest &nest) {
  if (!llvm::all_of(nest.loops, isParallel) || op->getNumResults() == 0)
    return false;
  auto whole = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto fits = [&](Type type, AffineMap map) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getNumElements() == 1)
      return true;
    return whole && tensor.getShape() == whole.getShape() && map.isIdentity();
  };
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types.size() == nest.maps.size() &&
         llvm::all_of_zip(types, nest.maps, fits);
}

LoopNest elementwiseNest(Operation *op) {
  LoopNest nest;
  auto whole = dyn_cast_if_present<RankedTensorType>(
      op->getNumResults() == 1 ? op->getResult(0).getType() : Type());
  int64_t rank = whole ? whole.getRank() : 0;
  MLIRContext *context = op->getContext();
  nest.loops.resize(rank);
  auto identity = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t operandRank = tensor ? tensor.getRank() : 0;
    bool isWhole = tensor && operandRank == rank;
    nest.maps.push_back(
        isWhole ? identity
                : AffineMap::get(rank, 0,
                                 SmallVector<AffineExpr>(operandRank, zero),
                                 context));
  }
  nest.maps.append(op->getNumResults(), identity);
  return nest;
}

} // namespace shardonnay::upstream
