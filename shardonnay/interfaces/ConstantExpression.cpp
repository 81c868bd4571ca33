//===- ConstantExpression.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/ConstantExpression.h"

#include "shardonnay/interfaces/ConstantExpression.cpp.inc"
