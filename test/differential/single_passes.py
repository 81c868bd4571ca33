"""Cases of the known passes alone: each on what the passes before it make, by jaxlib, of a generated program.

Programs come in kinds, which take turns: meshes of even and uneven sizes, with axes of size 1, several meshes in a
module, unreduced axes, groups, priorities, calls, manual computations, tokens.
"""

import random

from random_graphs import MORE_OPS, OPS, Program, group, tensor
from structure import STRUCTURE

IMPORTED = "sdy-import-pipeline"
FLAT = (
    f"{IMPORTED},sdy-flatten-call-graph,sdy-import-func-calls,sdy-apply-sharding-constraints,sdy-sharding-group-import"
)
EDGES = f"{IMPORTED},sdy-add-func-data-flow-edges,sdy-apply-sharding-constraints,sdy-sharding-group-import"
PROPAGATED = f"{FLAT},sdy-pre-order-funcs,sdy-user-priority-propagate"
EXPORTED = f"{PROPAGATED},sdy-export-named-computations"
RESULTS = f"{EXPORTED},sdy-propagate-to-func-results"
CLOSED = (
    f"{RESULTS},func.func(sdy-sink-data-flow-edges),sdy-remove-sharding-groups,"
    "func.func(sdy-sharding-constraint-to-reshard),sdy-close-shardings"
)
PLANNED = "sdy-propagation-pipeline"
RESHARDED = f"{PLANNED},func.func(sdy-insert-explicit-reshards{{enable-full-version=true}})"
COLLECTIVES = f"{RESHARDED},func.func(sdy-reshard-to-collectives)"
ORIGINS, RECORDS = "debug-sharding-origins", "debug-propagation-edge-sharding"
RECORDED = f"{FLAT},sdy-user-priority-propagate{{{ORIGINS}=true {RECORDS}=true}}"
RULES = f"{FLAT},sdy-basic-propagate{{keep-sharding-rules=true}}"

