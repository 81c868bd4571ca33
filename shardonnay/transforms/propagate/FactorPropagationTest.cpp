//===- FactorPropagationTest.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/FactorPropagation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

/// Axes "ab" by one letter each, all of size 2.
AxisList axes(llvm::StringRef letters) {
  AxisList list;
  for (char letter : letters)
    list.append(AxisRef{letter - 'a', 1, 2});
  return list;
}

std::string letters(const AxisList &list) {
  std::string text;
  for (AxisRef axis : list)
    text += static_cast<char>('a' + axis.axis);
  return text;
}

/// A table whose tensors have one dim a factor. In `text`, cells are separated
/// by spaces: axes, then "!" if closed; "." is no axis, "N" a factor that the
/// tensor does not have.
struct Table {
  FactorRule rule;
  std::vector<TensorProjection> rows;

  Table(llvm::ArrayRef<llvm::StringRef> operands, llvm::StringRef result,
        int64_t factorSize = 16) {
    for (llvm::StringRef text : operands)
      rule.operands.push_back(addRow(text));
    rule.results.push_back(addRow(result));
    rule.factors.resize(rows.front().factors.size(), Factor{factorSize});
  }

  TensorMapping addRow(llvm::StringRef text) {
    TensorMapping mapping;
    TensorProjection row;
    for (llvm::StringRef cell : llvm::split(text, ' ')) {
      FactorSharding sharding;
      sharding.present = cell != "N";
      sharding.minorMost = true;
      sharding.closed = cell.consume_back("!");
      if (sharding.present && cell != ".")
        sharding.axes = axes(cell);
      if (sharding.present)
        mapping.dims.push_back({static_cast<int32_t>(row.factors.size())});
      row.factors.push_back(sharding);
    }
    rows.push_back(row);
    return mapping;
  }

  llvm::SmallVector<Direction> both() const {
    return llvm::SmallVector<Direction>(rule.factors.size(), Direction::Both);
  }
  void basic() { propagateBasic(rule, both(), rows); }
  void aggressive(bool elementwise = false) {
    propagateAggressive(rule, both(), elementwise, rows);
  }
  std::string row(int64_t tensor) const {
    std::vector<std::string> cells;
    for (const FactorSharding &cell : rows[tensor].factors) {
      std::string text = !cell.present       ? "N"
                         : cell.axes.empty() ? "."
                                             : letters(cell.axes);
      cells.push_back(text + (cell.closed ? "!" : ""));
    }
    return llvm::join(cells, " ");
  }
};

/// The table of the developers' meeting talk, state 0. Its T0 has no F3.
Table talkTable() {
  Table table({"abc . .! N", ". ba . d", ".! . ca .", ". .! . ."}, "abd . . .");
  table.rows[0].replicated = axes("d");
  return table;
}

TEST(TalkTable, Step1AxesToPropagate) {
  Table table = talkTable();
  auto compatible = [&](int32_t factor) {
    return letters(
        compatibleMajorAxes(table.rule, table.rows, factor, Direction::Both));
  };
  EXPECT_EQ(compatible(0), "ab");
  EXPECT_EQ(compatible(1), "ba");
  EXPECT_EQ(compatible(2), "ca");
  EXPECT_EQ(compatible(3), "d");
}

/// Conflicts between factors can't arise if every factor is alone.
TEST(TalkTable, Step2EachFactorAlone) {
  Table table = talkTable();
  std::vector<TensorProjection> expanded = table.rows;
  for (int32_t factor = 0; factor < 4; ++factor) {
    Table alone = talkTable();
    for (TensorProjection &row : alone.rows)
      for (auto [other, cell] : llvm::enumerate(row.factors))
        if (static_cast<int32_t>(other) != factor)
          cell = FactorSharding();
    alone.aggressive();
    for (auto [row, result] : llvm::zip(expanded, alone.rows))
      row.factors[factor] = result.factors[factor];
  }
  table.rows = expanded;
  EXPECT_EQ(table.row(0), "abc ba .! N");
  EXPECT_EQ(table.row(1), "ab ba ca d");
  EXPECT_EQ(table.row(2), ".! ba ca d");
  EXPECT_EQ(table.row(3), "ab .! ca d");
  EXPECT_EQ(table.row(4), "abd ba ca d");
}

/// In T3, F0 and F2 both want a. The talk takes it from both; the step gives it
/// to F2, whose source (T2) comes before that of F0 (T4) and is as large.
TEST(TalkTable, Step3WithoutConflictsBetweenFactors) {
  Table table = talkTable();
  table.aggressive();
  EXPECT_EQ(table.row(0), "abc . .! N");
  EXPECT_EQ(table.row(1), ". ba c d");
  EXPECT_EQ(table.row(2), ".! b ca d");
  EXPECT_EQ(table.row(3), ". .! ca d");
  EXPECT_EQ(table.row(4), "abd . c .");
}

