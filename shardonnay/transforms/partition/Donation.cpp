//===- Donation.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/Donation.h"

using namespace mlir;

namespace shardonnay {

void dropBrokenDonation(func::FuncOp func, unsigned argument,
                        sdy::SignatureAttributes &signature) {
  auto output =
      func.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
  if (!output)
    return;
  int64_t result = output.getInt();
  bool exists = result >= 0 && result < func.getNumResults();
  Type argumentType = func.getArgumentTypes()[argument];
  if (exists && argumentType == func.getResultTypes()[result])
    return;
  signature.setArgument(argument, "tf.aliasing_output", nullptr);
  InFlightDiagnostic remark = emitRemark(func.getArgument(argument).getLoc());
  remark << "argument " << argument << " is not donated";
  if (!exists)
    remark << ": there is no result " << result;
  else
    remark << " to result " << result << ": a device holds " << argumentType
           << " of it and " << func.getResultTypes()[result]
           << " of the result";
}

} // namespace shardonnay