COMMON = ["keep-sharding-rules=true", "conservative-propagation=true", f"{ORIGINS}=true", f"{RECORDS}=true"]
STRATEGIES = ["propagation-strategy=basic", "propagation-strategy=basic-then-aggressive"]
ONE_LEVEL = ["run-op-priority-propagation=false"]
# (anchor, pass, what jaxlib runs before it, options): a case without options, and one for each.
PASSES = [
    ("module", "sdy-inline-meshes", PLANNED, []),
    ("module", "sdy-flatten-call-graph", IMPORTED, []),
    (
        "module",
        "sdy-import-func-calls",
        f"{IMPORTED},sdy-flatten-call-graph",
        ["add-data-flow-edges-on-named-computations=false"],
    ),
    ("module", "sdy-propagate-sharding-from-func-to-call", "", []),
    ("module", "sdy-lift-inlined-meshes", "sdy-inline-meshes", []),
    ("module", "sdy-add-data-flow-edges", "", []),
    ("module", "sdy-add-func-data-flow-edges", IMPORTED, []),
    ("module", "sdy-apply-sharding-constraints", IMPORTED, [f"{ORIGINS}=true", f"{RECORDS}=true"]),
    ("module", "sdy-constant-or-scalar-splitter", "", []),
    ("module", "sdy-pre-order-funcs", IMPORTED, []),
    ("module", "sdy-sharding-group-import", IMPORTED, []),
    ("module", "sdy-manual-axes-cleanup", "", []),
    ("module", "sdy-remove-size-one-axes", "", []),
    ("func", "sdy-explicit-gather-scatter-batching", "", []),
    ("module", IMPORTED, "", ["dedup-functions-fully=true"]),
    ("module", "sdy-basic-propagate", FLAT, COMMON),
    ("module", "sdy-aggressive-propagate", FLAT, [*STRATEGIES, *COMMON]),
    ("module", "sdy-op-priority-propagate", FLAT, [*ONE_LEVEL, *STRATEGIES, *COMMON]),
    ("module", "sdy-user-priority-propagate", FLAT, [*ONE_LEVEL, *STRATEGIES, *COMMON]),
    ("func", "sdy-populate-op-sharding-rules", FLAT, ["conservative-propagation=true"]),
    ("module", PLANNED, "", ["dedup-functions-fully=true"]),
    ("func", "sdy-sharding-constraint-to-reshard", PROPAGATED, []),
    (
        "func",
        "sdy-sink-data-flow-edges",
        RECORDED,
        ["sink-debug-sharding-origins=true", "sink-debug-propagation-edge-sharding=true"],
    ),
    ("func", "sdy-sink-func-data-flow-edges", f"{EDGES},sdy-user-priority-propagate", []),
    ("module", "sdy-update-non-divisible-input-output-shardings", PROPAGATED, []),
    ("module", "sdy-remove-sub-axes-in-input-output-shardings", PROPAGATED, []),
    ("func", "sdy-insert-explicit-reshards", CLOSED, ["enable-full-version=true"]),
    ("func", "sdy-reshard-to-collectives", RESHARDED, ["keep-redundant-reshards=true"]),
    ("func", "sdy-remove-all-gather-reduce-scatter-for-cmv1", COLLECTIVES, []),
    ("module", "sdy-remove-sharding-groups", PROPAGATED, []),
    ("module", "sdy-close-shardings", PROPAGATED, []),
    ("func", "sdy-drop-sharding-rules", RULES, []),
    ("module", "sdy-drop-sharding-and-mesh", PLANNED, []),
    ("func", "sdy-constant-or-scalar-merger", PROPAGATED, []),
    ("module", "sdy-remove-propagation-debug-info", RECORDED, []),
    ("module", "sdy-export-named-computations", PROPAGATED, []),
    ("module", "sdy-propagate-to-func-results", EXPORTED, []),
    ("module", "sdy-unflatten-call-graph", RESULTS, ["dedup-functions-fully=true"]),
    ("module", "sdy-insert-func-call-reshards", RESULTS, []),
    (
        "module",
        "sdy-export-pipeline",
        RESULTS,
        [
            "enable-insert-explicit-collectives=true",
            "enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true",
            "avoid-export-for-partitioning=true",
            "keep-sharding-rules=true",
            "dump-sharding-origins=true",
            "dump-propagation-edges=true",
            "avoid-reshards-on-calls=true",
            "update-non-divisible-input-output-shardings=false",
        ],
    ),
    ("module", "sdy-resolve-permutation-factors", RESHARDED, ["enable-halo-exchange=false"]),
    ("func", "sdy-pad-for-divisibility", COLLECTIVES, []),
    (
        "module",
        "sdy-convert-global-to-local",
        COLLECTIVES,
        ["per-dim-all-gather=true", "combine-multi-dimension-reduce-scatter=true", "enable-rgv3=true"],
    ),
]
# By MLIR's name: the patterns are sdy's.
PASSES += [("module", "canonicalize", RESHARDED, [])]

LOCAL = "test/e2e/structure/test_known_passes.py"
ON_ONE = "shardonnay/transforms/partition/test/resolve-single-device-sharding.mlir"
PARTS = "shardonnay/transforms/export/test/verify-unreduced-axes.mlir"
INSTRUCTIONS = "shardonnay/pipeline/test/per-instruction-partitioning.mlir"
EXPORT = "shardonnay/pipeline/test/known-export.mlir"
SAVED = "shardonnay/transforms/export/test/save-module.mlir"
GRID = {"replica-count": LOCAL, "partition-count": LOCAL}
# What jaxlib 0.10.2 has not, or what is no text: {pass: {option, "" for the pass: its test}}.
ALONE = {
    "sdy-resolve-single-device-sharding": {"": ON_ONE, **GRID},
    "sdy-verify-unreduced-axes": {"": PARTS},
    "sdy-per-instruction-partitioning": {"": INSTRUCTIONS, "filter": INSTRUCTIONS, "enable-halo-exchange": INSTRUCTIONS,
                                         **GRID},
    "sdy-convert-global-to-local": GRID,
    "sdy-resolve-permutation-factors": GRID,
    "sdy-export-pipeline": {
        "dump-directory": SAVED,
        "inline-meshes": EXPORT,
        "enable-per-instruction-partitioning": EXPORT,
        "per-instruction-partitioning-filter": EXPORT,
        **GRID,
    },
}
LEVELS = ("basic", "aggressive", "op-priority", "user-priority")
ALONE |= {f"sdy-{level}-propagate": {"module-dump-directory": SAVED} for level in LEVELS}


