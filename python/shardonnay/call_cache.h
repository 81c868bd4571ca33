//===- call_cache.h - which caller a call is for ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PYTHON_CALL_CACHE_H
#define SHARDONNAY_PYTHON_CALL_CACHE_H

#include "llvm/ADT/StringMap.h"
#include <nanobind/nanobind.h>
#include <vector>

namespace shardonnay {

/// Callers by the objects that a call is made of: the mesh around it, the
/// shardings of its leaves (None for a leaf without one) and the keys of the
/// dicts that they are in. Calls of equal addresses have equal shardings, as
/// long as those objects are alive, so an entry keeps them alive. Equal
/// shardings that are other objects are another entry.
///
/// Everything here may run Python code and is called with the GIL held.
class CallCache {
public:
  /// mesh: jax.sharding.get_mesh; leaves: jax.tree.leaves, which takes apart
  /// what is no tuple, list or dict. byArguments: false where one caller is for
  /// all calls. most: entries; a cache that has more is emptied first.
  CallCache(nanobind::object mesh, nanobind::object leaves, bool byArguments,
            size_t most)
      : mesh(std::move(mesh)), leaves(std::move(leaves)),
        shardingName(nanobind::steal(PyUnicode_InternFromString("sharding"))),
        byArguments(byArguments), most(most) {}

  /// The caller of a call, and null if there is none. Raises what `leaves`
  /// raises, and RecursionError for a call that contains itself.
  nanobind::object find(nanobind::handle args, nanobind::handle kwargs) const;

  /// Says of which type arrays are, so that a leaf of exactly this type is
  /// asked for its sharding at once, by shardingOf(array).
  void learnArrays(nanobind::object type, nanobind::object shardingOfArray);

  void add(nanobind::handle args, nanobind::handle kwargs,
           nanobind::object caller);

  void clear();

  int traverse(visitproc visit, void *arg) const;

private:
  struct Entry {
    nanobind::object caller;
    std::vector<nanobind::object> kept;
  };
  class Reader;

  nanobind::object mesh, leaves, shardingName, arrayType, shardingOf;
  bool byArguments;
  size_t most;
  llvm::StringMap<Entry> entries;
};

/// A Python object that is called: by the caller that its cache has for the
/// arguments, or else by `self._make_caller(args, kwargs)`. There is no Python
/// frame between, so a call costs no more than one of `jax.jit` and a look-up.
/// `self._on_type_error(error)` may raise a clearer error than a caller's own.
class CachedFunction {
public:
  explicit CachedFunction(nanobind::object cache) : cache(std::move(cache)) {}

  static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs);

  /// A CallCache, which functions may share.
  nanobind::object cache;
};

/// Adds both to a Python module.
void defineCallCache(nanobind::module_ &module);

} // namespace shardonnay

#endif // SHARDONNAY_PYTHON_CALL_CACHE_H
