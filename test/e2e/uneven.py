"""Small programs with dims that their axes do not divide, and the means to run many of them in one.

A case's `body` is StableHLO in which `$0`, `$1`, ... are its arguments, `$r` its result, other `$names` its own values.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shardonnay
from shardonnay import boundary, compare, engine, run

# What is small is sharded too: compute has no price, and nothing is gathered for its price.
SHARDED = {"device_model": str(Path(__file__).parent / "links.json"), "no_gather_by_price": True}
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
# What may stand behind the end of a shard: everything that comes through is seen.
PADDING = {"f": np.nan, "c": np.nan, "V": np.nan, "i": 55, "u": 55, "b": True}


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def sharding(dims):
    """Of axes per dim, one string a dim: "", "x", "xy"; "Y" and "Z" are the major and the minor half of y."""
    names = {"x": '"x"', "y": '"y"', "Y": '"y":(1)2', "Z": '"y":(2)2'}
    return f"<@mesh, [{', '.join('{' + ', '.join(names[axis] for axis in axes) + '}' for axes in dims)}]>"


def values(shape, element, seed=0):
    """Small integers, whose sums are exact in every type."""
    random = np.random.default_rng(seed + 7 * len(shape) + sum(shape))
    dtype = boundary.dtype_of(element)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    found = random.integers(0 if dtype.kind == "u" else -3, 4, shape)
    if dtype.kind == "c":
        found = found + 1j * random.integers(-3, 4, shape)
    return np.asarray(found).astype(dtype)


def argument(shape, dims, element="f32", seed=0):
    """Of a case."""
    return values(shape, element, seed), element, dims


def scalar(value, element="f32"):
    return np.asarray(value), element, []


@dataclass
class Case:
    name: str
    arguments: list  # (array, element type, axes per dim)
    result: tuple  # (shape, element type, axes per dim)
    body: str
    collectives: set = None  # the kinds that it may communicate by; None: any
    tolerance: float = 0.0

    def text(self, number):
        def rename(match):
            return "%r" + str(number) if match[1] == "r" else f"%c{number}_{match[1]}"

        return re.sub(r"\$(\w+)", rename, self.body)

    def signature(self, number):
        return [
            f"%c{number}_{i}: {tensor(np.shape(array), element)} {{sdy.sharding = #sdy.sharding{sharding(dims)}}}"
            for i, (array, element, dims) in enumerate(self.arguments)
        ]


def program(cases):
    arguments = ", ".join(text for number, case in enumerate(cases) for text in case.signature(number))
    results = ", ".join(
        f"{tensor(*case.result[:2])} {{sdy.sharding = #sdy.sharding{sharding(case.result[2])}}}" for case in cases
    )
    body = "\n".join(case.text(number) for number, case in enumerate(cases))
    names = ", ".join(f"%r{number}" for number in range(len(cases)))
    types = ", ".join(tensor(*case.result[:2]) for case in cases)
    return f"{MESH}\nfunc.func @main({arguments}) -> ({results}) {{\n{body}\nreturn {names} : {types}\n}}"


class PoisonedProgram(run.LoadedProgram):
    """Fed with what is worst for each type behind the end of its shards."""

    def __call__(self, inputs):
        shards = [
            boundary.shard(entry, value, self.manifest["mesh"], PADDING[np.asarray(value).dtype.kind])
            for entry, value in zip(self.manifest["inputs"], inputs, strict=True)
        ]
        pieces = self._executable(shards)
        return [
            boundary.assemble(entry, found, self.manifest["mesh"])
            for entry, found in zip(self.manifest["outputs"], pieces, strict=True)
        ]


def run_cases(cases):
    """{name: what is wrong with it, or ""} of cases that are compiled and run as one program."""
    text = program(cases)
    inputs = [
        np.asarray(array).astype(boundary.dtype_of(element)) for case in cases for array, element, _ in case.arguments
    ]
    compiled = shardonnay.compile(text, **SHARDED)
    outputs = PoisonedProgram(compiled)(inputs)
    whole = engine.Executable(compare.unpartitioned(text), 1)([[value] for value in inputs])
    verdicts = {}
    for case, (output, spread), (wanted,) in zip(cases, outputs, whole, strict=True):
        error = boundary.difference(output, wanted)
        ok = output.shape == wanted.shape and max(error, spread) <= case.tolerance
        verdicts[case.name] = "" if ok else f"error {error}, copies differ by {spread}: {output} for {wanted}"[:2000]
    return verdicts


def batched(cases, size):
    """A function of a case's number: what is wrong with it. As many cases as `size` are one program."""
    verdicts = functools.cache(lambda batch: run_cases(cases[batch * size : (batch + 1) * size]))
    return lambda number: verdicts(number // size)[cases[number].name]


def kinds_of(case):
    """The kinds of collectives that the case has on its own."""
    return {entry["kind"] for entry in shardonnay.compile(program([case]), **SHARDED).report["collectives"]}
