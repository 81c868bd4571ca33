//===- call_cache.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "call_cache.h"
#include "llvm/ADT/SmallVector.h"

namespace nb = nanobind;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// CallCache
//===----------------------------------------------------------------------===//

/// Lists the addresses of the objects that a call is made of.
class CallCache::Reader {
public:
  /// kept: what the addresses are of, or null.
  explicit Reader(const CallCache &cache,
                  std::vector<nb::object> *kept = nullptr)
      : cache(cache), kept(kept) {}

  void readCall(nb::handle args, nb::handle kwargs) {
    if (!cache.byArguments)
      return;
    push(meshOfContext());
    readNode(args);
    if (kwargs)
      readNode(kwargs);
  }

  llvm::StringRef key() const {
    return {reinterpret_cast<const char *>(addresses.data()),
            addresses.size_in_bytes()};
  }

private:
  /// None under a trace, where JAX does not tell.
  nb::object meshOfContext() {
    PyObject *mesh = PyObject_CallNoArgs(cache.mesh.ptr());
    if (!mesh) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError))
        throw nb::python_error();
      PyErr_Clear();
      return nb::none();
    }
    return nb::steal(mesh);
  }

  void read(nb::handle value) {
    if (value.type().is(cache.arrayType)) {
      PyObject *argument = value.ptr();
      return pushSharding(PyObject_Vectorcall(cache.shardingOf.ptr(), &argument,
                                              1, /*kwnames=*/nullptr));
    }
    if (Py_EnterRecursiveCall(" while reading the arguments of a call"))
      throw nb::python_error();
    try {
      readNode(value);
    } catch (...) {
      Py_LeaveRecursiveCall();
      throw;
    }
    Py_LeaveRecursiveCall();
  }

  void readNode(nb::handle value) {
    if (PyDict_CheckExact(value.ptr())) {
      for (auto [key, item] : nb::borrow<nb::dict>(value)) {
        push(nb::borrow(key));
        read(nb::borrow(item)); // the dict may change while a leaf is asked
      }
    } else if (PyTuple_CheckExact(value.ptr())) {
      for (nb::handle item : nb::borrow<nb::tuple>(value))
        read(item);
    } else if (PyList_CheckExact(value.ptr())) {
      // It may change while a leaf is asked: no iterator is kept.
      for (Py_ssize_t i = 0; i < PyList_Size(value.ptr()); ++i)
        read(nb::borrow(PyList_GetItem(value.ptr(), i)));
    } else {
      for (nb::handle leaf : nb::borrow<nb::list>(cache.leaves(value)))
        pushSharding(PyObject_GetAttr(leaf.ptr(), cache.shardingName.ptr()));
    }
  }

  void pushSharding(PyObject *sharding) {
    if (!sharding)
      PyErr_Clear();
    push(sharding ? nb::steal(sharding) : nb::none());
  }

  void push(nb::object object) {
    addresses.push_back(object.ptr());
    if (kept)
      kept->push_back(std::move(object));
  }

  const CallCache &cache;
  std::vector<nb::object> *kept;
  llvm::SmallVector<PyObject *, 256> addresses;
};

nb::object CallCache::find(nb::handle args, nb::handle kwargs) const {
  Reader reader(*this);
  reader.readCall(args, kwargs);
  auto found = entries.find(reader.key());
  return found == entries.end() ? nb::object() : found->second.caller;
}

void CallCache::learnArrays(nb::object type, nb::object shardingOfArray) {
  arrayType = std::move(type);
  shardingOf = std::move(shardingOfArray);
}

void CallCache::add(nb::handle args, nb::handle kwargs, nb::object caller) {
  Entry entry;
  Reader reader(*this, &entry.kept);
  reader.readCall(args, kwargs);
  entry.caller = std::move(caller);
  if (entries.size() == most)
    clear();
  entries[reader.key()] = std::move(entry);
}

void CallCache::clear() {
  // What dies with the entries may call Python code that comes back here.
  llvm::StringMap<Entry> dying = std::move(entries);
  entries.clear();
}

int CallCache::traverse(visitproc visit, void *arg) const {
  Py_VISIT(mesh.ptr());
  Py_VISIT(leaves.ptr());
  Py_VISIT(arrayType.ptr());
  Py_VISIT(shardingOf.ptr());
  for (const auto &entry : entries) {
    Py_VISIT(entry.second.caller.ptr());
    for (const nb::object &object : entry.second.kept)
      Py_VISIT(object.ptr());
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// CachedFunction
//===----------------------------------------------------------------------===//

/// Lets `self` raise a clearer error than the TypeError that is being raised.
static void explainTypeError(nb::handle self) {
  nb::python_error error;
  self.attr("_on_type_error")(error.value());
  error.restore();
}

PyObject *CachedFunction::call(PyObject *self, PyObject *args,
                               PyObject *kwargs) {
  try {
    const auto &cache =
        nb::cast<const CallCache &>(nb::inst_ptr<CachedFunction>(self)->cache);
    nb::object caller = cache.find(args, kwargs);
    if (!caller)
      caller = nb::handle(self).attr("_make_caller")(
          nb::handle(args), kwargs ? nb::borrow(kwargs) : nb::dict());
    PyObject *results = PyObject_Call(caller.ptr(), args, kwargs);
    if (!results && PyErr_ExceptionMatches(PyExc_TypeError))
      explainTypeError(self);
    return results;
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Python
//===----------------------------------------------------------------------===//

static int traverseCache(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self)
             ? nb::inst_ptr<CallCache>(self)->traverse(visit, arg)
             : 0;
}

static int clearCache(PyObject *self) {
  if (nb::inst_ready(self))
    nb::inst_ptr<CallCache>(self)->clear();
  return 0;
}

static int traverseFunction(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    Py_VISIT(nb::inst_ptr<CachedFunction>(self)->cache.ptr());
  return 0;
}

static int clearFunction(PyObject *self) {
  if (nb::inst_ready(self))
    nb::inst_ptr<CachedFunction>(self)->cache.reset();
  return 0;
}

void defineCallCache(nb::module_ &module) {
  static PyType_Slot cacheSlots[] = {
      {Py_tp_traverse, reinterpret_cast<void *>(traverseCache)},
      {Py_tp_clear, reinterpret_cast<void *>(clearCache)},
      {0, nullptr}};
  static PyType_Slot functionSlots[] = {
      {Py_tp_call, reinterpret_cast<void *>(CachedFunction::call)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseFunction)},
      {Py_tp_clear, reinterpret_cast<void *>(clearFunction)},
      {0, nullptr}};
  nb::class_<CallCache>(module, "CallCache", nb::type_slots(cacheSlots))
      .def(nb::init<nb::object, nb::object, bool, size_t>())
      .def("learn_arrays", &CallCache::learnArrays)
      .def("add", &CallCache::add)
      .def("clear", &CallCache::clear);
  nb::class_<CachedFunction>(module, "CachedFunction",
                             nb::type_slots(functionSlots))
      .def(nb::init<nb::object>());
}

} // namespace shardonnay
