//===- fingerprint.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fingerprint.h"
#include <vector>

namespace nb = nanobind;

namespace shardonnay {

namespace {

class Fingerprint {
public:
  Fingerprint(nb::handle arrayType, nb::handle leaves, nb::handle kept)
      : arrayType(arrayType), leaves(leaves), kept(kept),
        name(nb::steal(PyUnicode_InternFromString("sharding"))) {}

  void add(nb::handle value) {
    if (value.type().is(arrayType))
      return addSharding(value);
    if (Py_EnterRecursiveCall(" while reading the arguments of a call"))
      throw nb::python_error();
    try {
      addNode(value);
    } catch (...) {
      Py_LeaveRecursiveCall();
      throw;
    }
    Py_LeaveRecursiveCall();
  }

  nb::bytes get() const {
    return nb::bytes(objects.data(), objects.size() * sizeof(PyObject *));
  }

private:
  void addNode(nb::handle value) {
    if (PyDict_CheckExact(value.ptr())) {
      for (auto [key, item] : nb::borrow<nb::dict>(value)) {
        push(key);
        add(item);
      }
    } else if (PyTuple_CheckExact(value.ptr())) {
      for (nb::handle item : nb::borrow<nb::tuple>(value))
        add(item);
    } else if (PyList_CheckExact(value.ptr())) {
      // It may change while a leaf is asked: no iterator is kept.
      for (Py_ssize_t i = 0; i < PyList_Size(value.ptr()); ++i)
        add(nb::borrow(PyList_GetItem(value.ptr(), i)));
    } else {
      for (nb::handle leaf : nb::borrow<nb::list>(leaves(value)))
        addSharding(leaf);
    }
  }

  void addSharding(nb::handle leaf) {
    PyObject *sharding = PyObject_GetAttr(leaf.ptr(), name.ptr());
    if (!sharding)
      PyErr_Clear();
    push(sharding ? nb::steal(sharding) : nb::none());
  }

  void push(nb::handle object) {
    objects.push_back(object.ptr());
    if (!kept.is_none())
      PyList_Append(kept.ptr(), object.ptr());
  }

  nb::handle arrayType, leaves, kept;
  nb::object name;
  std::vector<PyObject *> objects;
};

} // namespace

nb::bytes fingerprint(const nb::object &call, const nb::object &arrayType,
                      const nb::object &leaves, const nb::object &kept) {
  Fingerprint found(arrayType, leaves, kept);
  found.add(call);
  return found.get();
}

} // namespace shardonnay
