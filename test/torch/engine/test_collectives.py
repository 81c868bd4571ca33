"""Collectives of every kind, element type and grouping on eight ranks, against PJRT; what gloo lacks has its fallback.
"""

import numpy as np
import pytest
from shardonnay import engine as pjrt
from shardonnay.torch.engine import listing
from single import COMPLEX, FLOATS, INTEGERS, SMALL, numbers, tensor, verdict

GROUPS = {"all": [[0, 1, 2, 3, 4, 5, 6, 7]], "rows": [[0, 1, 2, 3], [4, 5, 6, 7]],
          "columns": [[0, 4], [1, 5], [2, 6], [3, 7]], "shuffled": [[3, 1, 0, 2], [6, 7, 5, 4]],
          "alone": [[i] for i in range(8)]}  # fmt: skip
PAIRS = {"ring": [[i, (i + 1) % 8] for i in range(8)], "two rings": [[0, 2], [2, 1], [1, 0], [5, 6], [6, 5]],
         "line": [[0, 1], [1, 2], [4, 3]]}
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


class Programs:
    """Collectives one after the other in one program: each has its argument and its result."""

    def __init__(self):
        self.arguments, self.results, self.ops, self.names = [], [], [], []

    def add(self, name, shape, element, result, op):
        """`op` has `$0` for its argument; its types are added."""
        at = len(self.ops)
        self.arguments.append((shape, element))
        self.results.append((result, element))
        types = f"({tensor(shape, element)}) -> {tensor(result, element)}"
        self.ops.append(f"%r{at} = {op.replace('$0', f'%a{at}')} : {types}")
        self.names.append(f"{name} of {element}")

    def text(self):
        arguments = ", ".join(f"%a{at}: {tensor(*argument)}" for at, argument in enumerate(self.arguments))
        types = ", ".join(tensor(*result) for result in self.results)
        values = ", ".join(f"%r{at}" for at in range(len(self.ops)))
        body = "\n".join(self.ops)
        return f"""module attributes {{mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}} {{
            func.func public @main({arguments}) -> ({types}) {{\n{body}\nreturn {values} : {types}\n}}\n}}"""

    def check(self, ranks, folder, tolerance=None):
        text = self.text()
        manifest = {
            "inputs": [{"dtype": e} for _, e in self.arguments],
            "outputs": [{"dtype": e} for _, e in self.results],
        }
        shards = [[numbers(shape, element, device) for device in range(8)] for shape, element in self.arguments]
        wanted = pjrt.Executable(text, 8, optimize=False)(shards)
        got, _ = ranks.run(listing.read(text, manifest), shards, folder)
        complaints = []
        for name, (_, element), a, b in zip(self.names, self.results, got, wanted):
            rough = {"bf16": 3e-2, "f16": 4e-3, "f32": 1e-5}.get(element, tolerance)
            found = [verdict(x, np.asarray(y), element, rough, rough or 0.0) for x, y in zip(a, b)]
            complaints += [f"{name} on device {device}: {each}" for device, each in enumerate(found) if each]
        assert not complaints, "\n".join(complaints[:20])


def reducer(kind, element):
    kind_ = tensor((), element)
    return (
        f"({{\n^bb0(%p: {kind_}, %q: {kind_}):\n%z = stablehlo.{kind} %p, %q : {kind_}\nstablehlo.return %z : "
        f"{kind_}\n}})"
    )


def listed(rows):
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


