"""Which shardings, meshes and collectives are valid: jaxlib's own dialects are asked, and the deviations are
documented.
"""

import math
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import jax  # noqa: F401  jaxlib.mlir needs it first
import pytest
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir

pytestmark = pytest.mark.pinned
ROOT = Path(__file__).resolve().parents[2]
SDY_OPT = ROOT / "build/bin/sdy-opt"
DEVIATIONS = ROOT / "docs/design/representation.md"
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
SEPARATOR = "\n// -----\n"


def jaxlib_accepts(programs):
    """Whether jaxlib's dialects parse and verify each program; in a process of its own, which a program may end."""
    done = subprocess.run([sys.executable, __file__], input=pickle.dumps(programs), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    return pickle.loads(done.stdout)


def answer():
    """The other process."""
    context = make_ir_context()
    context.allow_unregistered_dialects = True
    context.emit_error_diagnostics = False
    verdicts = []
    with context:
        for program in pickle.load(sys.stdin.buffer):
            try:
                ir.Module.parse(program)
                verdicts.append(True)
            except ir.MLIRError:
                verdicts.append(False)
    pickle.dump(verdicts, sys.stdout.buffer)


def we_accept(programs, *options):
    """Whether sdy-opt accepts each program, and its errors."""
    text = SEPARATOR.join(programs)
    done = subprocess.run(
        [SDY_OPT, "-split-input-file", "-allow-unregistered-dialect", *options],
        input=text,
        capture_output=True,
        text=True,
    )
    starts, line = [], 1
    for program in programs:
        starts.append(line)
        line += program.count("\n") + SEPARATOR.count("\n")
    errors, at = [[] for _ in programs], 0
    found = [(int(m[1]), m[2]) for m in re.finditer(r"^(?:<stdin>|\S+?):(\d+):\d+: error: (.*)$", done.stderr, re.M)]
    for number, message in sorted(found):
        while at + 1 < len(starts) and starts[at + 1] <= number:
            at += 1
        errors[at].append(message)
    return [not each for each in errors], errors


def deviations():
    """(program, jaxlib accepts, we accept) of each row of the table."""
    rows = re.findall(r"^\| `(.*)` \| (refuses|accepts) \| (refuses|accepts) \|", DEVIATIONS.read_text(), re.M)
    return [(program, jaxlib == "accepts", ours == "accepts") for program, jaxlib, ours in rows]


def test_the_deviations_are_what_the_table_says():
    rows = deviations()
    assert len(rows) > 8
    programs = [MESH + program for program, _, _ in rows]
    theirs, (ours, errors) = jaxlib_accepts(programs), we_accept(programs)
    for (program, their_word, our_word), they, we, error in zip(rows, theirs, ours, errors):
        assert (they, we) == (their_word, our_word), (program, error)
        assert they != we, program


# ----------------------------------------------------------------------------------------------------------------------
# Random shardings
# ----------------------------------------------------------------------------------------------------------------------

SIZES = [1, 2, 2, 3, 4, 4, 6, 8, 12, 16]


class Sample:
    """A random mesh, a type and a sharding; most are nearly valid."""

    def __init__(self, rng):
        self.rng = rng
        self.axes = [(name, rng.choice(SIZES)) for name in rng.sample("abcd", rng.randint(1, 4))]
        if rng.random() < 0.02:
            self.axes[-1] = (self.axes[0][0], rng.choice([0, 1, 2]))
        self.kind = ""
        self.unused = self.splitting()
        self.shape = [rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 48, "?"]) for _ in range(rng.randint(0, 3))]
        self.dims = [(self.take(2), rng.random() < 0.3, self.priority()) for _ in self.shape]
        self.replicated, self.unreduced = self.take(2), self.take(2)
        if rng.random() < 0.8:
            self.sort(self.replicated)
            self.sort(self.unreduced)
        if rng.random() < 0.03 and self.unreduced:
            self.kind = rng.choice(["sum", "max", "min"])
        if rng.random() < 0.05:
            self.dims = self.dims[1:] if rng.random() < 0.5 else [*self.dims, ([], False, "")]

    def splitting(self):
        """Parts of the axes, most of them whole axes, in random order."""
        parts = []
        for name, size in self.axes:
            pre = 1
            while pre < size:
                part = size // pre if self.rng.random() < 0.6 else self.divisor(size // pre)
                if part > 1:
                    parts.append((name, pre, part, size))
                    pre *= part
        self.rng.shuffle(parts)
        return parts

    def divisor(self, number):
        return self.rng.choice([d for d in range(1, number + 1) if number % d == 0])

    def take(self, most):
        taken = [self.unused.pop() for _ in range(min(len(self.unused), self.rng.randint(0, most)))]
        if self.rng.random() < 0.03 and self.axes:
            name, size = self.rng.choice(self.axes)
            taken.append((name, self.rng.randint(0, 4), self.rng.randint(0, 4), size))
        if self.rng.random() < 0.01:
            taken.append(("q", 1, 2, 2))
        return taken

    def priority(self):
        return f"p{self.rng.randint(0, 3)}" if self.rng.random() < 0.15 else ""

    def sort(self, parts):
        order = [name for name, _ in self.axes]
        parts.sort(key=lambda part: (order.index(part[0]) if part[0] in order else 9, part[1]))

    def text_of(self, part):
        name, pre, size, full = part
        if size == full and pre == 1 and self.rng.random() < 0.98:
            return f'"{name}"'
        return f'"{name}":({pre}){size}'

    def list_of(self, parts):
        return ", ".join(map(self.text_of, parts))

    def mesh(self):
        text = "[" + ", ".join(f'"{name}"={size}' for name, size in self.axes) + "]"
        devices = 1
        for _, size in self.axes:
            devices *= size
        chance = self.rng.random()
        if 0 < devices <= 16 and chance < 0.1:
            ids = list(range(devices))
            if chance < 0.07:
                self.rng.shuffle(ids)
            if chance < 0.01:
                ids[0] = self.rng.randint(-1, devices)
            text += f", device_ids={ids}"
        return f"<{text}>"

    def program(self):
        dims = []
        for parts, is_open, priority in self.dims:
            inside = self.list_of(parts) + ((", ?" if parts else "?") if is_open else "")
            dims.append("{" + inside + "}" + priority)
        text = "[" + ", ".join(dims) + "]"
        if self.replicated:
            text += ", replicated={" + self.list_of(self.replicated) + "}"
        if self.unreduced:
            text += ", unreduced=" + self.kind + "{" + self.list_of(self.unreduced) + "}"
        inlined, mesh = self.rng.random() < 0.2, self.mesh()
        where = "mesh" + mesh if inlined else "@m"
        type = "tensor<" + "".join(f"{size}x" for size in self.shape) + "f32>"
        value = f"{type} {{sdy.sharding = #sdy.sharding<{where}, {text}>}}"
        head = "" if inlined else f"sdy.mesh @m = {mesh}\n"
        return head + (
            f"func.func private @f({value})" if self.rng.random() < 0.7 else f"func.func private @f() -> ({value})"
        )

    def is_strict(self):
        """What the documents ask for beyond the verifiers: whole axes, and no axis where nothing is left to shard."""
        parts = [part for dim in self.dims for part in dim[0]] + self.replicated + self.unreduced
        if any(size != full for _, _, size, full in parts):
            return False
        for size, (axes, _, _) in zip(self.shape, self.dims):
            sizes = [part for _, _, part, _ in axes if part > 1]
            shards = math.prod(sizes)
            if sizes and size != "?" and shards > size and shards // sizes[-1] >= size:
                return False
        return True


def check_random(count, seed):
    rng = random.Random(seed)
    samples = [Sample(rng) for _ in range(count)]
    programs = [sample.program() for sample in samples]
    theirs = jaxlib_accepts(programs)
    ours, errors = we_accept(programs)
    accepted = [number for number, we in enumerate(ours) if we]
    words = zip(accepted, *we_accept([programs[number] for number in accepted], "-sdy-check-strict=strict"))
    strict_words = {number: (strict, error) for number, strict, error in words}
    for number, (sample, program, they, we, error) in enumerate(zip(samples, programs, theirs, ours, errors)):
        if sample.kind:  # the first row of the table
            assert not they, program
        else:
            assert they == we, (program, error)
        if we:
            strict, strict_error = strict_words[number]
            assert strict == sample.is_strict(), (program, strict_error)
    assert 0.2 < len(accepted) / count < 0.9, "too few of one kind"


def test_random_shardings_are_valid_where_jaxlib_says_so():
    check_random(10_000, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))  # sdy-opt's time grows with the square of the programs in one call
def test_100_000_random_shardings_are_valid_where_jaxlib_says_so(seed):
    check_random(10_000, seed)


if __name__ == "__main__":
    answer()
