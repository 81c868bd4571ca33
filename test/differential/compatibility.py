"""Every known pass on generated programs, by jaxlib and by us: python compatibility.py [PROGRAMS]

Prints a row for each pass: of how many programs the text after it is the same, and the first one that differs. A pass is
tried on what the passes before it made, by jaxlib's, so both read the same module.
"""

import sys

from comparison import Refused, ours, theirs
from random_graphs import MORE_OPS, OPS, Program
from structure import STRUCTURE

# (pass, what jaxlib runs before it); func.func(...) where that is the anchor.
IMPORTED = "sdy-import-pipeline"
FLAT = f"{IMPORTED},sdy-flatten-call-graph,sdy-import-func-calls,sdy-apply-sharding-constraints,sdy-sharding-group-import"
PROPAGATED = f"{FLAT},sdy-pre-order-funcs,sdy-user-priority-propagate"
SETTLED = "sdy-propagation-pipeline"
RESHARDED = f"{SETTLED},func.func(sdy-insert-explicit-reshards{{enable-full-version=true}})"
CASES = [
    ("sdy-lift-inlined-meshes", ""),
    ("sdy-remove-size-one-axes", ""),
    ("sdy-propagate-sharding-from-func-to-call", ""),
    ("sdy-constant-or-scalar-splitter", ""),
    ("sdy-manual-axes-cleanup", ""),
    ("sdy-add-data-flow-edges", ""),
    ("sdy-add-func-data-flow-edges", IMPORTED),
    ("sdy-flatten-call-graph", IMPORTED),
    ("sdy-import-func-calls", f"{IMPORTED},sdy-flatten-call-graph"),
    ("sdy-apply-sharding-constraints", IMPORTED),
    ("sdy-sharding-group-import", IMPORTED),
    ("sdy-pre-order-funcs", IMPORTED),
    ("func.func(sdy-populate-op-sharding-rules)", FLAT),
    ("sdy-basic-propagate", FLAT),
    ("sdy-aggressive-propagate", FLAT),
    ("sdy-op-priority-propagate", FLAT),
    ("sdy-user-priority-propagate", FLAT),
    ("sdy-export-named-computations", PROPAGATED),
    ("func.func(sdy-constant-or-scalar-merger)", PROPAGATED),
    ("func.func(sdy-sink-data-flow-edges)", PROPAGATED),
    ("sdy-remove-sharding-groups", PROPAGATED),
    ("func.func(sdy-sharding-constraint-to-reshard)", PROPAGATED),
    ("sdy-update-non-divisible-input-output-shardings", PROPAGATED),
    ("sdy-remove-sub-axes-in-input-output-shardings", PROPAGATED),
    ("sdy-close-shardings", PROPAGATED),
    ("func.func(sdy-drop-sharding-rules)", PROPAGATED),
    ("func.func(sdy-insert-explicit-reshards)", SETTLED),
    ("func.func(sdy-insert-explicit-reshards{enable-full-version=true})", SETTLED),
    ("func.func(sdy-reshard-to-collectives)", RESHARDED),
    ("canonicalize", RESHARDED),
    ("sdy-drop-sharding-and-mesh", SETTLED),
]


def programs(count):
    for seed in range(count):
        ops = OPS + (STRUCTURE * 4 if seed % 2 else MORE_OPS)
        yield Program(f"compatibility {seed}", even=seed % 8 > 0, priorities=seed % 3 == 0, ops=ops, length=12).text()


def outcome(run, text, pipeline):
    """The module as jaxlib prints it, or that it is refused."""
    try:
        return theirs(run(text, pipeline), "builtin.module()")
    except Refused:
        return "refused"


def compare(name, before, texts):
    """(same, different, refused by us alone, the first program that differs)"""
    same = different = refused = 0
    first = None
    for text in texts:
        try:
            start = theirs(text, f"builtin.module({before})") if before else text
        except Refused:
            continue
        pipeline = f"builtin.module({name})"
        mine, other = outcome(ours, start, pipeline), outcome(theirs, start, pipeline)
        same += mine == other
        different += mine != other and mine != "refused"
        refused += mine != other and mine == "refused"
        first = first or (start if mine != other else None)
    return same, different, refused, first


def main(count):
    texts = list(programs(count))
    print("| pass | same | different | refused by us |\n|---|---|---|---|")
    for name, before in CASES:
        same, different, refused, first = compare(name, before, texts)
        print(f"| `{name}` | {same} | {different} | {refused} |", flush=True)
        if first:
            print(first, file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
