//===- HashIndexTest.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/support/HashIndex.h"
#include "shardonnay/support/CompositeKey.h"
#include "shardonnay/support/Interner.h"
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

/// Few different hashes, so that many things meet.
size_t hashOf(int value) { return value % 5 * 1000003; }

/// What the numbers of an index stand for, and the index.
struct Values {
  int32_t find(int value) const {
    return index.find(hashOf(value),
                      [&](int32_t number) { return values[number] == value; });
  }
  void add(int value) {
    values.push_back(value);
    index.add(hashOf(value),
              [&](int32_t number) { return hashOf(values[number]); });
  }
  void removeLast() {
    index.removeLast(hashOf(values.back()));
    values.pop_back();
  }

  std::vector<int> values;
  HashIndex index;
};

RC_GTEST_PROP(HashIndex, FindsWhatAMapFinds, (std::vector<int> steps)) {
  Values values;
  std::map<int, int32_t> expected;
  for (int step : steps) {
    int value = step % 200;
    if (value < 0 && !values.values.empty()) {
      expected.erase(values.values.back());
      values.removeLast();
    } else if (value >= 0 && expected.count(value) == 0) {
      expected[value] = values.values.size();
      values.add(value);
    }
  }
  RC_ASSERT(values.index.size() == static_cast<int32_t>(expected.size()));
  for (int value = 0; value < 200; ++value)
    RC_ASSERT(values.find(value) ==
              (expected.count(value) ? expected[value] : HashIndex::kNone));
}

TEST(HashIndex, ReservedRoomIsEnough) {
  HashIndex index;
  index.reserve(1000);
  for (size_t hash = 0; hash < 1000; ++hash)
    index.add(hash, [](int32_t) -> size_t {
      ADD_FAILURE() << "the table grows";
      return 0;
    });
  EXPECT_EQ(index.find(999, [](int32_t number) { return number == 999; }), 999);
  EXPECT_EQ(index.find(999, [](int32_t) { return false; }), HashIndex::kNone);
}

struct Name {
  std::string text;
  bool operator==(const Name &o) const { return text == o.text; }
};
llvm::hash_code hash_value(const Name &name) {
  return llvm::hash_value(name.text);
}

TEST(Interner, NumbersComeInOrderAndStay) {
  Interner<Name> names;
  std::vector<const Name *> first;
  for (int32_t i = 0; i < 500; ++i) {
    EXPECT_EQ(names.intern({std::to_string(i)}), i);
    first.push_back(&names[i]);
  }
  for (int32_t i = 0; i < 500; ++i) {
    EXPECT_EQ(names.intern({std::to_string(i)}), i);
    EXPECT_EQ(&names[i], first[i]);
  }
  EXPECT_EQ(names.size(), 500);
}

TEST(CompositeMap, TellsKeysApartByEachPartAndTheirNumber) {
  CompositeMap<int> map;
  int object = 0;
  EXPECT_TRUE(map.find(makeKey(1, &object)).second);
  EXPECT_TRUE(map.find(makeKey(2, &object)).second);
  EXPECT_TRUE(map.find(makeKey(1, &object, 0)).second);
  EXPECT_TRUE(map.find(CompositeKey()).second);
  map.find(makeKey(2, &object)).first = 7;
  CompositeKey key;
  key.add(2);
  key.addAll(std::vector<int *>{&object});
  EXPECT_FALSE(map.find(key).second);
  EXPECT_EQ(map.find(key).first, 7);
}

} // namespace
