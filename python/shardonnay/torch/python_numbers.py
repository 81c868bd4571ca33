"""Python's own functions of numbers, for numbers that only a run knows: `float(loss)`, `max(best, x.item())`.

They are looked up in the modules that run: while a step is captured, those have others of the same names, which hand
on everything else. C code and comparisons of types see that they are others, so a module that uses `float` or `int`
for more than calls and `isinstance` keeps its own.
"""

from __future__ import annotations

import ast
import functools
import linecache
import math
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from .deferred import WIDE, Number, common_type

_STDLIB, _TORCH, _HERE = sysconfig.get_paths()["stdlib"], str(Path(torch.__file__).parent), str(Path(__file__).parent)
_OF_MATH = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "asin", "acos", "atan", "fabs", "copysign", "hypot", "atan2",
)  # fmt: skip
_NAMED_OTHERWISE = {"fabs": "abs"}
_USED = re.compile(r"(?<![\w.])(?:float|int|min|max)\(|\bmath\b")
# What may be handed a type to call it.
_CALLING = ("isinstance", "issubclass", "map", "defaultdict")


def _asked(x: Any) -> Any:
    """A number that Python asks a tensor for."""
    return x.item() if isinstance(x, torch.Tensor) else x


def _wide(x: Any) -> torch.Tensor:
    return x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=WIDE[type(x)])


class _Converting(type):
    """A type of numbers to call, and to ask with `isinstance`."""

    kind: type

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        number = _asked(args[0]) if len(args) == 1 else None
        if isinstance(number, torch.Tensor):  # as an optimizer goes on with
            return number.to(torch.float64 if cls.kind is float else torch.int64)
        if type(number) is not Number or number.value is None:
            return cls.kind(*args, **keywords)
        if cls.kind is int and number.kind is float:
            return number.made(lambda x: x.to(torch.int64), float, number)
        return number.made(torch.clone, cls.kind, number)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.kind)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.kind)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.kind, name)


class _Float(metaclass=_Converting):
    kind = float


class _Int(metaclass=_Converting):
    kind = int


def _extreme(builtin: Callable[..., Any], is_other: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """`min` or `max`: of two the first, unless the other is less, or more."""

    def first_or_other(*of: Any) -> torch.Tensor:
        x, y = map(_wide, of)
        return torch.where(is_other(y, x), y, x)

    def both(x: Any, y: Any) -> Any:
        number = x if type(x) is Number else y
        if type(number) is not Number:
            return builtin(x, y)
        return number.made(first_or_other, common_type(x, y), x, y)

    def result(*parts: Any, **options: Any) -> Any:
        among = parts[0] if len(parts) == 1 and isinstance(parts[0], (list, tuple)) else parts
        if options or not any(type(part) is Number for part in among):
            return builtin(*parts, **options)
        return functools.reduce(both, among)

    return result


def _of_math(name: str) -> Callable[..., Any]:
    own, op = getattr(math, name), getattr(torch, _NAMED_OTHERWISE.get(name, name))

    def result(*args: Any) -> Any:
        args = tuple(map(_asked, args))
        number = next((arg for arg in args if type(arg) is Number), None)
        if any(isinstance(arg, torch.Tensor) for arg in args):
            return op(*map(_wide, args))
        if number is None or name == "log" and len(args) > 1:
            return own(*args)
        return number.made(lambda *of: op(*map(_wide, of)), float, *args)

    return result


class _Math:
    """The module `math`."""

    def __init__(self) -> None:
        vars(self).update({name: _of_math(name) for name in _OF_MATH})

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)


BUILTINS = {"float": _Float, "int": _Int, "min": _extreme(min, torch.lt), "max": _extreme(max, torch.gt)}
_MATH = _Math()


@functools.lru_cache(maxsize=None)
def _kept(file: str) -> frozenset[str]:
    """The types that a file uses for more than to call them and to ask whether something is one of them."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return frozenset(("float", "int"))
    allowed: set[int] = set()
    for node in ast.walk(tree):
        parts: list[Any] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call):
            allowed.add(id(node.func))
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            parts += node.args if name in _CALLING else []
        for part in parts:
            allowed.update(map(id, ast.walk(part)) if isinstance(part, ast.AST) else ())
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return frozenset(node.id for node in found if node.id in ("float", "int") and id(node) not in allowed)


@functools.lru_cache(maxsize=None)
def _uses(file: str) -> bool:
    return any(map(_USED.search, linecache.getlines(file)))


def others_of(module: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in the place of what in a module, given as the dict of its names."""
    file = module.get("__file__") or ""
    free = [name for name in BUILTINS if name not in module and name not in _kept(file)]
    found: dict[str, Any] = {name: BUILTINS[name] for name in free}
    for name, value in module.items():
        if value is math:
            found[name] = _MATH
        elif isinstance(value, types.BuiltinFunctionType) and value.__name__ in _OF_MATH:
            found[name] = getattr(_MATH, value.__name__) if value is getattr(math, value.__name__) else value
    return found


class Replaced:
    """Modules in which names stand for others for a while."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {}
        self._seen: set[int] = set()

    def close(self) -> None:
        for module, before, others in self._before.values():
            for name, value in others.items():
                if module.get(name) is value:
                    del module[name]
            module.update(before)
        self._before.clear()

    def enter(self, module: dict[str, Any], others: Mapping[str, Any] | None = None) -> None:
        """others: what stands for what, what there is for numbers if it is not given."""
        if id(module) in self._before:
            return
        found = others_of(module) if others is None else dict(others)
        self._before[id(module)] = module, {name: module[name] for name in found if name in module}, found
        module.update(found)

    def enter_callers(self, frame: types.FrameType | None) -> None:
        """The modules of what runs, and, of the user's own, those of the classes and functions that they have."""
        if frame is None or id(frame.f_code) in self._seen:
            return
        while frame is not None:
            if id(frame.f_code) not in self._seen:
                self._seen.add(id(frame.f_code))
                self._enter_file(frame.f_globals, frame.f_code.co_filename)
            frame = frame.f_back

    def _enter_file(self, module: dict[str, Any], file: str) -> None:
        if id(module) in self._before or not _is_users(file):
            return
        if _uses(file):
            self.enter(module)
        if "-packages" in file:
            return
        for value in list(module.values()):
            name = getattr(value if isinstance(value, (type, types.FunctionType)) else type(value), "__module__", "")
            beside = value if isinstance(value, types.ModuleType) else sys.modules.get(str(name))
            place = getattr(beside, "__file__", None) or ""
            if place and "-packages" not in place and _is_users(place) and _uses(place):
                self.enter(vars(beside))


def _is_users(file: str) -> bool:
    """Whether a file is neither Python's own nor torch's nor ours."""
    if not file or file.startswith(("<", f"{_TORCH}/", f"{_HERE}/")):
        return False
    return not file.startswith(f"{_STDLIB}/") or "-packages" in file
