"""Ops of StableHLO and CHLO, each alone in a function, and what one mutation makes of them."""

import functools
import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/programs"))
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import programs
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ELEMENTS = ["f32", "f64", "bf16", "f8E4M3FN", "i1", "i8", "i32", "i64", "ui8", "ui32", "complex<f32>", "index"]
NUMBERS = [-9223372036854775808, -1, 0, 1, 2, 3, 7, 100, 9223372036854775807]


@dataclass(frozen=True)
class Op:
    """One op in generic form; what it reads are the arguments of its function."""

    name: str
    properties: str
    regions: str
    operands: tuple
    results: tuple

    def text(self):
        arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(self.operands))
        names = ", ".join(f"%a{i}" for i in range(len(self.operands)))
        properties = f" <{{{self.properties}}}>" if self.properties else ""
        regions = f" ({self.regions})" if self.regions else ""
        results = f"%0:{len(self.results)} = " if self.results else ""
        return (
            f'func.func @f({arguments}) {{\n{results}"{self.name}"({names}){properties}{regions} : '
            f"({', '.join(self.operands)}) -> ({', '.join(self.results)})\nreturn }}\n"
        )


def _closing(text, start):
    """Where the bracket at `start` is closed."""
    pairs, depth, i = {"(": ")", "{": "}", "[": "]", "<": ">"}, [], start
    while i < len(text):
        if text.startswith("->", i):
            i += 2
            continue
        if text[i] == '"' and i > start:
            i = text.index('"', i + 1)
        elif text[i] in pairs:
            depth.append(pairs[text[i]])
        elif depth and text[i] == depth[-1]:
            depth.pop()
            if not depth:
                return i
        i += 1
    raise ValueError(text)


def _op(operation):
    """None of an op whose regions read what is outside of it."""
    text = operation.get_asm(print_generic_op_form=True)
    rest = text[text.index(")", text.index('"', text.index('"') + 1)) + 1 :].lstrip()
    properties = regions = ""
    if rest.startswith("<{"):
        end = _closing(rest, 0)
        properties, rest = rest[2 : end - 1], rest[end + 1 :].lstrip()
    if rest.startswith("("):
        end = _closing(rest, 0)
        regions, rest = rest[1:end], rest[end + 1 :].lstrip()
    if "UNKNOWN" in regions or re.search(r"%(arg)?\d+", regions) and _reads_outside(operation):
        return None
    types = (
        tuple(str(value.type) for value in operation.operands),
        tuple(str(value.type) for value in operation.results),
    )
    return Op(operation.name, properties, regions, *types)


def _reads_outside(operation):
    inside = set()

    def visit(op):
        for region in op.regions:
            for block in region.blocks:
                inside.update(hash(argument) for argument in block.arguments)
                for child in block.operations:
                    inside.update(hash(result) for result in child.results)
                    if any(hash(value) not in inside for value in child.operands) or visit(child):
                        return True
        return False

    return visit(operation)


def _ops_of(module):
    """The ops of the functions' bodies, not those in regions."""
    for function in module.body.operations:
        for region in function.operation.regions:
            for block in region.blocks:
                for child in block.operations:
                    operation = child.operation
                    known = operation.name.startswith(("stablehlo.", "chlo."))
                    if known and "return" not in operation.name and (op := _op(operation)):
                        yield op


@functools.cache
def corpus():
    """Every op of the dialects' tests that jaxlib accepts, and of every fifth JAX program of test/programs."""
    tests = [ROOT / "shardonnay/dialect" / name / "test" for name in ("stablehlo", "chlo")]
    texts = [file.read_text() for folder in tests for file in sorted(folder.glob("*-ops.mlir"))]
    texts.append((ROOT / "test/programs/never_printed.txt").read_text())
    chunks = [chunk for text in texts for chunk in re.split(r"^// -----$|(?=^func\.func)", text, flags=re.M)]
    chunks += [programs.text(name) for name in programs.NAMES[::5]]
    found = {}
    with jax_mlir.make_ir_context():
        for chunk in chunks:
            try:
                module = ir.Module.parse(chunk)
            except ir.MLIRError:
                continue
            # What an op names by symbol is not with it.
            found.update((op.text(), op) for op in _ops_of(module) if "@" not in op.properties + op.regions)
    return list(found.values())


def _with(sequence, index, value):
    return (*sequence[:index], value, *sequence[index + 1 :])


def _type(rng, op):
    """A place of a tensor type: (field, index), and its sizes and element."""
    places = [(field, i) for field in ("operands", "results") for i in range(len(getattr(op, field)))]
    rng.shuffle(places)
    for field, i in places:
        match = re.fullmatch(r"tensor<((?:[\d?]+x)*)([^,<>!]+(?:<f\d+>)?)>", getattr(op, field)[i])
        if match:
            return (field, i), match[1].split("x")[:-1], match[2]
    return None, None, None


def _set_type(op, place, sizes, element):
    field, i = place
    type = f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
    return replace(op, **{field: _with(getattr(op, field), i, type)})


