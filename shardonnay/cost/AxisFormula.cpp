//===- AxisFormula.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/AxisFormula.h"
#include "llvm/Support/MathExtras.h"

namespace shardonnay {

struct AxisFormula::Node {
  Kind kind;
  /// Of a constant; the number of an axis.
  int64_t value = 0;
  /// Of the others.
  AxisFormula a = {}, b = {};
};

// A null node is the constant 0: nodes hold formulas.
AxisFormula::AxisFormula(int64_t value) {
  if (value != 0)
    node = std::make_shared<Node>(Node{Kind::Constant, value});
}

AxisFormula::AxisFormula(Kind kind, const AxisFormula &a, const AxisFormula &b)
    : node(std::make_shared<Node>(Node{kind, 0, a, b})) {}

std::optional<int64_t> AxisFormula::constant() const {
  if (!node)
    return 0;
  return node->kind == Kind::Constant ? std::optional(node->value)
                                      : std::nullopt;
}

AxisFormula AxisFormula::sizeOf(AxisRef axis, const Mesh &mesh) {
  if (axis.end() != mesh.axisSize(axis.axis))
    return axis.size;
  AxisFormula whole;
  whole.node = std::make_shared<Node>(Node{Kind::Axis, axis.axis});
  return ceilDiv(whole, axis.pre);
}

AxisFormula AxisFormula::numShards(const AxisList &axes, const Mesh &mesh) {
  AxisFormula result = 1;
  for (AxisRef axis : axes)
    result = result * sizeOf(axis, mesh);
  return result;
}

AxisFormula AxisFormula::ceilDiv(const AxisFormula &a, const AxisFormula &b) {
  if (b.constant() == 1)
    return a;
  if (a.constant() && b.constant())
    return llvm::divideCeil(*a.constant(), *b.constant());
  return AxisFormula(Kind::CeilDiv, a, b);
}

AxisFormula AxisFormula::othersShare(const AxisFormula &a,
                                     const AxisFormula &b) {
  if (a.constant() && b.constant())
    return *a.constant() - *a.constant() / *b.constant();
  return AxisFormula(Kind::OthersShare, a, b);
}

AxisFormula AxisFormula::operator+(const AxisFormula &other) const {
  if (constant() && other.constant())
    return countSum(*constant(), *other.constant());
  if (constant() == 0)
    return other;
  if (other.constant() == 0)
    return *this;
  return AxisFormula(Kind::Sum, *this, other);
}

AxisFormula AxisFormula::operator-(const AxisFormula &other) const {
  if (constant() && other.constant())
    return *constant() - *other.constant();
  if (other.constant() == 0)
    return *this;
  return AxisFormula(Kind::Difference, *this, other);
}

AxisFormula AxisFormula::operator*(const AxisFormula &other) const {
  if (constant() && other.constant())
    return countProduct(*constant(), *other.constant());
  if (constant() == 0 || other.constant() == 0)
    return 0;
  if (constant() == 1)
    return other;
  if (other.constant() == 1)
    return *this;
  // One number, which stands first.
  if (other.constant())
    return other * *this;
  if (constant() && other.node->kind == Kind::Product &&
      other.node->a.constant())
    return AxisFormula(countProduct(*constant(), *other.node->a.constant())) *
           other.node->b;
  return AxisFormula(Kind::Product, *this, other);
}

int64_t AxisFormula::evaluate(llvm::ArrayRef<int64_t> axisSizes) const {
  if (!node)
    return 0;
  if (node->kind == Kind::Constant)
    return node->value;
  if (node->kind == Kind::Axis)
    return axisSizes[node->value];
  int64_t a = node->a.evaluate(axisSizes), b = node->b.evaluate(axisSizes);
  switch (node->kind) {
  case Kind::Sum:
    return countSum(a, b);
  case Kind::Difference:
    return a - b;
  case Kind::Product:
    return countProduct(a, b);
  case Kind::CeilDiv:
    return llvm::divideCeil(a, b);
  case Kind::OthersShare:
    return a - a / b;
  case Kind::Constant:
  case Kind::Axis:
    break;
  }
  llvm_unreachable("a leaf");
}

void AxisFormula::print(llvm::raw_ostream &os,
                        llvm::ArrayRef<std::string> names, int parent) const {
  constexpr int kSum = 1, kProduct = 2, kFactor = 3;
  if (!node) {
    os << 0;
    return;
  }
  auto infix = [&](int own, llvm::StringRef sign, int right) {
    if (own < parent)
      os << "(";
    node->a.print(os, names, own);
    os << sign;
    node->b.print(os, names, right);
    if (own < parent)
      os << ")";
  };
  switch (node->kind) {
  case Kind::Constant:
    os << node->value;
    return;
  case Kind::Axis:
    os << names[node->value];
    return;
  case Kind::Sum:
    return infix(kSum, " + ", kSum);
  case Kind::Difference:
    return infix(kSum, " - ", kProduct);
  case Kind::Product:
    return infix(kProduct, " * ", kProduct);
  case Kind::CeilDiv:
    os << "ceil(";
    node->a.print(os, names, kProduct);
    os << " / ";
    node->b.print(os, names, kFactor);
    os << ")";
    return;
  case Kind::OthersShare:
    os << "ceil(";
    node->a.print(os, names, kProduct);
    os << " * (";
    node->b.print(os, names, kSum);
    os << " - 1) / ";
    node->b.print(os, names, kFactor);
    os << ")";
    return;
  }
}

std::string AxisFormula::str(llvm::ArrayRef<std::string> names) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, names, 0);
  return text;
}

AxisFormula collectiveBytes(CollectiveKind kind, const AxisFormula &groupSize,
                            const AxisFormula &inputBytes) {
  switch (kind) {
  case CollectiveKind::Slice:
    return 0;
  case CollectiveKind::Permute:
    return inputBytes;
  case CollectiveKind::AllGather:
    return inputBytes * (groupSize - 1);
  case CollectiveKind::AllToAll:
  case CollectiveKind::ReduceScatter:
    return AxisFormula::othersShare(inputBytes, groupSize);
  case CollectiveKind::AllReduce:
    return AxisFormula::othersShare(AxisFormula(2) * inputBytes, groupSize);
  }
  llvm_unreachable("a kind of collective without a formula");
}

} // namespace shardonnay
