//===- JsonRemarks.h - MLIR remarks as JSON lines ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own YAML forms print no location that is not a file's, such as JAX's
// named ones. Here each remark is one line:
//   {"args": {...}, "category", "function", "kind", "location", "name"}
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_JSONREMARKS_H
#define SHARDONNAY_REPORT_JSONREMARKS_H

#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

namespace shardonnay {

class JsonRemarkStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  /// `os` outlives this.
  explicit JsonRemarkStreamer(llvm::raw_ostream &os) : os(os) {}
  void
  streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override;

private:
  llvm::raw_ostream &os;
};

/// An engine that streams the remarks of `category` to `os`, which outlives it.
/// It is no context's: remarks are emitted on it directly.
std::unique_ptr<mlir::remark::detail::RemarkEngine>
makeJsonRemarkEngine(llvm::StringRef category, llvm::raw_ostream &os);

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_JSONREMARKS_H
