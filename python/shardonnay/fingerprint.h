//===- fingerprint.h - which objects a call is made of ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PYTHON_FINGERPRINT_H
#define SHARDONNAY_PYTHON_FINGERPRINT_H

#include <nanobind/nanobind.h>

namespace shardonnay {

/// The addresses of the shardings of a call's arguments, leaf by leaf (None for
/// a leaf without one), and of the keys of the dicts that they are in. Calls
/// with equal fingerprints have the same shardings, as long as the objects that
/// the first one names are alive: they are appended to `kept`, if that is a
/// list. Equal shardings that are other objects make another fingerprint.
///
/// arrayType: the type of leaves that are sharded; what is neither that nor a
/// tuple, list or dict is taken apart by `leaves`, which is jax.tree.leaves.
/// Raises what `leaves` raises, and RecursionError for a call that contains
/// itself.
nanobind::bytes fingerprint(const nanobind::object &call,
                            const nanobind::object &arrayType,
                            const nanobind::object &leaves,
                            const nanobind::object &kept);

} // namespace shardonnay

#endif // SHARDONNAY_PYTHON_FINGERPRINT_H
