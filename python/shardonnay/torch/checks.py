"""Checks of numbers in Python, `if (variance < 0).any(): raise ...`, which a program that is compiled once can't make.

Where Python asks a tensor for its truth in order to raise or to warn, and for nothing else, capturing goes on as if the
check had passed. What the tensor must be for that follows from the source: which branch raises, and which part of the
test asks. A function that returns the answer asks for what calls it.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import math
import os
import sys
import types
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException

from . import deferred, python_numbers
from .deferred import Alternative, Numbers
from .equality import equal
from .factors import number
from .recording import Mode

aten = torch.ops.aten
_TRUTHS = (aten._local_scalar_dense.default, aten.equal.default, aten.allclose.default)
_REMARKS = ("print", "warn", "warn_explicit", "warning")
# How a statement begins that goes no further.
_ENDS = ("sys.exit(", "exit(", "quit(", "os._exit(", "assert False", "torch._assert(False")
# Of a logger.
_LOGGED = ("critical", "debug", "error", "exception", "info")
# Frames between a line of Python and the op that it asks for.
_BETWEEN = ("__torch_function__", "__torch_dispatch__")
_ASKING = (deferred.__file__, python_numbers.__file__)
_FOLDERS = (f"{Path(torch.__file__).parent}{os.sep}", f"{Path(__file__).parent}{os.sep}")
_EFFECTS = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
_PLAIN = ("abs", "bool", "float", "format", "int", "len", "round", "str")
# A line and column where code begins, and where it ends.
_Span = tuple[int, int, int, int]


class Checks(Mode):
    """While it lasts, the truth of a tensor that a check asks for is that for which the check passes."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self.numbers = numbers

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func not in _TRUTHS:
            return func(*args, **(kwargs or {}))
        try:
            return func(*args, **(kwargs or {}))
        except DataDependentOutputException:
            answer = equal(*args) if func is aten.equal.default else number(args[0])
            if answer is None:
                answer = _answer(sys._getframe(1))
            if answer is None and _is_asked_by(sys._getframe(1), torch.istft):
                answer = False  # whether the windows leave a gap
            if answer is None and func is not aten.equal.default and _is_printed(_users(sys._getframe(1))):
                answer = math.nan if args[0].is_floating_point() else 0
            if answer is None and func is aten._local_scalar_dense.default and self.numbers.alternative is None:
                self.numbers.alternative = _alternative(args[0])
                answer = None if self.numbers.alternative is None else self.numbers.alternative.answer
            if answer is None:
                raise
            return answer


def _users(frame: types.FrameType | None) -> types.FrameType:
    """The innermost frame that is neither torch's nor ours."""
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDERS):
        frame = frame.f_back
    assert frame is not None
    return frame


def _literal(node: ast.expr) -> int | float | None:
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return found if type(found) in (int, float) else None


def _is_without_effect(tree: ast.expr) -> bool:
    """Whether an expression may be computed where Python would not, as it changes nothing."""
    for node in ast.walk(tree):
        if isinstance(node, _EFFECTS):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name.endswith("_") or not (hasattr(torch.Tensor, name) or hasattr(str, name)):
                return False
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _PLAIN:
            return False
    return True


def _is_printed(frame: types.FrameType) -> bool:
    """Whether a number is asked for in a statement that does nothing but print or log it, or by `"%.3f" % x`."""
    asked = _asked(frame.f_code, frame.f_lasti, is_jump=False)
    if asked is not None and _is_formatted(frame, asked):
        return True
    for node in _tree(frame.f_code.co_filename)[1]:
        if asked is not None and isinstance(node, ast.Expr) and _is_remark(node) and _within(asked, _span(node.value)):
            call = node.value
            assert isinstance(call, ast.Call)
            return all(map(_is_without_effect, [*call.args, *(entry.value for entry in call.keywords)]))
    return False


def _is_formatted(frame: types.FrameType, asked: _Span) -> bool:
    for node in _tree(frame.f_code.co_filename)[1]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and asked == _span(node):
            if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
                return True
    return False


def _alternative(condition: torch.Tensor) -> Alternative | None:
    """Where `condition` says whether Python takes a number of a run or another one, what makes one number of both."""
    frame = _users(sys._getframe(2))
    asked = _asked(frame.f_code, frame.f_lasti)
    for node in _tree(frame.f_code.co_filename)[1]:
        if asked is None or not isinstance(node, ast.IfExp) or not _is_all_of(node.test, asked):
            continue
        for wanted, part, other in ((True, node.body, node.orelse), (False, node.orelse, node.body)):
            number = _literal(other)
            if number is not None and isinstance(part, (ast.Call, ast.BinOp)) and _is_without_effect(part):
                here = id(frame)

                def is_here(part: ast.expr = part, here: int = here) -> bool:
                    frame = _users(sys._getframe(1))
                    asked = _asked(frame.f_code, frame.f_lasti, is_jump=False)
                    return id(frame) == here and asked is not None and _is_all_of(part, asked)

                place = frame.f_code.co_filename, frame.f_lineno
                return Alternative(condition.detach().clone(), wanted, number, is_here, *place)
    return None


def _is_asked_by(frame: types.FrameType | None, function: Any) -> bool:
    """Whether a function of torch's asks, in C++."""
    while frame is not None and "func" not in frame.f_locals:
        frame = frame.f_back
    return frame is not None and frame.f_locals["func"] is function


def _answer(frame: types.FrameType | None) -> bool | None:
    """What the part of a check that `frame` asks for is if the check passes, None if it is in no check."""
    answer = True
    while frame is not None:
        if frame.f_code.co_name not in _BETWEEN and frame.f_code.co_filename not in _ASKING:
            found = _wanted(frame.f_code, frame.f_lasti)
            if found is None:
                return None
            wanted, returned = found
            answer = answer == wanted
            if not returned:
                return answer
        frame = frame.f_back
    return None


