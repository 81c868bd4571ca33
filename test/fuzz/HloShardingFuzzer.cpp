//===- HloShardingFuzzer.cpp - GSPMD's sharding strings -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text gives a sharding or an error; what a sharding prints is that
// sharding; a tiled one factors into a mesh.
//
//===----------------------------------------------------------------------===//

#include "Fuzzing.h"
#include "shardonnay/frontend/HloSharding.h"
#include "shardonnay/frontend/MeshFactoring.h"

using namespace shardonnay;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  HloShardingError error;
  std::optional<HloSharding> sharding = parseHloSharding(text, error);
  fuzzing::require(sharding || !error.message.empty(), "no sharding, no error",
                   text);
  if (!sharding)
    return 0;
  std::string printed = sharding->str();
  std::optional<HloSharding> again = parseHloSharding(printed, error);
  fuzzing::require(again && *again == *sharding, "printed as another sharding",
                   printed);
  // More devices only take longer.
  if (sharding->kind != HloSharding::Kind::Tiled ||
      sharding->devices.size() > 4096)
    return 0;
  MeshFactoring factoring(sharding->devices.size());
  if (factoring.add(*sharding)) {
    factoring.finish();
    factoring.get(*sharding, sharding->rank());
  }
  return 0;
}
