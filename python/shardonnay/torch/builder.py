"""Writes StableHLO text, one op at a time: what the table of aten ops (aten/) calls.

Every method adds one op to the function and returns its result. Types are torch's, so nothing here asks MLIR; the
compiler verifies the text when it reads it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from ..errors import CompileError, Diagnostic

ELEMENTS = {
    torch.bool: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2",
}
Number = bool | int | float | complex


def quoted(text: str) -> str:
    """A string of MLIR's."""
    escaped = "".join(
        c if c.isprintable() and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode()) for c in text
    )
    return f'"{escaped}"'


def is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


@dataclass(frozen=True)
class Value:
    """A value of the function that is written."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        return type_of(self.shape, self.dtype)


@dataclass(frozen=True)
class Site:
    """Where in the user's program an op comes from: a line, the FQN of the module it ran in, what autograd added."""

    file: str = ""
    line: int = 0
    module: str = ""
    backward: bool = False

    def location(self, op: str) -> str:
        """The location attribute of an op that stands for the node `op` of the captured graph."""
        name = "/".join(part for part in (self.module, op) if part) + (" (backward)" if self.backward else "")
        if not self.file:
            return f"loc({quoted(name)})"
        return f"loc({quoted(name)}({quoted(self.file)}:{self.line}:1))"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else self.module


class UnsupportedError(CompileError):
    """The program contains something that has no form in StableHLO, or none here yet; it is named with its line."""

    def __init__(self, message: str, site: Site = Site()) -> None:
        super().__init__((Diagnostic("error", str(site), message),))


def type_of(shape: Sequence[int], dtype: torch.dtype) -> str:
    if dtype not in ELEMENTS:
        raise UnsupportedError(f"a tensor of {dtype}, which StableHLO has no element type for; expected one of torch's "
                               "boolean, integer, floating point or complex types")  # fmt: skip
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + ELEMENTS[dtype] + ">"


def _float_literal(value: float, dtype: torch.dtype) -> str:
    """A float as MLIR reads it back: the shortest decimal, or the bits of what is not finite."""
    value = float(torch.tensor(value, dtype=torch.float64).to(dtype).to(torch.float64))
    if math.isfinite(value):
        digits, _, exponent = repr(value).partition("e")
        return (digits if "." in digits else digits + ".0") + (f"e{exponent}" if exponent else "")
    if dtype == torch.float64:
        return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
    width = torch.empty((), dtype=dtype).element_size()
    bits = torch.tensor(value, dtype=dtype).view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[width]).item()
    return f"0x{int(bits) & (1 << 8 * width) - 1:0{2 * width}X}"


def literal(value: Number, dtype: torch.dtype) -> str:
    """An element as it stands in `dense<...>`."""
    if dtype == torch.bool:
        return "true" if value else "false"
    if dtype.is_complex:
        part = torch.float32 if dtype == torch.complex64 else torch.float64
        number = complex(value)
        return f"({_float_literal(number.real, part)}, {_float_literal(number.imag, part)})"
    if dtype.is_floating_point:
        return _float_literal(float(value), dtype)  # type: ignore[arg-type]
    bits = torch.iinfo(dtype).bits
    whole = int(value) & (1 << bits) - 1  # type: ignore[arg-type]
    return str(whole - (1 << bits) if dtype.is_signed and whole >> bits - 1 else whole)


def ints(values: Sequence[int]) -> str:
    """`array<i64: ...>`."""
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


def merged_sizes(shape: Sequence[int], result: Sequence[int]) -> list[list[int]] | None:
    """For each dim of `result` the sizes of the dims of `shape` whose product it is; None where a reshape does more
    than merge.
    """
    found: list[list[int]] = []
    rest = list(shape)
    for extent in result:
        group: list[int] = []
        while rest and (not group or math.prod(group) < extent):
            group.append(rest.pop(0))
        if not group or math.prod(group) != extent or not extent:
            return None
        found.append(group)
    return None if rest else found


def dims_text(values: Sequence[int]) -> str:
    return f"[{', '.join(map(str, values))}]"


