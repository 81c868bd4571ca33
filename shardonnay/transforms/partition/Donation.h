//===- Donation.h - arguments whose memory results take ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_DONATION_H
#define SHARDONNAY_TRANSFORMS_PARTITION_DONATION_H

#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"

namespace shardonnay {

/// An argument of `func`, which has local types, is not donated any more, with
/// a remark, if its result is of another type or there is none.
void dropBrokenDonation(mlir::func::FuncOp func, unsigned argument,
                        mlir::sdy::SignatureAttributes &signature);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_DONATION_H
