//===- Factor.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/support/Hash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace shardonnay {

int64_t TensorMapping::dimOf(int32_t factor) const {
  for (auto [dim, factors] : llvm::enumerate(dims))
    if (llvm::is_contained(factors, factor))
      return dim;
  return -1;
}

bool FactorRule::inResults(int32_t factor) const {
  return llvm::any_of(
      results, [&](const TensorMapping &result) { return result.has(factor); });
}

bool FactorRule::reducesOver(int32_t factor) const {
  FactorKind kind = factors[factor].kind;
  return kind == FactorKind::Reduction ||
         (kind == FactorKind::Indexed && !inResults(factor));
}

bool FactorRule::exchanges() const {
  return llvm::any_of(factors,
                      [](const Factor &factor) { return factor.exchanged; });
}

bool FactorRule::mayBeUneven(int32_t factor) const {
  for (int64_t i = 0; i < numTensors(); ++i) {
    int64_t dim = tensor(i).dimOf(factor);
    if (dim < 0 || tensor(i).dims[dim].size() == 1)
      continue;
    if (!factors[factor].retiled || tensor(i).dims[dim].front() != factor)
      return false;
  }
  return true;
}

bool FactorRule::isFetched(const FactorWindow &window, int64_t shards) const {
  const Factor &factor = factors[window.factor];
  return shards > 1 && !(factor.retiled && factor.size % shards == 0);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

llvm::hash_code hash_value(const FactorRule &rule) {
  size_t hash = mixed(rule.custom, rule.operands.size());
  for (const Factor &factor : rule.factors) {
    hash = mixed(mixed(hash, factor.size), static_cast<uint64_t>(factor.kind));
    hash = mixed(hash, static_cast<uint64_t>(factor.combiner));
    hash = mixed(hash,
                 factor.blocked | factor.retiled << 1 | factor.exchanged << 2);
  }
  for (int64_t tensor = 0; tensor < rule.numTensors(); ++tensor)
    for (const DimFactors &dim : rule.tensor(tensor).dims)
      hash = mixedAll(hash, dim);
  return hash;
}

/// i .. z, then z_1, z_2, and so on.
std::string factorName(int64_t factor) {
  constexpr int64_t kLetters = 'z' - 'i' + 1;
  if (factor < kLetters)
    return std::string(1, static_cast<char>('i' + factor));
  return "z_" + std::to_string(factor - kLetters + 1);
}

static void print(llvm::raw_ostream &os,
                  llvm::ArrayRef<TensorMapping> tensors) {
  os << "(";
  llvm::interleaveComma(tensors, os, [&](const TensorMapping &tensor) {
    os << "[";
    llvm::interleaveComma(tensor.dims, os, [&](const DimFactors &dim) {
      for (int32_t factor : dim)
        os << factorName(factor);
    });
    os << "]";
  });
  os << ")";
}

/// Prints " name={i, j}" of the factors that `select` picks, if any.
static void
printSelected(llvm::raw_ostream &os, const FactorRule &rule,
              llvm::StringRef name,
              llvm::function_ref<bool(int32_t, const Factor &)> select) {
  llvm::SmallVector<std::string> names;
  for (auto [id, factor] : llvm::enumerate(rule.factors))
    if (select(id, factor))
      names.push_back(factorName(id));
  if (!names.empty())
    os << " " << name << "={" << llvm::join(names, ", ") << "}";
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const FactorRule &rule) {
  print(os, rule.operands);
  os << "->";
  print(os, rule.results);
  os << " {";
  llvm::interleaveComma(llvm::enumerate(rule.factors), os, [&](auto entry) {
    os << factorName(entry.index()) << "=" << entry.value().size;
  });
  os << "}";
  auto printKind = [&](llvm::StringRef name, FactorKind kind) {
    printSelected(os, rule, name, [&](int32_t, const Factor &factor) {
      return factor.kind == kind;
    });
  };
  for (ReductionKind combiner :
       {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min}) {
    std::string name = "reduction";
    if (combiner != ReductionKind::Sum)
      name += "(" + toString(combiner).str() + ")";
    printSelected(os, rule, name, [&](int32_t, const Factor &factor) {
      return factor.kind == FactorKind::Reduction &&
             factor.combiner == combiner;
    });
  }
  printKind("windowed", FactorKind::Windowed);
  printKind("indexed", FactorKind::Indexed);
  printKind("need_replication", FactorKind::NeedReplication);
  printSelected(os, rule, "blocked",
                [](int32_t, const Factor &factor) { return factor.blocked; });
  if (rule.custom)
    os << " custom";
  return os;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Checks one rule; stops at the first violation.
class RuleVerifier {
public:
  RuleVerifier(const FactorRule &rule, std::string &error)
      : rule(rule), error(error), used(rule.factors.size(), false) {}

  bool verifyTensor(int64_t index, llvm::ArrayRef<int64_t> shape);
  bool verifyFactors();

private:
  bool fail(const llvm::Twine &message) {
    error = message.str();
    return false;
  }
  /// A dim of one of the rule's tensors.
  struct Place {
    int64_t tensor;
    size_t dim;
  };
  bool verifyDim(Place place, const DimFactors &dim, int64_t size,
                 llvm::SmallVectorImpl<int32_t> &seen);
  bool verifySize(Place place, const DimFactors &dim, int64_t size);
  bool fail(Place place, const llvm::Twine &message) {
    return fail("dim " + llvm::Twine(place.dim) + " of " +
                nameOf(place.tensor) + message);
  }
  std::string nameOf(int64_t tensor) const {
    int64_t operands = rule.operands.size();
    return tensor < operands ? "operand " + std::to_string(tensor)
                             : "result " + std::to_string(tensor - operands);
  }

  const FactorRule &rule;
  std::string &error;
  llvm::SmallVector<bool> used;
};
} // namespace

bool RuleVerifier::verifyTensor(int64_t index, llvm::ArrayRef<int64_t> shape) {
  const TensorMapping &tensor = rule.tensor(index);
  if (tensor.dims.size() != shape.size())
    return fail(nameOf(index) + " has rank " + llvm::Twine(shape.size()) +
                ", but the rule maps " + llvm::Twine(tensor.dims.size()) +
                " dims");
  llvm::SmallVector<int32_t> seen;
  for (auto [d, dim] : llvm::enumerate(tensor.dims))
    if (!verifyDim({index, d}, dim, shape[d], seen))
      return false;
  return true;
}

bool RuleVerifier::verifyDim(Place place, const DimFactors &dim, int64_t size,
                             llvm::SmallVectorImpl<int32_t> &seen) {
  if (dim.empty())
    return fail(place, " has no factor, expected at least one");
  for (int32_t factor : dim) {
    if (factor < 0 || factor >= static_cast<int64_t>(rule.factors.size()))
      return fail(place, " names factor " + llvm::Twine(factor) +
                             ", but the rule has " +
                             llvm::Twine(rule.factors.size()));
    if (llvm::is_contained(seen, factor))
      return fail(place, " repeats factor " + factorName(factor) +
                             ", expected each factor at most once in a tensor");
    if (dim.size() > 1 && rule.factors[factor].size == 1)
      return fail(place,
                  " has factor " + factorName(factor) +
                      " of size 1 beside others, expected it to be left out");
    seen.push_back(factor);
    used[factor] = true;
  }
  return verifySize(place, dim, size);
}

bool RuleVerifier::verifySize(Place place, const DimFactors &dim,
                              int64_t size) {
  int64_t product = 1;
  bool overflow = false;
  for (int32_t factor : dim) {
    const Factor &f = rule.factors[factor];
    // A window or an index picks positions: the dims need not be of one size.
    if (f.kind != FactorKind::PassThrough && f.kind != FactorKind::Reduction)
      return true;
    overflow |= llvm::MulOverflow(product, f.size, product);
  }
  if (!overflow && product == size)
    return true;
  return fail(place, " has size " + llvm::Twine(size) +
                         ", but its factors multiply to " +
                         (overflow ? "more than 2^63" : llvm::Twine(product)));
}

bool RuleVerifier::verifyFactors() {
  for (auto [id, factor] : llvm::enumerate(rule.factors)) {
    if (factor.size < 0)
      return fail("factor " + factorName(id) + " has size " +
                  llvm::Twine(factor.size) + ", expected 0 or more");
    if (!used[id])
      return fail("factor " + factorName(id) +
                  " is in no tensor, expected it in at least one");
    if (factor.kind == FactorKind::Reduction && rule.inResults(id))
      return fail("reduction factor " + factorName(id) +
                  " is in a result, expected it in operands only");
  }
  return true;
}

bool FactorRule::verify(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes,
                        std::string &error) const {
  if (static_cast<int64_t>(shapes.size()) != numTensors()) {
    error = "the rule maps " + std::to_string(numTensors()) +
            " tensors, but the operation has " + std::to_string(shapes.size());
    return false;
  }
  RuleVerifier verifier(*this, error);
  for (auto [index, shape] : llvm::enumerate(shapes))
    if (!verifier.verifyTensor(index, shape))
      return false;
  return verifier.verifyFactors();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

bool shardsPickedDim(const FactorRule &picking,
                     llvm::function_ref<bool(size_t, size_t)> isSharded) {
  for (auto [i, result] : llvm::enumerate(picking.results))
    for (auto [dim, factors] : llvm::enumerate(result.dims)) {
      auto isRead = [factor = factors.front()](const TensorMapping &operand) {
        return operand.has(factor);
      };
      if (isSharded(i, dim) && llvm::none_of(picking.operands, isRead))
        return true;
    }
  return false;
}

FactorRuleBuilder::FactorRuleBuilder(llvm::ArrayRef<int64_t> operandRanks,
                                     llvm::ArrayRef<int64_t> resultRanks) {
  rule.operands.reserve(operandRanks.size());
  rule.results.reserve(resultRanks.size());
  for (int64_t rank : operandRanks)
    rule.operands.emplace_back().dims.resize(rank);
  for (int64_t rank : resultRanks)
    rule.results.emplace_back().dims.resize(rank);
}

int32_t FactorRuleBuilder::add(int64_t size,
                               llvm::ArrayRef<int64_t> operandDims,
                               llvm::ArrayRef<int64_t> resultDims,
                               FactorKind kind, ReductionKind combiner,
                               bool blocked) {
  int32_t factor = rule.factors.size();
  rule.factors.push_back({size, kind, combiner, blocked});
  auto place = [&](llvm::MutableArrayRef<TensorMapping> tensors,
                   llvm::ArrayRef<int64_t> dims) {
    for (auto [tensor, dim] : llvm::zip_equal(tensors, dims))
      if (dim >= 0)
        tensor.dims[dim].push_back(factor);
  };
  place(rule.operands, operandDims);
  place(rule.results, resultDims);
  return factor;
}

} // namespace shardonnay
