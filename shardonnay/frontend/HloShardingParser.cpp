//===- HloShardingParser.cpp - an HLO sharding from its text --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/HloSharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace shardonnay {

namespace {

using Kind = HloSharding::Kind;

constexpr int64_t kMaxDevices = int64_t(1) << 24;
constexpr int kMaxDepth = 64;

/// Recursive descent over one text. Every parse function returns false after an
/// error, the first of which is kept.
class Parser {
public:
  Parser(llvm::StringRef text, HloShardingError &error)
      : text(text), error(error) {}

  bool parseAll(HloSharding &result) {
    if (!parseSharding(result, 0))
      return false;
    skipBlanks();
    return at == text.size() || fail("expected nothing after the sharding");
  }

private:
  bool parseSharding(HloSharding &result, int depth);
  bool parseTuple(HloSharding &result, int depth);
  bool parseWords(HloSharding &result);
  bool parseWord(llvm::StringRef word, HloSharding &result);
  bool parseDevices(HloSharding &result);
  bool parseSubgroups(HloSharding &result);
  bool skipMetadata();
  /// After all words: do they make a sharding?
  bool check(HloSharding &result);
  bool checkDevices(const HloSharding &sharding);

  bool setKind(HloSharding &result, Kind kind);
  bool parseInteger(int64_t &value);
  /// One integer or more, with commas between.
  template <typename Vector> bool parseIntegers(Vector &values);
  template <typename Vector>
  bool parseIntegers(char open, Vector &values, char close) {
    return expect(open) && parseIntegers(values) && expect(close);
  }

  void skipBlanks() {
    while (at < text.size() && llvm::isSpace(text[at]))
      ++at;
  }
  bool peek(llvm::StringRef token) {
    skipBlanks();
    return text.substr(at).starts_with(token);
  }
  bool consume(llvm::StringRef token) {
    bool found = peek(token);
    if (found)
      at += token.size();
    return found;
  }
  bool expect(char token) {
    if (consume(llvm::StringRef(&token, 1)))
      return true;
    return fail(std::string("expected '") + token + "'");
  }
  llvm::StringRef nextWord() {
    skipBlanks();
    return text.substr(at).take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; });
  }
  /// `message`, what stands here, and the position.
  bool fail(const std::string &message) {
    std::string found = at < text.size() ? "'" + text.substr(at, 1).str() + "'"
                                         : std::string("the end");
    return failAt(at, message + ", got " + found);
  }
  bool failAt(size_t position, const std::string &message) {
    if (error.message.empty())
      error = {position, message};
    return false;
  }

  llvm::StringRef text;
  HloShardingError &error;
  size_t at = 0;
  /// Words of the sharding that is being read.
  bool hasKind = false;
  bool hasDevice = false;
  bool hasSubgroups = false;
};

bool Parser::parseSharding(HloSharding &result, int depth) {
  if (depth > kMaxDepth)
    return failAt(at, "expected at most 64 tuples in one another");
  if (!expect('{'))
    return false;
  if (peek("{") || peek("}"))
    return parseTuple(result, depth);
  size_t start = at;
  hasKind = hasDevice = hasSubgroups = false;
  if (!parseWords(result))
    return false;
  if (!check(result)) {
    error.position = std::min(error.position, start);
    return false;
  }
  return expect('}');
}

bool Parser::parseTuple(HloSharding &result, int depth) {
  result.kind = Kind::Tuple;
  while (!peek("}")) {
    if (!result.elements.empty() && !expect(','))
      return false;
    result.elements.emplace_back();
    if (!parseSharding(result.elements.back(), depth + 1))
      return false;
  }
  return expect('}');
}

bool Parser::parseWords(HloSharding &result) {
  while (!peek("}")) {
    llvm::StringRef word = nextWord();
    if (word.empty())
      return fail("expected a word of a sharding or '}'");
    size_t start = at;
    at += word.size();
    if (!parseWord(word, result))
      return failAt(start, "");
  }
  return true;
}

bool Parser::setKind(HloSharding &result, Kind kind) {
  if (hasKind)
    return failAt(at, "expected one of replicated, manual, unreduced, unknown, "
                      "maximal and devices, got two");
  hasKind = true;
  result.kind = kind;
  return true;
}

bool Parser::parseWord(llvm::StringRef word, HloSharding &result) {
  if (word == "replicated")
    return setKind(result, Kind::Replicated);
  if (word == "manual")
    return setKind(result, Kind::Manual);
  if (word == "unreduced")
    return setKind(result, Kind::Unreduced);
  if (word == "unknown")
    return setKind(result, Kind::Unknown);
  if (word == "maximal")
    return setKind(result, Kind::Maximal);
  if (word == "device") {
    hasDevice = true;
    return expect('=') && parseInteger(result.device);
  }
  if (word == "devices")
    return setKind(result, Kind::Tiled) && parseDevices(result);
  if (word == "last_tile_dim_replicate" || word == "last_tile_dims") {
    if (std::exchange(hasSubgroups, true))
      return failAt(at, "the last tile dims are said twice");
    if (word == "last_tile_dims")
      return parseSubgroups(result);
    result.subgroups = {Subgroup::Replicated};
    return true;
  }
  if (word == "shard_as" || word == "shard_like") {
    result.groupKind = word == "shard_as" ? HloSharding::GroupKind::As
                                          : HloSharding::GroupKind::Like;
    return parseInteger(result.group);
  }
  if (word == "metadata")
    return expect('=') && skipMetadata();
  return failAt(at - word.size(),
                "expected a word of a sharding, got '" + word.str() + "'");
}