KINDS = {"add": [*FLOATS, *INTEGERS, *COMPLEX, "f8E4M3FN"], "multiply": [*FLOATS, *INTEGERS],
         "maximum": [*FLOATS, *INTEGERS, "i1"], "minimum": [*FLOATS, *INTEGERS, "i1"], "and": ["i1"],
         "or": ["i1"]}  # fmt: skip


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_reduce(kind, groups, ranks, tmp_path):
    programs = Programs()
    for element in KINDS[kind]:
        if element in SMALL and groups != "columns":  # sums of more than two round differently
            continue
        op = (
            f'"stablehlo.all_reduce"($0) <{{{CHANNEL}, replica_groups = {listed(GROUPS[groups])}, '
            f'use_global_device_ids}}> {reducer(kind, element)}'
        )
        programs.add(f"all_reduce {kind}", (3, 2), element, (3, 2), op)
        scatter = op.replace("all_reduce", "reduce_scatter").replace(
            "use_global", "scatter_dimension = 1 : i64, use_global"
        )
        size = len(GROUPS[groups][0])
        if element not in COMPLEX and size > 1:
            programs.add(f"reduce_scatter {kind}", (3, 8), element, (3, 8 // size), scatter)
    programs.check(ranks, tmp_path)


def test_a_column_that_was_a_row(ranks, tmp_path):
    """It is contiguous, and its only column is not one element after the other."""
    programs, all_ = Programs(), listed(GROUPS["all"])
    gather = f'"stablehlo.all_gather"($0) <{{all_gather_dim = 1 : i64, {CHANNEL}, replica_groups = {all_}, ' \
             'use_global_device_ids}>'
    for at, element in enumerate(["bf16", "f16", "i16", "complex<f32>"]):
        row, column = tensor((1, 3), element), tensor((3, 1), element)
        programs.add("all_gather of a column", (1, 3), element, (3, 8), gather)
        moved = programs.ops[at].replace(f"(%a{at})", f"(%t{at})").replace(row, column)
        programs.ops[at] = f"%t{at} = stablehlo.transpose %a{at}, dims = [1, 0] : ({row}) -> {column}\n{moved}"
    programs.check(ranks, tmp_path)


MOVED = [*FLOATS, *SMALL, *INTEGERS, *COMPLEX, "i1", "i4"]


@pytest.mark.parametrize("groups", ["all", "rows", "columns", "shuffled"])
def test_moves(groups, ranks, tmp_path):
    programs, size = Programs(), len(GROUPS[groups][0])
    for element in MOVED:
        gather = (
            f'"stablehlo.all_gather"($0) <{{all_gather_dim = 1 : i64, {CHANNEL}, replica_groups = '
            f'{listed(GROUPS[groups])}, use_global_device_ids}}>'
        )
        programs.add("all_gather", (2, 3), element, (2, 3 * size), gather)
        exchange = f"""\"stablehlo.all_to_all"($0) <{{{CHANNEL}, concat_dimension = 0 : i64, replica_groups = {listed(GROUPS[groups])},
            split_count = {size} : i64, split_dimension = 1 : i64}}>"""
        programs.add("all_to_all", (3, 16), element, (3 * size, 16 // size), exchange)
    programs.check(ranks, tmp_path)


@pytest.mark.parametrize("pairs", PAIRS)
def test_permutes(pairs, ranks, tmp_path):
    programs = Programs()
    for element in MOVED:
        op = f'"stablehlo.collective_permute"($0) <{{{CHANNEL}, source_target_pairs = {listed(PAIRS[pairs])}}}>'
        programs.add("collective_permute", (2, 3), element, (2, 3), op)
        programs.add("collective_permute", (), element, (), op)
    programs.check(ranks, tmp_path)


def test_bits_and_computations(ranks, tmp_path):
    """What PJRT's CPU client lacks: bitwise reductions of integers, computations of several ops; against NumPy."""
    rows = GROUPS["rows"]
    functions = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    programs = Programs()
    for element in ("i32", "ui8", "ui32", "i16", "i64"):
        for kind in functions:
            op = (
                f'"stablehlo.all_reduce"($0) <{{{CHANNEL}, replica_groups = {listed(rows)}, use_global_device_ids}}> '
                f'{reducer(kind, element)}'
            )
            programs.add(kind, (3, 4), element, (3, 4), op)
    manifest = {
        "inputs": [{"dtype": e} for _, e in programs.arguments],
        "outputs": [{"dtype": e} for _, e in programs.results],
    }
    shards = [[numbers(shape, element, device) for device in range(8)] for shape, element in programs.arguments]
    got, _ = ranks.run(listing.read(programs.text(), manifest), shards, tmp_path)
    for name, given, found in zip(programs.names, shards, got):
        for row in rows:
            wanted = functions[name.split()[0]].reduce([given[device] for device in row])
            assert all((found[device] == wanted).all() for device in row), name


def test_no_group_is_made_twice(ranks, tmp_path):
    """Programs with the same groups share them."""
    op = (
        f'"stablehlo.all_reduce"($0) <{{{CHANNEL}, replica_groups = {listed(GROUPS["rows"])}, '
        f'use_global_device_ids}}> {reducer("add", "f32")}'
    )
    counts = []
    for _ in range(2):
        programs = Programs()
        programs.add("all_reduce", (3,), "f32", (3,), op)
        programs.check(ranks, tmp_path)
        counts.append(ranks(kind="groups"))
    assert counts[0] == counts[1]
