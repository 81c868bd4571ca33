//===- LinalgPack.cpp - tensors of tiles ----------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim of 16 in tiles of 8 is a dim of 2 and one of 8: two factors, of which
// the tiles are shared out and what is in them is not. Where the last tile is
// only partly full, a device's tiles and its positions are not the same.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// The rule of a pack, `plain` being its operand and `packed` its result, or of
/// an unpack, the other way around. The second operand is an init.
class TileRule {
public:
  TileRule(Operation *op, bool packs)
      : op(op), packs(packs),
        builder(ranksOf(op->getOperandTypes()), ranksOf(op->getResultTypes())) {
  }

  void add(int64_t size, int64_t plainDim, int64_t packedDim,
           FactorKind kind = FactorKind::PassThrough) {
    SmallVector<int64_t> dims(op->getNumOperands(), -1);
    dims[0] = packs ? plainDim : packedDim;
    dims[1] = packs ? packedDim : plainDim;
    builder.add(size, dims, {dims[1]}, kind);
  }

  std::optional<FactorRule> build() { return builder.build(); }

private:
  Operation *op;
  bool packs;
  FactorRuleBuilder builder;
};

template <typename OpT> struct TileHooks : OpHooks {
  static constexpr bool kPacks = std::is_same_v<OpT, linalg::PackOp>;

  static std::optional<FactorRule> rule(Operation *op) {
    auto tiles = cast<OpT>(op);
    auto source = dyn_cast<RankedTensorType>(tiles.getSource().getType());
    auto dest = dyn_cast<RankedTensorType>(tiles.getDest().getType());
    if (!source || !dest || !source.hasStaticShape() ||
        !dest.hasStaticShape() || op->getNumResults() != 1 ||
        !tiles.getInnerTiles().empty())
      return std::nullopt;
    ArrayRef<int64_t> plain = (kPacks ? source : dest).getShape();
    ArrayRef<int64_t> packed = (kPacks ? dest : source).getShape();
    TileRule rule(op, kPacks);
    for (int64_t dim = 0, rank = plain.size(); dim < rank; ++dim)
      addDim(tiles, dim, plain, packed, rule);
    return rule.build();
  }
  static PropagationClass propagationClass(Operation *) {
    return PropagationClass::PassThrough;
  }

private:
  static void addDim(OpT tiles, int64_t dim, ArrayRef<int64_t> plain,
                     ArrayRef<int64_t> packed, TileRule &rule) {
    constexpr auto kWhole = FactorKind::NeedReplication;
    auto indexIn = [](ArrayRef<int64_t> dims, int64_t dim) -> int64_t {
      const auto *found = llvm::find(dims, dim);
      return found == dims.end() ? -1 : found - dims.begin();
    };
    ArrayRef<int64_t> order = tiles.getOuterDimsPerm();
    int64_t outer = order.empty() ? dim : indexIn(order, dim);
    int64_t tile = indexIn(tiles.getInnerDimsPos(), dim);
    if (tile < 0)
      return rule.add(plain[dim], dim, outer);
    int64_t inner = plain.size() + tile;
    if (packed[outer] * packed[inner] == plain[dim]) {
      // What has size 1 beside others is left out of the plain dim.
      bool isOneTile = packed[outer] == 1, isTileOfOne = packed[inner] == 1;
      rule.add(packed[outer], isOneTile ? -1 : dim, outer);
      rule.add(packed[inner], isTileOfOne && !isOneTile ? -1 : dim, inner,
               kWhole);
      return;
    }
    rule.add(plain[dim], dim, -1, kWhole);
    rule.add(packed[outer], -1, outer, kWhole);
    rule.add(packed[inner], -1, inner, kWhole);
  }
};
} // namespace

void shardonnay::upstream::attachLinalgPackModels(MLIRContext &context) {
  attach<TileHooks<linalg::PackOp>, linalg::PackOp>(context);
  attach<TileHooks<linalg::UnPackOp>, linalg::UnPackOp>(context);
}