def cases():
    """(name with options, pipeline, what is run before) of every pass and option."""
    for anchor, name, before, options in PASSES:
        for given in ["", *options]:
            written = f"{name}{{{given}}}" if given else name
            yield written, f"func.func({written})" if anchor == "func" else written, before


MESHES = {
    "even": {"a": 2, "b": 2, "c": 2},
    "uneven": {"a": 2, "b": 3, "c": 4},
    "ones": {"a": 2, "one": 1, "b": 4, "c": 1},
}


class Case(Program):
    """A program whose shardings may have unreduced and replicated axes too, and be on several meshes."""

    def __init__(self, seed, mesh="even", unreduced=0.0, meshes=(), **rest):
        self.unreduced, self.meshes, self.own = unreduced, meshes, random.Random(f"more {seed}")
        self._axes = MESHES[mesh]
        super().__init__(seed, even=mesh != "uneven", **rest)

    @property
    def axes(self):
        return self._axes

    @axes.setter
    def axes(self, given):
        pass  # The kind says it.

    def sharding(self, rank):
        text = super().sharding(rank)
        free = [axis for axis in self.axes if f'"{axis}"' not in text]
        if free and self.own.random() < self.unreduced:
            text = f'{text[:-1]}, unreduced={{"{self.own.choice(free)}"}}>'
        elif free and self.own.random() < 0.1:
            text = f'{text[:-1]}, replicated={{"{self.own.choice(free)}"}}>'
        if self.meshes and self.own.random() < 0.3:
            other = self.own.choice(self.meshes)
            text = "<@one, []>" if other == "one" else text.replace("@mesh", f"@{other}")
        return text

    def text(self):
        sizes, count = ", ".join(f'"{axis}"={size}' for axis, size in self.axes.items()), 1
        for size in self.axes.values():
            count *= size
        order = ", ".join(map(str, reversed(range(count))))
        declared = {
            "other": f"sdy.mesh @other = <[{sizes}], device_ids=[{order}]>\n",
            "one": "sdy.mesh @one = <[], device_ids=[1]>\n",
        }
        more = "".join(declared[name] for name in self.meshes)
        return super().text().replace("func.func @main", f"{more}func.func @main", 1)


def token(program, value, shape):
    """A value that waits for a token."""
    name, type = f"%t{len(program.lines)}", tensor(shape)
    program.lines.append(f"{name} = stablehlo.create_token : !stablehlo.token")
    program.lines.append(f"{name}a = stablehlo.after_all {name} : !stablehlo.token")
    program.lines.append(f"{name}b:2 = stablehlo.optimization_barrier {value}, {name}a : {type}, !stablehlo.token")
    program.emit(f"stablehlo.tanh {name}b#0 : {type}", shape)


STRUCTURED = OPS + STRUCTURE * 4
KINDS = [
    {"ops": OPS},
    {"ops": OPS + MORE_OPS, "mesh": "uneven"},
    {"ops": STRUCTURED},
    {"ops": OPS, "unreduced": 0.3},
    {"ops": OPS + MORE_OPS, "mesh": "ones"},
    {"ops": STRUCTURED, "mesh": "ones", "priorities": True},
    {"ops": OPS + [group] * 3, "priorities": True},
    {"ops": OPS + MORE_OPS + [token] * 4},
    {"ops": OPS, "meshes": ("other",)},
    {"ops": STRUCTURED, "unreduced": 0.15, "mesh": "uneven"},
    {"ops": OPS + MORE_OPS, "priorities": True},
    {"ops": OPS, "meshes": ("one",)},
]


def program(number):
    return Case(f"single pass {number}", length=10, **KINDS[number % len(KINDS)]).text()
