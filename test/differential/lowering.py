"""What jaxlib's passes wrote, lowered by our sdy-convert-global-to-local and run: python lowering.py [PROGRAMS [FIRST]]

Prints a line a program: that its numbers agree with the whole program, or what happened instead. jaxlib plans in a
process of its own.
"""

import subprocess
import sys

import jax_programs
import numpy as np
import shardonnay
from comparison import SDY_OPT, Refused
from shardonnay import boundary, compare, engine
from workers import Jaxlib

PLAN = (
    "builtin.module(sdy-propagation-pipeline,func.func(sdy-insert-explicit-reshards{enable-full-version=true},"
    "sdy-reshard-to-collectives),canonicalize)"
)
LOWER = "builtin.module(sdy-convert-global-to-local,sdy-drop-sharding-and-mesh)"


class Outcome(Exception):
    """Why there are no numbers: whose doing it is, and what they said."""


def planned(jaxlib, text):
    try:
        return jaxlib.run(text, PLAN)
    except Refused as refused:
        raise Outcome(f"jaxlib: {refused}") from None


def lowered(plan):
    done = subprocess.run([SDY_OPT, f"--pass-pipeline={LOWER}"], input=plan, capture_output=True, text=True)
    if done.returncode:
        error = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        raise Outcome(f"REFUSED: {error}")
    return done.stdout


def agreements(plan, text, run):
    """Of the whole program's outputs and what `run` (of the shards of inputs, and of how many devices) makes for each
    device.
    """
    # The plan says how each argument and result is sharded.
    manifest = shardonnay.compile(plan, to="collectives").manifest
    inputs = compare.random_inputs(manifest["inputs"])
    shards = [
        boundary.shard(entry, value, manifest["mesh"]) for entry, value in zip(manifest["inputs"], inputs, strict=True)
    ]
    pieces = run(shards, manifest["devices"])
    found = [
        boundary.assemble(entry, one, manifest["mesh"]) for entry, one in zip(manifest["outputs"], pieces, strict=True)
    ]
    expected = compare.reference(text, inputs)
    return compare.agreements(
        manifest["outputs"], [output for output, _ in found], [spread for _, spread in found], expected
    )


def verdict(jaxlib, text):
    """"agrees", or how far off it is."""
    plan = planned(jaxlib, text)
    local = lowered(plan)
    found = agreements(plan, text, lambda shards, devices: engine.Executable(local, devices, optimize=False)(shards))
    wrong = [str(agreement) for agreement in found if not agreement.ok]
    return "; ".join(wrong) if wrong else "agrees"


def outcome(jaxlib, text):
    try:
        return verdict(jaxlib, text)
    except Outcome as said:
        return str(said)


def main(count, first):
    engine.prepare(24)
    np.seterr(all="ignore")
    tally, jaxlib = {}, Jaxlib()
    for index, (name, text) in enumerate(jax_programs.programs(first + count).items()):
        if index < first:
            continue
        try:
            said = outcome(jaxlib, text)
        except Exception as error:  # it is to be named
            said = f"BROKEN: {type(error).__name__}: {error}"
        kind = said.split(":")[0] if ":" in said and not said.startswith("result") else said
        tally[kind[:60]] = tally.get(kind[:60], 0) + 1
        print(f"{name}: {said}", flush=True)
    print(tally)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (int(sys.argv[1]) if len(sys.argv) > 1 else 20, 0))