def _asked(code: types.CodeType, offset: int, *, is_jump: bool = True) -> _Span | None:
    """The part of a line that an instruction runs, or that a jump asks for."""
    instructions = list(dis.get_instructions(code))
    at = sum(instruction.offset <= offset for instruction in instructions) - 1
    # A jump has no line and column of its own; what comes before it has made the tensor.
    place = instructions[at if "CALL" in instructions[at].opname or not is_jump else at - 1].positions
    if place is None or None in place:
        return None
    return place.lineno, place.col_offset, place.end_lineno, place.end_col_offset  # type: ignore[return-value]


@functools.lru_cache(maxsize=None)
def _wanted(code: types.CodeType, offset: int) -> tuple[bool, bool] | None:
    """What is asked for there: the value for which the check passes, False; or the value for which the function returns
    True, True.
    """
    asked = _asked(code, offset)
    for test, value, returned in _checks(code.co_filename) if asked is not None else []:
        if _within(asked, _span(test)):
            part, value = _part_of(test, asked, value)
            return (value, returned) if _is_all_of(part, asked) else None
    return None


@functools.lru_cache(maxsize=None)
def _tree(file: str) -> tuple[ast.AST, list[ast.AST]]:
    """What a file says, and all of its nodes."""
    try:
        tree: ast.AST = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        tree = ast.Module([], [])
    return tree, list(ast.walk(tree))


@functools.lru_cache(maxsize=None)
def _checks(file: str) -> list[tuple[ast.expr, bool, bool]]:
    """Of a file's checks the tests, what they are if the check passes, and False; what its functions return, with True.
    """
    tree, nodes = _tree(file)
    found: list[tuple[ast.expr, bool, bool]] = []
    handled = _handled(tree)
    for node in nodes:
        if isinstance(node, ast.Assert) and node not in handled:
            found.append((node.test, True, False))
        elif isinstance(node, ast.If) and node not in handled and _complains(node.body) != _complains(node.orelse):
            found.append((node.test, _complains(node.orelse), False))
        elif isinstance(node, ast.If) and node not in handled and _is_idle(node):
            found.append((node.test, True, False))
        elif isinstance(node, ast.Return) and node.value is not None:
            found.append((node.value, True, True))
    return found


def _handled(tree: ast.AST) -> set[ast.AST]:
    """What stands where an exception is no end, but has a handler that goes on: raising it is a branch."""
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try)]
    going_on = [node for node in tries if not all(_complains(handler.body) for handler in node.handlers)]
    return {inner for node in going_on for statement in node.body for inner in ast.walk(statement)}


def _complains(body: list[ast.stmt]) -> bool:
    """Ends in `raise`, or what does the same, or only warns."""
    if body and (isinstance(body[-1], ast.Raise) or ast.unparse(body[-1]).startswith(_ENDS)):
        return True
    return bool(body) and all(_is_remark(statement) for statement in body)


def _is_idle(node: ast.If) -> bool:
    """Whether the body does nothing if the test is false, `if mask.any(): x[mask] = 0`, so that it may run anyway."""
    test = node.test
    if node.orelse or not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute):
        return False
    if test.func.attr != "any" or test.keywords:
        return False
    asked = [*test.args] if ast.unparse(test.func.value) == "torch" else [test.func.value, *test.args]
    return len(asked) == 1 and all(_is_remark(part) or _is_of_mask(part, asked[0]) for part in node.body)


def _is_of_mask(statement: ast.stmt, mask: ast.expr) -> bool:
    """Whether a statement changes nothing where a mask is false: `x[mask] = ...`, `x = x.clamp_min(0)` of `x < 0`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if all(isinstance(part, ast.Subscript) and ast.unparse(part.slice) == ast.unparse(mask) for part in parts):
        return True
    x = ast.unparse(target)
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or len(value.args) != 1:
        return False
    bound, is_mine = ast.unparse(value.args[0]), ast.unparse(value.func.value) == x and not value.keywords
    below, above = (f"{x}.lt({bound})", f"{x} < {bound}"), (f"{x}.gt({bound})", f"{x} > {bound}")
    return is_mine and ast.unparse(mask) in {"clamp_min": below, "clamp_max": above}.get(value.func.attr, ())


def _is_remark(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert):
        return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    is_logged = name in _LOGGED and isinstance(called, ast.Attribute) and "log" in ast.unparse(called.value).lower()
    return name in _REMARKS or is_logged


def _span(node: ast.expr) -> _Span:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _within(inner: Any, outer: _Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _is_all_of(part: ast.expr, asked: Any) -> bool:
    """The call of a method begins at the line of its name, whatever is before."""
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
        return _within(asked, _span(part)) and asked[2:] == _span(part)[2:]
    return asked == _span(part)


def _part_of(test: ast.expr, asked: Any, value: bool) -> tuple[ast.expr, bool]:
    """The condition of a test that `asked` is in, and its value: parts of a condition are what the whole is."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _part_of(test.operand, asked, not value)
    for part in _parts(test):
        if _within(asked, _span(part)):
            return _part_of(part, asked, value)
    return test, value


def _parts(test: ast.expr) -> list[ast.expr]:
    """What `and`, `or`, `if` and `else` join, and what `all(... for ...)` and `any(... for ...)` ask."""
    if isinstance(test, ast.BoolOp):
        return test.values
    if isinstance(test, ast.IfExp):
        return [test.body, test.orelse]
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("all", "any"):
        return [part.elt for part in test.args if isinstance(part, ast.GeneratorExp)]
    return []
