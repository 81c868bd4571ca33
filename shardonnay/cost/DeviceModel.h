//===- DeviceModel.h - what a device and its links can do -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns counts (bytes sent, steps of latency, FLOPs, bytes of memory touched)
// into one number, in seconds. The planner, the per-op choice and the report
// price by the same model.
//
//   time of a collective = bytes / bandwidth + steps * latency
//   time of an op        = max(flops / flopsPerSecond,
//                              bytes touched / memoryBandwidth)
//
// with the lowest bandwidth and the highest latency of the mesh axes that the
// collective is over. An axis that the model does not name has the default.
//
// Built in, each with round figures of one part's public data sheet, but `cpu`
// with what XLA's CPU devices were measured to do (benchmarks/rates):
//   cpu          eight cores of one socket, linked by its memory
//   gpu-node     eight H100 behind one NVSwitch
//   gpu-cluster  such nodes, an axis named "node" (or "data") between them
//   tpu-torus    v5p chips, every axis a ring of the torus
//   bytes        the bytes on the wire and nothing else; compute is not priced
//                but must not be repeated
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_COST_DEVICEMODEL_H
#define SHARDONNAY_COST_DEVICEMODEL_H

#include "shardonnay/cost/Collective.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace shardonnay {

/// The links along one mesh axis, seen by one device.
struct Link {
  /// Bytes a second that a device sends while it receives as many.
  double bandwidth = 1;
  /// Seconds a step.
  double latency = 0;

  bool operator==(const Link &o) const {
    return bandwidth == o.bandwidth && latency == o.latency;
  }
};

struct DeviceModel {
  std::string name;
  Link link;
  /// The links of mesh axes, by name, that differ from `link`.
  llvm::StringMap<Link> axisLinks;
  /// 0: compute has no price.
  double flopsPerSecond = 0;
  double memoryBandwidth = 0;
  /// Bytes of memory; 0: no limit.
  int64_t memoryBytes = 0;

  /// The model that `compile` uses where none is named.
  static const DeviceModel &getDefault();
  /// A built-in model; null if there is none of that name.
  static const DeviceModel *find(llvm::StringRef name);
  /// "bytes", "cpu", ...
  static std::vector<llvm::StringRef> builtInNames();
  /// The built-in model of that name, or else the one in the JSON file at that
  /// path. Nothing if there is neither; `error` then says why.
  static std::optional<DeviceModel> load(llvm::StringRef nameOrPath,
                                         std::string &error);
  /// Reads a model:
  ///   {"name": "mine", "bandwidth": 1e11, "latency": 1e-6,
  ///    "axes": {"data": {"bandwidth": 2.5e10, "latency": 5e-6}},
  ///    "flops": 4e14, "memory_bandwidth": 3e12, "memory": 80000000000}
  /// Only name, bandwidth and latency are required. Nothing on a text that is
  /// not of this form; `error` then says why.
  static std::optional<DeviceModel> parse(llvm::StringRef json,
                                          std::string &error);

  /// Seconds that an op takes which does `flops` and reads and writes
  /// `bytesTouched`.
  double computeTime(double flops, double bytesTouched) const;
};

/// By how much, relatively, equal sums of prices may differ.
inline constexpr double kPriceRounding = 1e-9;
/// Less what sums of prices are rounded by.
inline double roundedDown(double price) { return price * (1 - kPriceRounding); }

/// A device model on one mesh: axes by number. Prices are in *byte times*,
/// seconds times the fastest bandwidth of the mesh, so that a price is never
/// less than the bytes.
class MeshCosts {
public:
  /// Seconds a step, where a second sends a byte. So little that latency
  /// decides between equal bytes only.
  static constexpr double kTieBreakingLatency = 1.0 / 1024;

  /// As the built-in model `bytes`.
  MeshCosts() = default;
  /// The mesh's axes are named `axisNames`, in order.
  MeshCosts(const DeviceModel &model,
            llvm::ArrayRef<llvm::StringRef> axisNames);

  /// The price of a collective over the axes of the mesh that have the numbers
  /// `axes`.
  double price(const Cost &cost, llvm::ArrayRef<int64_t> axes) const;
  /// At least the price of any collectives by which a device is sent so many
  /// bytes in so many steps: over the best links of the mesh.
  double leastPrice(double bytes, int64_t steps) const {
    return bytes + steps * leastLatency * fastest;
  }
  /// No axis of the mesh has better links than another.
  bool hasEqualLinks() const { return equalLinks; }
  bool pricesCompute() const { return device && device->flopsPerSecond > 0; }
  bool limitsMemory() const { return device && device->memoryBytes > 0; }
  /// The price of an op's compute; 0 if the model does not price it.
  double computePrice(double flops, double bytesTouched) const;
  /// While it is weighed, compute costs kComputeWeight times as much, and where
  /// the model does not price it, as many bytes as it touches, or one for
  /// kFlopsOfByte.
  void weighCompute(bool weighs) { weighsCompute = weighs; }
  bool isComputeWeighed() const { return weighsCompute; }
  static constexpr double kComputeWeight = 5;
  static constexpr double kFlopsOfByte = 100;

  /// "12 bytes" of a model without links' speeds, else "3.4 us", in us, ms
  /// or s.
  std::string str(double price) const;

  bool operator==(const MeshCosts &o) const {
    return links == o.links && fastest == o.fastest && device == o.device &&
           weighsCompute == o.weighsCompute;
  }

private:
  std::vector<Link> links;
  /// Of all links: the largest bandwidth, and the least latency.
  double fastest = 1;
  double leastLatency = kTieBreakingLatency;
  bool equalLinks = true;
  bool weighsCompute = false;
  const DeviceModel *device = nullptr;
};

} // namespace shardonnay

#endif // SHARDONNAY_COST_DEVICEMODEL_H
