"""A program of one device as plain values: what the process that compiled it saves, and ranks load with torch alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .elements import EngineError, OtherType, TensorType, Type

FORMAT = 2
# In place of a tensor in the text: its number.
_TENSOR = "$tensor"
_INITIAL = "initial"


@dataclass
class Op:
    """One op. `operands` and `results` are numbers of values; `location` is the user's line, "" if unknown."""

    name: str
    operands: list[int]
    operand_types: list[Type]
    results: list[int]
    result_types: list[Type]
    attributes: dict[str, Any]
    regions: list[Block]
    location: str = ""

    def tensor(self, index: int = 0) -> TensorType:
        """The type of a result, which is to be a tensor of known sizes."""
        return self._static(self.result_types[index])

    def operand(self, index: int = 0) -> TensorType:
        """The type of an operand, which is to be a tensor of known sizes."""
        return self._static(self.operand_types[index])

    def _static(self, type: Type) -> TensorType:
        if isinstance(type, TensorType):
            return type
        raise self.refuse(f"{type} is not supported, expected tensors of known sizes")

    def refuse(self, message: str) -> EngineError:
        where = f"{self.location}: " if self.location else ""
        error = EngineError(f"{where}'{self.name}': {message}")
        error.located = True
        return error


@dataclass
class Block:
    arguments: list[int]
    types: list[Type]
    ops: list[Op]

    @property
    def returned(self) -> list[int]:
        return self.ops[-1].operands if self.ops else []


@dataclass
class Function:
    name: str
    body: Block


@dataclass
class Program:
    """What runs on each device.

    manifest: what each device is fed and returns (`shardonnay.Program.manifest`).
    signature: what the front end says of arguments and results: {"arguments": [[name, kind]...], "results": [[name,
        name of the argument that it updates, or None]...], "initial": {name: tensor}, "constants": {name: value}};
        empty without one.
    """

    functions: dict[str, Function]
    replicas: int
    partitions: int
    manifest: dict[str, Any] = field(default_factory=dict)
    signature: dict[str, Any] = field(default_factory=dict)

    @property
    def main(self) -> Function:
        if "main" not in self.functions:
            names = ", ".join(f"@{name}" for name in self.functions)
            raise EngineError(f"expected a function @main to run, got {names or 'no function'}")
        return self.functions["main"]

    @property
    def devices(self) -> int:
        return self.replicas * self.partitions

    def ops(self) -> Iterator[Op]:
        """All ops, in the order of the text."""
        for function in self.functions.values():
            yield from ops_of(function.body)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes containers, numbers, strings and tensors only: `torch.load(path, weights_only=True)` reads it."""
        torch.save(self.plain(), path)

    def plain(self) -> dict[str, Any]:
        """What is not in tensors is one text: `torch.load` reads containers an object at a time, in Python."""
        tensors: list[torch.Tensor] = []

        def aside(tensor: torch.Tensor) -> Any:
            tensors.append(tensor)
            return {_TENSOR: len(tensors) - 1}

        functions = [[function.name, _plain_block(function.body)] for function in self.functions.values()]
        signature = {key: value for key, value in self.signature.items() if key != _INITIAL}
        text = json.dumps([functions, self.replicas, self.partitions, self.manifest, signature], default=aside)
        return {"format": FORMAT, "text": text, "tensors": tensors, _INITIAL: self.signature.get(_INITIAL)}

    @staticmethod
    def of(plain: dict[str, Any]) -> Program:
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            found = plain.get("format") if isinstance(plain, dict) else type(plain).__name__
            raise EngineError(f"expected a program of format {FORMAT}, got {found}; save it again with this version")

        def back(entries: dict[str, Any]) -> Any:
            return plain["tensors"][entries[_TENSOR]] if _TENSOR in entries else entries

        listed, replicas, partitions, manifest, signature = json.loads(plain["text"], object_hook=back)
        functions = {name: Function(name, _block(body)) for name, body in listed}
        if plain[_INITIAL] is not None:
            signature[_INITIAL] = plain[_INITIAL]
        return Program(functions, replicas, partitions, manifest, signature)


def load(path: str | os.PathLike[str]) -> Program:
    """What `Program.save` wrote."""
    try:
        plain = torch.load(path, weights_only=True)
    except OSError:
        raise
    except Exception as error:  # torch's depend on the first bytes
        raise EngineError(f"{os.fspath(path)}: no saved program, expected what save() wrote") from error
    return Program.of(plain)


def ops_of(block: Block) -> Iterator[Op]:
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from ops_of(region)


def free_values(blocks: list[Block]) -> list[int]:
    """The values that blocks use and do not define, each once, in the order of their first use."""
    used: dict[int, None] = {}
    defined: set[int] = set()
    for block in blocks:
        defined.update(block.arguments)
        for op in ops_of(block):
            used.update(dict.fromkeys(op.operands))
            defined.update(op.results)
            for region in op.regions:
                defined.update(region.arguments)
    return [value for value in used if value not in defined]


def _plain_type(type: Type) -> Any:
    return [type.shape, type.element] if isinstance(type, TensorType) else type.text


def _type(plain: Any) -> Type:
    return OtherType(plain) if isinstance(plain, str) else TensorType(tuple(plain[0]), plain[1])


def _plain_block(block: Block) -> list[Any]:
    ops = [
        [
            op.name,
            op.operands,
            [_plain_type(type) for type in op.operand_types],
            op.results,
            [_plain_type(type) for type in op.result_types],
            op.attributes,
            [_plain_block(region) for region in op.regions],
            op.location,
        ]
        for op in block.ops
    ]
    return [block.arguments, [_plain_type(type) for type in block.types], ops]


def _block(plain: list[Any]) -> Block:
    arguments, types, ops = plain
    return Block(
        arguments,
        [_type(type) for type in types],
        [
            Op(name, ins, [*map(_type, in_types)], outs, [*map(_type, out_types)], attributes, [*map(_block, regions)],
               at)
            for name, ins, in_types, outs, out_types, attributes, regions, at in ops
        ],
    )
