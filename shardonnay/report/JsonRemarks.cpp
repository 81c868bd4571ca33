//===- JsonRemarks.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/JsonRemarks.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace shardonnay {

void JsonRemarkStreamer::streamOptimizationRemark(
    const remark::detail::Remark &remark) {
  llvm::json::Object arguments;
  for (const remark::detail::Remark::Arg &argument : remark.getArgs())
    arguments[argument.key] = argument.val;
  std::string location;
  llvm::raw_string_ostream(location) << remark.getLocation();
  os << llvm::json::Value(
            llvm::json::Object{{"kind", remark.getRemarkTypeString()},
                               {"name", remark.getRemarkName()},
                               {"category", remark.getCombinedCategoryName()},
                               {"function", remark.getFunction()},
                               {"location", location},
                               {"args", std::move(arguments)}})
     << "\n";
}

std::unique_ptr<remark::detail::RemarkEngine>
makeJsonRemarkEngine(llvm::StringRef category, llvm::raw_ostream &os) {
  std::string only = category.str();
  // `all` alone switches nothing on.
  auto engine = std::make_unique<remark::detail::RemarkEngine>(
      /*printAsEmitRemarks=*/false,
      remark::RemarkCategories{only, only, only, only, only});
  std::string error;
  bool isReady = succeeded(engine->initialize(
      std::make_unique<JsonRemarkStreamer>(os),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), &error));
  assert(isReady && "a streamer of ours can't fail to start");
  (void)isReady;
  return engine;
}

} // namespace shardonnay