def change_size(rng, op):
    place, sizes, element = _type(rng, op)
    if not sizes:
        return None
    i = rng.randrange(len(sizes))
    known = 4 if sizes[i] == "?" else int(sizes[i])
    sizes[i] = str(rng.choice([known + 1, max(known - 1, 0), 2 * known, 0, 1, "?"]))
    return _set_type(op, place, sizes, element)


def change_rank(rng, op):
    place, sizes, element = _type(rng, op)
    if place is None:
        return None
    if sizes and rng.random() < 0.5:
        sizes.pop(rng.randrange(len(sizes)))
    else:
        sizes.insert(rng.randint(0, len(sizes)), rng.choice(["1", "3"]))
    return _set_type(op, place, sizes, element)


def change_element(rng, op):
    place, sizes, element = _type(rng, op)
    if place is None:
        return None
    return _set_type(op, place, sizes, rng.choice([other for other in ELEMENTS if other != element]))


def change_number(rng, op):
    """One number of an attribute, types in it aside."""
    numbers = list(re.finditer(r"(?<![\w.@\"])-?\d+(?![\w.])", op.properties))
    if not numbers:
        return None
    match = rng.choice(numbers)
    value = int(match[0])
    other = rng.choice([value + 1, value - 1, -value - 1, *NUMBERS])
    return replace(op, properties=op.properties[: match.start()] + str(other) + op.properties[match.end() :])


def change_word(rng, op):
    """A word of an attribute: of an enumeration, or a flag."""
    words = {"EQ": "NE", "FLOAT": "SIGNED", "SIGNED": "FLOAT", "true": "false", "false": "true", "DEFAULT": "BEST",
             "LOWER": "UPPER", "FFT": "RFFT", "NO_TRANSPOSE": "ADJOINT", "UNSIGNED": "TOTALORDER"}
    places = [match for match in re.finditer(r"\w+", op.properties) if match[0] in words]
    if not places:
        return None
    match = rng.choice(places)
    return replace(op, properties=op.properties[: match.start()] + words[match[0]] + op.properties[match.end() :])


def _entries(properties):
    """The entries of the dictionary."""
    entries, depth, last = [], 0, 0
    for i, char in enumerate(properties):
        depth += (char in "([{<") - (char in ")]}" or (char == ">" and properties[i - 1] != "-"))
        if char == "," and depth == 0:
            entries.append(properties[last:i].strip())
            last = i + 1
    return entries + ([properties[last:].strip()] if properties.strip() else [])


def drop_attribute(rng, op):
    entries = [entry for entry in _entries(op.properties)]
    if not entries:
        return None
    entries.pop(rng.randrange(len(entries)))
    return replace(op, properties=", ".join(entries))


def change_length(rng, op):
    """An array of integers gets one more or one less."""
    places = list(re.finditer(r"array<i64: ([^>]*)>|= \[([\d, -]+)\]", op.properties))
    if not places:
        return None
    match = rng.choice(places)
    group = 1 if match[1] is not None else 2
    values = match[group].split(", ")
    values = values[:-1] if len(values) > 1 and rng.random() < 0.5 else [*values, values[-1]]
    start, end = match.span(group)
    return replace(op, properties=op.properties[:start] + ", ".join(values) + op.properties[end:])


def drop_operand(rng, op):
    if not op.operands:
        return None
    i = rng.randrange(len(op.operands))
    return replace(op, operands=op.operands[:i] + op.operands[i + 1 :])


def duplicate_operand(rng, op):
    if not op.operands:
        return None
    i = rng.randrange(len(op.operands))
    return replace(op, operands=op.operands[: i + 1] + op.operands[i:])


def swap_operands(rng, op):
    pairs = [(i, j) for i in range(len(op.operands)) for j in range(i) if op.operands[i] != op.operands[j]]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    return replace(op, operands=_with(_with(op.operands, i, op.operands[j]), j, op.operands[i]))


def drop_result(rng, op):
    return replace(op, results=op.results[:-1]) if op.results else None


def duplicate_result(rng, op):
    return replace(op, results=(*op.results, op.results[-1])) if op.results else None


MUTATIONS = [change_size, change_size, change_rank, change_element, change_element, change_number, change_number,
             change_number, change_word, drop_attribute, change_length, drop_operand, duplicate_operand, swap_operands,
             drop_result, duplicate_result]


def mutants(rng, ops, count):
    """(mutation, what op it was, what it became), `count` different ones: of every op, then of each kind in turn."""
    kinds = {}
    for op in ops:
        kinds.setdefault(op.name, []).append(op)
    found, turn = {}, list(ops)
    while len(found) < count:
        for op in turn:
            mutation = rng.choice(MUTATIONS)
            changed = mutation(rng, op)
            if changed and changed != op:
                found.setdefault(changed.text(), (mutation.__name__, op, changed))
        turn = [rng.choice(kind) for kind in kinds.values()]
    return list(found.values())[:count]