TEST(TalkTable, BasicTakesNothing) {
  Table table = talkTable();
  std::vector<TensorProjection> before = table.rows;
  table.basic();
  EXPECT_EQ(table.rows, before);
}

/// The table of the requirement document on propagation.
TEST(SpecTable, CompatibleMajorAxes) {
  for (bool aggressive : {false, true}) {
    Table table({"a . f", "ab cd g"}, ". ce .");
    aggressive ? table.aggressive() : table.basic();
    EXPECT_EQ(table.row(0), "ab c f");
    EXPECT_EQ(table.row(1), "ab cd g");
    EXPECT_EQ(table.row(2), "ab ce .");
  }
}

TEST(Basic, FactorElsewhereWithTheSameAxisStopsAll) {
  Table dot({"a N .", "N a ."}, ". . N");
  dot.basic();
  EXPECT_EQ(dot.row(2), ". . N");
}

TEST(Basic, ClosedDimStopsAll) {
  Table table({"ab", "."}, "a!");
  table.basic();
  EXPECT_EQ(table.row(1), "a");
}

TEST(Basic, ReplicatedStopsOnlyWhereTheFactorIs) {
  Table table({"a N .", ". . N"}, ". . N");
  table.rows[0].replicated = axes("b");
  table.rows[1].factors[1].axes = axes("b");
  table.basic();
  EXPECT_EQ(table.row(2), "a b N");
  table.rows[2].replicated = axes("c");
  table.rows[1].factors[1].axes = axes("bc");
  table.basic();
  EXPECT_EQ(table.row(2), "a b N");
}

TEST(Aggressive, FirstOfEqualSourcesWins) {
  Table dot({"a N .", "N a ."}, ". . N");
  dot.aggressive();
  EXPECT_EQ(dot.row(2), "a . N");
}

TEST(Aggressive, LargerSourceWins) {
  Table dot({"a N N", "N a ."}, ". . N");
  dot.aggressive();
  EXPECT_EQ(dot.row(2), ". a N");
}

TEST(Aggressive, ElementwiseServesMoreShardsFirst) {
  Table table({"a .", ". ab"}, ". .");
  table.aggressive(/*elementwise=*/true);
  EXPECT_EQ(table.row(2), ". ab");
  EXPECT_EQ(table.row(0), "a .");
}

TEST(Aggressive, ElementwiseOperandsGetOnlyWhatTheResultHas) {
  Table table({"a", "."}, ".!");
  table.aggressive(/*elementwise=*/true);
  EXPECT_EQ(table.row(1), ".");
  table.aggressive(/*elementwise=*/false);
  EXPECT_EQ(table.row(1), "a");
}

TEST(Aggressive, MajorFactorTakesOnlyWhatDividesIt) {
  Table table({"ab"}, ".", /*factorSize=*/6);
  table.rows[1].factors[0].minorMost = false;
  table.aggressive();
  EXPECT_EQ(table.row(1), "a");
}

TEST(Direction, OthersRestrictAndReceive) {
  Table table({"ab"}, "ac");
  auto compatible = [&](Direction direction) {
    return letters(compatibleMajorAxes(table.rule, table.rows, 0, direction));
  };
  EXPECT_EQ(compatible(Direction::Forward), "a");
  table.rows[1].factors[0].axes = axes("a");
  EXPECT_EQ(compatible(Direction::Forward), "ab");
  EXPECT_EQ(compatible(Direction::Backward), "a");
  EXPECT_EQ(compatible(Direction::None), "");
}

/// A table with random axes, each used at most once in a tensor.
Table randomTable() {
  Table table({"N . . .", ". N . ."}, ". . N .");
  for (TensorProjection &row : table.rows) {
    for (char letter = 'a'; letter < 'e'; ++letter) {
      FactorSharding &cell = row.factors[*rc::gen::inRange(0, 4)];
      if (cell.present && *rc::gen::arbitrary<bool>())
        cell.axes.append(AxisRef{letter - 'a', 1, 2});
    }
    for (FactorSharding &cell : row.factors)
      cell.closed = cell.present &&
                    *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
  }
  return table;
}

RC_GTEST_PROP(Step, OnlyAddsAndNeverOverlaps, (bool basic, bool elementwise)) {
  Table table = randomTable();
  std::vector<TensorProjection> before = table.rows;
  basic ? table.basic() : table.aggressive(elementwise);
  for (auto [was, row] : llvm::zip(before, table.rows)) {
    AxisList used;
    for (auto [old, cell] : llvm::zip(was.factors, row.factors)) {
      RC_ASSERT(old.axes.isPrefixOf(cell.axes));
      RC_ASSERT(!used.excludes(cell.axes));
      RC_ASSERT(!old.closed || old.axes == cell.axes);
      used.append(cell.axes);
    }
  }
}

RC_GTEST_PROP(Step, BasicIsDoneInOneStep, ()) {
  Table table = randomTable();
  table.basic();
  std::vector<TensorProjection> once = table.rows;
  table.basic();
  RC_ASSERT(table.rows == once);
}

} // namespace
