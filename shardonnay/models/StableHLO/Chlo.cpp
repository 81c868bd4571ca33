//===- Chlo.cpp - element-wise functions of CHLO --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/Pointwise.h"

using namespace mlir;
using namespace mlir::chlo;

void shardonnay::attachChloModels(MLIRContext &context) {
  attachPointwise<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp,
                  AsinAcosKernelOp, BesselI1eOp, ConjOp, ConstantLikeOp, CoshOp,
                  DigammaOp, ErfInvOp, ErfOp, ErfcOp, IsInfOp, IsNegInfOp,
                  IsPosInfOp, LgammaOp, MulhiOp, NextAfterOp, PolygammaOp,
                  SinhOp, SquareOp, TanOp, ZetaOp>(context);
}
