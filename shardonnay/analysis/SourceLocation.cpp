//===- SourceLocation.cpp - where in the user's program -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/SourceLocation.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// All frames of `loc`, innermost first, and the first name met.
void collect(Location loc, SmallVectorImpl<FileLineColRange> &frames,
             std::string &name) {
  llvm::TypeSwitch<LocationAttr>(loc)
      .Case([&](FileLineColRange frame) { frames.push_back(frame); })
      .Case([&](NameLoc named) {
        if (name.empty())
          name = named.getName().str();
        collect(named.getChildLoc(), frames, name);
      })
      .Case([&](CallSiteLoc call) {
        collect(call.getCallee(), frames, name);
        collect(call.getCaller(), frames, name);
      })
      .Case([&](FusedLoc fused) {
        for (Location part : fused.getLocations())
          collect(part, frames, name);
      });
}

} // namespace

SourceLocation getSourceLocation(Location loc) {
  SmallVector<FileLineColRange> frames;
  SourceLocation source;
  collect(loc, frames, source.name);
  if (frames.empty())
    return source;
  const auto *frame = llvm::find_if(frames, [](FileLineColRange frame) {
    return !frame.getFilename().getValue().contains("-packages/");
  });
  if (frame == frames.end())
    frame = frames.begin();
  source.line = frame->getFilename().str() + ":" +
                std::to_string(frame->getStartLine()) + ":" +
                std::to_string(frame->getStartColumn());
  return source;
}

} // namespace shardonnay
