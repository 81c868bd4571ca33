"""From the compiler's text to an engine's program, by the process that compiled it: the only file that needs the
compiler.
"""

from __future__ import annotations

import base64
import re
import sys
from typing import Any

import torch

from ... import _core
from ...errors import CompileError, Diagnostic
from .program import Block, Function, Op, Program
from .elements import SMALL_FLOATS, EngineError, OtherType, TensorType, Type, carrier, outside

Json = dict[str, Any]
_FIELD = re.compile(r"(\w+) = (\[[^\]]*\]|[^,>]+)")
_ROLES = re.compile(r"\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]")


def read(text: str | bytes, manifest: Json | None = None, name: str = "<program>") -> Program:
    """The program in StableHLO's text or bytecode, as `shardonnay.compile` returns it, with its manifest."""
    result = _core.list(text, name)
    if not result.ok:
        raise CompileError(Diagnostic(*diagnostic) for diagnostic in result.diagnostics)
    listed = result.report()
    assert listed is not None
    reader = _Reader()
    functions = {entry["name"]: Function(entry["name"], reader.block(entry["body"])) for entry in listed["functions"]}
    counts = [int(listed["attributes"].get(f"mhlo.num_{kind}", 1)) for kind in ("replicas", "partitions")]
    program = Program(functions, counts[0], counts[1], manifest or {})
    for op in program.ops():
        if "replica_groups" in op.attributes or "source_target_pairs" in op.attributes:
            _resolve_devices(op, program)
    return program


class _Reader:
    """Strings and types are one object however often they occur: in memory, and in the file that `save` writes."""

    def __init__(self) -> None:
        self._types: dict[int, Type] = {}
        self._known: dict[Type, Type] = {}

    def block(self, listed: Json) -> Block:
        arguments, types = self._define(listed["arguments"])
        return Block(arguments, types, [self.op(*entry) for entry in listed["ops"]])

    def op(
        self, name: str, operands: list[int], defined: list[Any], attributes: Json, regions: list[Json], location: str
    ) -> Op:
        operand_types = [self._types[number] for number in operands]
        blocks = [self.block(region) for region in regions]
        results, result_types = self._define(defined)
        op = Op(sys.intern(name), operands, operand_types, results, result_types, {}, blocks, sys.intern(location))
        try:
            op.attributes = {sys.intern(key): _attribute(value) for key, value in attributes.items()}
        except EngineError as error:
            raise op.refuse(str(error)) from None
        return op

    def _define(self, values: list[Any]) -> tuple[list[int], list[Type]]:
        types = []
        for number, *said in values:
            made: Type = OtherType(said[0]) if len(said) == 1 else TensorType(tuple(said[0]), sys.intern(said[1]))
            types.append(self._known.setdefault(made, made))
            self._types[number] = types[-1]
        return [number for number, *_ in values], types


def _attribute(value: Any) -> Any:
    if isinstance(value, list):
        return [_attribute(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "data" in value:
        return _elements(value)
    if set(value) == {"text"}:
        return _parse(value["text"])
    return {key: _attribute(entry) for key, entry in value.items()}


def _elements(value: Json) -> torch.Tensor:
    """The tensor; that of a splat is expanded from one element."""
    shape, element = value["shape"], value["element"].replace("index", "i64")
    data = bytearray(base64.b64decode(value["data"]))
    if not data:
        return torch.zeros(shape, dtype=carrier(element))
    dtype = outside(element) if element in SMALL_FLOATS else carrier(element)
    flat = torch.frombuffer(data, dtype=dtype).to(carrier(element))
    return flat[0].expand(shape) if value["splat"] else flat.reshape(shape)


def _parse(text: str) -> Any:
    """`#stablehlo.gather<offset_dims = [0], ...>` as a dict, `#stablehlo<precision HIGH>` as its word, else the text.
    """
    word = re.fullmatch(r"#(?:stablehlo|chlo)<\w+ (\w+)>", text)
    if word:
        return word[1]
    if text.startswith("#stablehlo.conv<["):
        return _convolution(text)
    if re.match(r"#(stablehlo|chlo)\.\w+<", text):
        return {name: _field(value) for name, value in _FIELD.findall(text)}
    return text


def _field(text: str) -> Any:
    if text.startswith("["):
        return [int(number) for number in text[1:-1].replace(" ", "").split(",") if number]
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _convolution(text: str) -> Json:
    """The fields of `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`."""
    match = _ROLES.search(text)
    if not match:
        raise EngineError(f"expected the dims of a convolution, got {text}")
    found: Json = {}
    names = (("input", "b", "batch", "f", "feature"), ("kernel", "i", "input_feature", "o", "output_feature"))
    for roles, (tensor, *letters) in zip(match.groups(), (*names, ("output", *names[0][1:])), strict=True):
        places = [role.strip() for role in roles.split(",")]
        for letter, name in (letters[:2], letters[2:]):
            found[f"{tensor}_{name}_dimension"] = places.index(letter)
        spatial = sorted((int(role), at) for at, role in enumerate(places) if role.isdigit())
        found[f"{tensor}_spatial_dimensions"] = [at for _, at in spatial]
    return found


def _resolve_devices(op: Op, program: Program) -> None:
    """Writes `groups` or `pairs` of devices: device r * partitions + p is partition p of replica r."""
    rows = op.attributes.get("replica_groups", op.attributes.get("source_target_pairs"))
    if not isinstance(rows, torch.Tensor):
        raise op.refuse(f"replica groups by mesh axes are not supported, expected lists of devices; got {rows}")
    channel = op.attributes.get("channel_handle") or {}
    across_partitions = channel.get("handle", 0) > 0
    reduces = op.name.removeprefix("stablehlo.") in ("all_reduce", "all_gather", "reduce_scatter")
    replicas, partitions = range(program.replicas), range(program.partitions)
    listed = [[device for device in row if device >= 0] for row in rows.tolist()]
    if reduces and op.attributes.get("use_global_device_ids"):
        groups = listed
    elif reduces and across_partitions:
        groups = [[r * program.partitions + p for r in row for p in partitions] for row in listed]
    elif across_partitions:
        groups = [[r * program.partitions + p for p in row] for r in replicas for row in listed]
    else:
        groups = [[r * program.partitions + p for r in row] for p in partitions for row in listed]
    if not groups and "replica_groups" in op.attributes:
        groups = [list(range(program.devices))]
    for key in ("replica_groups", "source_target_pairs", "channel_handle", "use_global_device_ids"):
        op.attributes.pop(key, None)
    op.attributes["pairs" if op.name == "stablehlo.collective_permute" else "groups"] = groups

