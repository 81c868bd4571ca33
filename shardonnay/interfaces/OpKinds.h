//===- OpKinds.h - which kinds of ops there are -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many passes look for a few kinds of ops that most programs have none of, and
// in a program that is larger than the cache every walk is slow. This analysis
// is one walk for all of them: a pass that finds nothing to do says that it
// preserves all analyses, and the next one asks for free. A pass that only
// erases ops, moves them or changes their attributes preserves it too, and one
// that makes ops of known kinds adds these. A pass on a module calls
// `forgetInside` besides: there may be one of each function.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_OPKINDS_H
#define SHARDONNAY_INTERFACES_OPKINDS_H

#include "mlir/Pass/AnalysisManager.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

/// For a pass that makes or erases ops inside of ops in `root`, and keeps what
/// is known of `root` up to date: what is known of those is forgotten. To be
/// called first, as an op that is made may stand where one is erased.
inline void forgetInside(mlir::AnalysisManager analyses,
                         mlir::Operation *root) {
  for (mlir::Region &region : root->getRegions())
    for (mlir::Operation &op : region.getOps())
      analyses.nest(&op).clear();
}

/// The kinds of the ops inside an op, and maybe of some that are gone.
class OpKinds : public VerifiedAnalysis<OpKinds> {
public:
  OpKinds(mlir::Operation *root, mlir::AnalysisManager &analyses)
      : root(root), names(analyses.getAnalysis<ProgramOps>().kinds()) {}

  void add(mlir::OperationName name) { names.insert(name); }

  /// Some op may be one of these, which are ops or interfaces of ops.
  template <typename... KindT> bool mayHave() const {
    return llvm::any_of(names, [](mlir::OperationName name) {
      return !name.isRegistered() || (isKind<KindT>(name) || ...);
    });
  }

  std::optional<std::string> findDifference() const {
    ProgramOps ops(root);
    for (mlir::OperationName name : ops.kinds())
      if (!names.contains(name))
        return "it does not know of " + name.getStringRef().str();
    return std::nullopt;
  }

private:
  template <typename KindT> static bool isKind(mlir::OperationName name) {
    mlir::TypeID kind = mlir::TypeID::get<KindT>();
    return name.getTypeID() == kind || name.hasInterface(kind);
  }

  mlir::Operation *root;
  llvm::DenseSet<mlir::OperationName> names;
};

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_OPKINDS_H
