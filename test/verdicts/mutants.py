"""Ops of StableHLO and CHLO, each alone in a function, and what one mutation makes of them."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = Path(__file__).resolve().parents[2]
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
    types = tuple(str(value.type) for value in operation.operands), tuple(str(value.type) for value in operation.results)
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


def _image(*shape):
    return jnp.ones(shape, jnp.float32)


def _pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")


def _convolve(x, w):
    return lax.conv_general_dilated(x, w, (2, 1), [(1, 1), (0, 2)], (1, 1), (1, 2), ("NHWC", "HWIO", "NHWC"))


PROGRAMS = [
    (lambda x, w: jax.grad(lambda a, b: _convolve(a, b).sum(), (0, 1))(x, w), _image(2, 8, 8, 4), _image(3, 3, 4, 6)),
    (lambda x: jax.grad(lambda a: _pool(a).sum())(x), _image(2, 8, 8, 4)),
    (lambda x: (jnp.sort(x), jnp.argsort(x, 0), jnp.cumsum(x), lax.top_k(x, 3)), _image(4, 8)),
    (lambda x: (jnp.fft.fft(x), jnp.linalg.cholesky(x), jnp.argmax(x, 1)), _image(8, 8)),
    (lambda x, i: (x[i], x.at[i].add(1.0), x.at[i].max(2.0), jnp.take(x, i, 1)), _image(8, 8), jnp.arange(3)),
    (lambda x: (jnp.einsum("ij,kj->ik", x, x), jnp.tensordot(x, x, 1), x @ x), _image(8, 8)),
    (lambda x: (x[1:7:2], jnp.pad(x, ((1, 2), (0, 0))), jnp.roll(x, 3, 1), x[::-1]), _image(8, 8)),
    (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x)), _image(4)),
    (lambda x: lax.cond(x.sum() > 0, lambda a: a, lambda a: -a, x), _image(4)),
    (lambda x: lax.scan(lambda c, a: (c + a, c * a), x[0], x), _image(4, 3)),
    (lambda x: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (1, 2), (2, 2)), (3, 4)), _image(8, 8)),
    (lambda k: (jax.random.normal(k, (4,)), jax.random.permutation(k, 8)), jax.random.key(0)),
    (lambda x: (jax.scipy.special.erfinv(x), lax.lgamma(x), lax.digamma(x), lax.erf(x), jnp.tan(x)), _image(4)),
    (lambda x: (lax.bitcast_convert_type(x, jnp.int8), x.astype(jnp.bfloat16), lax.reduce_precision(x, 5, 3)), _image(4)),
    (lambda x: (lax.complex(x, x), jnp.fft.rfft(x), jnp.angle(lax.complex(x, x))), _image(8)),
    (lambda x: lax.linalg.triangular_solve(x, x, left_side=True, lower=True), _image(4, 4)),
]


def corpus():
    """Every op of the dialects' tests that jaxlib accepts, and of some JAX programs."""
    files = [ROOT / "shardonnay/dialect" / name / "test" for name in ("stablehlo", "chlo")]
    texts = [file.read_text() for folder in files for file in sorted(folder.glob("*-ops.mlir"))]
    texts += [file.read_text() for file in sorted((ROOT / "test/programs").rglob("*.mlir"))]
    texts += [jax.jit(program).lower(*arguments).as_text() for program, *arguments in PROGRAMS]
    found = {}
    with jax_mlir.make_ir_context():
        for text in texts:
            for function in re.split(r"^// -----$|(?=^func\.func)", text, flags=re.M):
                try:
                    module = ir.Module.parse(function if "func.func" in function else "")
                except ir.MLIRError:
                    continue
                found.update((op.text(), op) for op in _ops_of(module))
            try:
                found.update((op.text(), op) for op in _ops_of(ir.Module.parse(text)))
            except ir.MLIRError:
                continue
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
    """(mutation, what op it was, what it became), `count` different ones; every op has its turn."""
    found = {}
    while len(found) < count:
        for op in ops:
            mutation = rng.choice(MUTATIONS)
            changed = mutation(rng, op)
            if changed and changed != op:
                found.setdefault(changed.text(), (mutation.__name__, op, changed))
    return list(found.values())[:count]