bool Parser::parseDevices(HloSharding &result) {
  if (!expect('=') || !parseIntegers('[', result.tiles, ']'))
    return false;
  if (!consume("<="))
    return parseIntegers(result.devices.list);
  DeviceOrder &devices = result.devices;
  if (!parseIntegers('[', devices.reshape, ']'))
    return false;
  if (consume("T"))
    return parseIntegers('(', devices.permutation, ')');
  for (size_t dim = 0; dim < devices.reshape.size(); ++dim)
    devices.permutation.push_back(dim);
  return true;
}

bool Parser::parseSubgroups(HloSharding &result) {
  if (!expect('=') || !expect('{'))
    return false;
  do {
    llvm::StringRef word = nextWord();
    at += word.size();
    if (word == "manual")
      result.subgroups.push_back(Subgroup::Manual);
    else if (word == "replicated")
      result.subgroups.push_back(Subgroup::Replicated);
    else if (word == "unreduced")
      result.subgroups.push_back(Subgroup::Unreduced);
    else
      return failAt(at - word.size(),
                    "expected manual, replicated or unreduced, got '" +
                        word.str() + "'");
  } while (consume(","));
  return expect('}');
}

bool Parser::skipMetadata() {
  if (!expect('{'))
    return false;
  for (int depth = 1; depth > 0; ++at) {
    if (at == text.size())
      return fail("expected '}' at the end of the metadata");
    if (text[at] == '{')
      ++depth;
    else if (text[at] == '}')
      --depth;
    else if (text[at] == '"')
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
    if (at >= text.size())
      return fail("expected '\"' at the end of the metadata's text");
  }
  return true;
}

bool Parser::parseInteger(int64_t &value) {
  skipBlanks();
  llvm::StringRef digits =
      text.substr(at).take_while([](char c) { return llvm::isDigit(c); });
  if (digits.empty())
    return fail("expected a number");
  if (digits.getAsInteger(10, value))
    return failAt(at, "expected a number below 2^63, got " + digits.str());
  at += digits.size();
  return true;
}

template <typename Vector> bool Parser::parseIntegers(Vector &values) {
  do {
    int64_t value = 0;
    if (!parseInteger(value))
      return false;
    values.push_back(value);
  } while (consume(","));
  return true;
}

/// The product of `sizes` if all are at least 1 and it is at most kMaxDevices;
/// else 0.
int64_t countDevices(llvm::ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMaxDevices / count)
      return 0;
    count *= size;
  }
  return count;
}

bool Parser::check(HloSharding &result) {
  if (!hasKind && result.groupKind == HloSharding::GroupKind::None)
    return failAt(at, "expected one of replicated, manual, unreduced, unknown, "
                      "maximal and devices");
  if (!hasKind)
    result.kind = Kind::Unknown;
  if (hasDevice != (result.kind == Kind::Maximal))
    return failAt(at, "expected 'device=' with 'maximal' and nowhere else");
  if (result.kind == Kind::Tiled)
    return checkDevices(result);
  if (hasSubgroups)
    return failAt(at, "expected 'devices=' before the last tile dims");
  return true;
}

bool Parser::checkDevices(const HloSharding &sharding) {
  int64_t count = countDevices(sharding.tiles);
  if (count == 0)
    return failAt(at,
                  "expected tile dims of at least 1 and at most 2^24 tiles");
  if (sharding.subgroups.size() > sharding.tiles.size())
    return failAt(at, "more last tile dims than tile dims");
  const DeviceOrder &devices = sharding.devices;
  if (devices.isIota()) {
    if (countDevices(devices.reshape) != count)
      return failAt(at, "the number of devices is not that of tiles, " +
                            llvm::Twine(count).str());
    llvm::SmallVector<int64_t> sorted(devices.permutation.begin(),
                                      devices.permutation.end());
    llvm::sort(sorted);
    bool isPermutation = sorted.size() == devices.reshape.size();
    for (auto [index, dim] : llvm::enumerate(sorted))
      isPermutation &= dim == static_cast<int64_t>(index);
    return isPermutation || failAt(at, "expected a permutation of the dims");
  }
  if (devices.size() != count)
    return failAt(at, "expected " + llvm::Twine(count).str() +
                          " devices, one for each tile, got " +
                          llvm::Twine(devices.size()).str());
  llvm::SmallVector<int64_t> sorted(devices.list.begin(), devices.list.end());
  llvm::sort(sorted);
  auto *twice = llvm::adjacent_find(sorted);
  return twice == sorted.end() ||
         failAt(at, "device " + llvm::Twine(*twice).str() + " stands twice");
}

} // namespace

std::optional<HloSharding> parseHloSharding(llvm::StringRef text,
                                            HloShardingError &error) {
  error = {};
  HloSharding result;
  if (Parser(text, error).parseAll(result))
    return result;
  return std::nullopt;
}

} // namespace shardonnay