class Builder:
    """The body of a function. axes: of the mesh that shardings are on, None if there are none."""

    def __init__(self, axes: Mapping[str, int] | None = None) -> None:
        self.axes = axes
        self.lines: list[str] = []
        self.location = "loc(unknown)"
        self.site = Site()
        # Of the op's first tensor: its dims from the outermost in memory, None if they do not fill a memory of their
        # own.
        self.memory_order: list[int] | None = None
        self._count = 0
        self._constants: dict[tuple[str, str], Value] = {}
        # Of a result's name: what it is a reshape of, a transpose of.
        self._reshaped: dict[str, Value] = {}
        self._transposed: dict[str, tuple[Value, list[int]]] = {}
        self._indent = "    "

    def argument(self, index: int, shape: Sequence[int], dtype: torch.dtype) -> Value:
        return Value(f"%arg{index}", tuple(shape), dtype)

    def refuse(self, message: str) -> UnsupportedError:
        return UnsupportedError(message, self.site)

    # The op itself.

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        dtype: torch.dtype,
        attributes: str = "",
        region: Callable[[], None] | None = None,
    ) -> Value:
        return self.multi(name, operands, [(tuple(shape), dtype)], attributes, region)[0]

    def multi(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[tuple[tuple[int, ...], torch.dtype]],
        attributes: str = "",
        region: Callable[[], None] | None = None,
        discardable: str = "",
    ) -> list[Value]:
        """An op with any number of results; discardable: attributes that are not its own."""
        name = name if "." in name else f"stablehlo.{name}"
        first = f"%{self._count}"
        self._count += 1
        head = f"{self._indent}{first}{f':{len(results)}' if len(results) != 1 else ''} = {quoted(name)}("
        head += ", ".join(operand.name for operand in operands) + ")"
        head += f" <{{{attributes}}}>" if attributes else ""
        types = ", ".join(type_of(*result) for result in results)
        tail = f" {{{discardable}}}" if discardable else ""
        tail += f" : ({', '.join(operand.type for operand in operands)}) -> "
        tail += (types if len(results) == 1 else f"({types})") + f" {self.location}"
        if region is None:
            self.lines.append(head + tail)
        else:
            self.lines.append(head + " ({")
            region()
            self.lines.append(f"{self._indent}}})" + tail)
        names = [first] if len(results) == 1 else [f"{first}#{index}" for index in range(len(results))]
        return [Value(name, tuple(shape), dtype) for name, (shape, dtype) in zip(names, results)]

    @contextmanager
    def block(self, dtypes: Sequence[torch.dtype]) -> Iterator[list[Value]]:
        """A region's block with scalar arguments."""
        arguments = [Value(f"%b{self._count}_{index}", (), dtype) for index, dtype in enumerate(dtypes)]
        self._count += 1
        self.lines.append(f"{self._indent}^bb0({', '.join(f'{value.name}: {value.type}' for value in arguments)}):")
        constants, self._constants = self._constants, {}  # a region's constants are its own
        self._indent += "  "
        yield arguments
        self._indent = self._indent[:-2]
        self._constants = constants

    def region_of(self, dtypes: Sequence[torch.dtype], body: Callable[[list[Value]], Value]) -> Callable[[], None]:
        """A region that returns what `body` makes of its arguments."""

        def write() -> None:
            with self.block(dtypes) as arguments:
                result = body(arguments)
                self.lines.append(
                    f'{self._indent}"stablehlo.return"({result.name}) : ({result.type}) -> () {self.location}'
                )

        return write

    # Constants.

    def dense(self, text: str, shape: Sequence[int], dtype: torch.dtype) -> Value:
        kind = type_of(shape, dtype)
        found = self._constants.get((text, kind))
        if found is None:
            found = self.op("constant", [], shape, dtype, f"value = dense<{text}> : {kind}")
            self._constants[text, kind] = found
        return found

    def full(self, value: Number, shape: Sequence[int], dtype: torch.dtype) -> Value:
        """A splat; it is one constant however often it is asked for."""
        return self.dense(literal(value, dtype) if math.prod(shape) else "", shape, dtype)

    def tensor(self, value: torch.Tensor) -> Value:
        """A tensor's elements as a constant."""
        value = value.detach().cpu().contiguous()
        if not value.numel():
            return self.dense("", value.shape, value.dtype)
        flat = value.reshape(-1)
        if bool((flat == flat[0]).all()):
            return self.full(flat[0].item(), value.shape, value.dtype)
        if value.dtype == torch.bool or value.numel() <= 16:
            return self.dense(self._nested(value), value.shape, value.dtype)
        return self.dense(quoted("0x" + _bytes(value).hex().upper()), value.shape, value.dtype)

    def _nested(self, value: torch.Tensor) -> str:
        if value.dim() == 0:
            return literal(value.item(), value.dtype)
        return f"[{', '.join(map(self._nested, value))}]"

    def like(self, value: Number, x: Value) -> Value:
        return self.full(value, x.shape, x.dtype)

    def iota(self, shape: Sequence[int], dim: int, dtype: torch.dtype) -> Value:
        return self.op("iota", [], shape, dtype, f"iota_dimension = {dim} : i64")

    # Elementwise; operands have one shape.

    def unary(self, name: str, x: Value, dtype: torch.dtype | None = None) -> Value:
        return self.op(name, [x], x.shape, dtype or x.dtype)

    def binary(self, name: str, x: Value, y: Value) -> Value:
        return self.op(name, [x, y], x.shape, x.dtype)

    def add(self, x: Value, y: Value) -> Value:
        return self.binary("or" if x.dtype == torch.bool else "add", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.binary("subtract", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.binary("and" if x.dtype == torch.bool else "multiply", x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.binary("divide", x, y)

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        kind = "FLOAT" if is_inexact(x.dtype) else "SIGNED" if x.dtype.is_signed else "UNSIGNED"
        attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        return self.op(
            "compare", [x, y], x.shape, torch.bool, attributes + f", compare_type = #stablehlo<comparison_type {kind}>"
        )

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.op("select", [condition, x, y], x.shape, x.dtype)

    def is_nan(self, x: Value) -> Value:
        return self.compare("NE", x, x)

    def invert(self, x: Value) -> Value:
        return self.unary("not", x)

    def cast(self, x: Value, dtype: torch.dtype) -> Value:
        """`x` with another element type, as torch's `to` converts."""
        if x.dtype == dtype:
            return x
        if dtype == torch.bool:
            return self.compare("NE", x, self.like(0, x))
        if x.dtype.is_complex and not dtype.is_complex:
            x = self.unary("real", x, torch.float32 if x.dtype == torch.complex64 else torch.float64)
            if x.dtype == dtype:
                return x
        if dtype.is_complex and not x.dtype.is_complex:
            part = self.cast(x, torch.float32 if dtype == torch.complex64 else torch.float64)
            return self.op("complex", [part, self.like(0, part)], x.shape, dtype)
        if x.dtype.is_floating_point and not is_inexact(dtype) and torch.iinfo(dtype).bits < 32:
            x = self.unary("convert", x, torch.int32)  # C++ converts through int, and wraps
        return self.unary("convert", x, dtype)

    # Shapes.

    def broadcast_dims(self, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        if tuple(shape) == x.shape and tuple(dims) == tuple(range(x.rank)):
            return x
        return self.op("broadcast_in_dim", [x], shape, x.dtype, f"broadcast_dimensions = {ints(dims)}")

    def broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        """`x` stretched to `shape`, its dims being the last ones."""
        return self.broadcast_dims(x, shape, range(len(shape) - x.rank, len(shape)))

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """`x`, or what it is a reshape of itself, in another shape."""
        if x.shape == tuple(shape):
            return x
        x = self._reshaped.get(x.name, x)
        if x.shape == tuple(shape):
            return x
        result = self.op("reshape", [x], shape, x.dtype)
        self._reshaped[result.name] = x
        return result

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        if list(order) == list(range(x.rank)):
            return x
        if x.name in self._transposed:
            source, before = self._transposed[x.name]
            return self.transpose(source, [before[dim] for dim in order])
        result = self.op("transpose", [x], [x.shape[dim] for dim in order], x.dtype, f"permutation = {ints(order)}")
        self._transposed[result.name] = x, list(order)
        return result

    def merged_dims(self, x: Value) -> list[list[int]]:
        """For each dim of `x` the sizes of the dims that a reshape made one of, in front of a transpose if there is
        one; not those of 1.
        """
        inner, order = self._transposed.get(x.name, (x, list(range(x.rank))))
        sizes = merged_sizes(self._reshaped[inner.name].shape, inner.shape) if inner.name in self._reshaped else None
        if not sizes:
            return [[extent] for extent in x.shape]
        return [[extent for extent in sizes[dim] if extent != 1] or [1] for dim in order]

    def unmerge(self, x: Value, dims: Sequence[int]) -> tuple[Value, list[list[int]]]:
        """What `x` was before these of its dims were merged, and before it was transposed: a value, and which of its
        dims each dim is.
        """
        inner, order = self._transposed.get(x.name, (x, list(range(x.rank))))
        merged = self.merged_dims(x) if dims else []
        groups: list[list[int]] = [[] for _ in order]
        sizes: list[int] = []
        for dim in range(x.rank):
            at = order.index(dim)
            own = merged[at] if at in dims else [inner.shape[dim]]
            groups[at] = list(range(len(sizes), len(sizes) + len(own)))
            sizes += own
        value = self.reshape(inner, sizes)
        if value.name not in self._transposed:
            return value, groups
        source, order = self._transposed[value.name]
        return source, [[order[dim] for dim in group] for group in groups]

    def slice(
        self, x: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> Value:
        steps = list(strides or [1] * x.rank)
        shape = [max(0, -(-(limit - start) // step)) for start, limit, step in zip(starts, limits, steps)]
        if tuple(shape) == x.shape:
            return x
        attributes = f"start_indices = {ints(starts)}, limit_indices = {ints(limits)}, strides = {ints(steps)}"
        return self.op("slice", [x], shape, x.dtype, attributes)

    def slice_dim(self, x: Value, dim: int, start: int, limit: int, step: int = 1) -> Value:
        starts, limits, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        starts[dim], limits[dim], steps[dim] = start, max(start, limit), step
        return self.slice(x, starts, limits, steps)

    def concatenate(self, parts: Sequence[Value], dim: int) -> Value:
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[dim] = sum(part.shape[dim] for part in parts)
        return self.op("concatenate", parts, shape, parts[0].dtype, f"dimension = {dim} : i64")

    def pad(
        self, x: Value, low: Sequence[int], high: Sequence[int], value: Number = 0,
        interior: Sequence[int] | None = None
    ) -> Value:
        between = list(interior or [0] * x.rank)
        if not any(low) and not any(high) and not any(between):
            return x
        shape = [
            lo + hi + extent + max(0, extent - 1) * gap for lo, hi, extent, gap in zip(low, high, x.shape, between)
        ]
        attributes = (
            f"edge_padding_low = {ints(low)}, edge_padding_high = {ints(high)}, interior_padding = {ints(between)}"
        )
        return self.op("pad", [x, self.full(value, (), x.dtype)], shape, x.dtype, attributes)

    def reverse(self, x: Value, dims: Sequence[int]) -> Value:
        return self.op("reverse", [x], x.shape, x.dtype, f"dimensions = {ints(dims)}") if dims else x

    # Over several elements.

    def reduce(self, op: str, x: Value, dims: Sequence[int], initial: Number) -> Value:
        """Combines along `dims` by the binary op `op`, whose neutral element is `initial`."""
        if not dims:
            return x
        shape = [extent for dim, extent in enumerate(x.shape) if dim not in dims]
        body = self.region_of([x.dtype] * 2, lambda pair: self.binary(op, *pair))
        operands = [x, self.full(initial, (), x.dtype)]
        return self.op("reduce", operands, shape, x.dtype, f"dimensions = {ints(sorted(dims))}", body)

    def sum(self, x: Value, dims: Sequence[int]) -> Value:
        return self.reduce("or" if x.dtype == torch.bool else "add", x, dims, 0)

    def dot(
        self,
        x: Value,
        y: Value,
        contract: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
        dtype: torch.dtype | None = None,
    ) -> Value:
        """`dot_general`: dims of the result are the batch's, then those of x, then those of y."""
        shape = [x.shape[dim] for dim in batch[0]]
        shape += [extent for dim, extent in enumerate(x.shape) if dim not in (*contract[0], *batch[0])]
        shape += [extent for dim, extent in enumerate(y.shape) if dim not in (*contract[1], *batch[1])]
        fields = [
            f"{name} = {dims_text(dims)}"
            for name, dims in (
                ("lhs_batching_dimensions", batch[0]),
                ("rhs_batching_dimensions", batch[1]),
                ("lhs_contracting_dimensions", contract[0]),
                ("rhs_contracting_dimensions", contract[1]),
            )
            if len(dims)
        ]
        attributes = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(fields)}>"
        return self.op("dot_general", [x, y], shape, dtype or x.dtype, attributes)


def _bytes(value: torch.Tensor) -> bytes:
    return bytes(value.reshape(-1).contiguous().view(torch.uint8).tolist())
