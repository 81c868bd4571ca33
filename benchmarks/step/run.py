"""Step time on eight CPU devices: our program against what jax.jit makes of the same step with the same shardings.

    python benchmarks/step/run.py [--repeats N] [--all] [PART OF A NAME...]

The small steps of loops.py, and one strategy of every model of test/e2e/corpus.py (--all: all of them). Both programs
are PJRT executables that are fed arrays sharded as the program wants them; calls take turns, and the medians are
compared. Steps of a few milliseconds, whose medians of a few runs scatter by a fifth, are run for a second at least, or
a hundred times. Exits with 1 if the geometric mean of ours over theirs is above 1.0, or one program's ratio above 1.1.
"""

import argparse
import functools
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "scripts")]

import jax
import numpy as np
import shardonnay
from shardonnay import boundary, engine

engine.prepare(8)
import corpus  # noqa: E402 -- after the devices are there
import loops  # noqa: E402


@dataclass
class Contest:
    """Two callables that run a step and wait for its end."""

    name: str
    ours: callable
    theirs: callable

    def measure(self, repeats):
        """(our median, their median) in seconds of at least `repeats` calls each; the two take turns, and who is
        first.
        """
        times = {self.ours: [], self.theirs: []}
        turn, end = 0, time.perf_counter() + 1
        while turn < repeats + 2 or turn < 102 and time.perf_counter() < end:
            for step in (self.ours, self.theirs) if turn % 2 else (self.theirs, self.ours):
                start = time.perf_counter()
                step()
                if turn >= 2:
                    times[step].append(time.perf_counter() - start)
            turn += 1
        return statistics.median(times[self.ours]), statistics.median(times[self.theirs])


def _wait(outputs):
    for pieces in outputs:
        for piece in pieces:
            piece.block_until_ready()


def prepare(name, lowered, arguments):
    """Compiles a step both ways and places its inputs."""
    inputs = jax.tree.leaves(arguments)
    compiled = shardonnay.compile(lowered.as_text())
    mine = engine.Executable(compiled.text, compiled.manifest["devices"])
    mesh = compiled.manifest["mesh"]
    shards = [
        boundary.shard(entry, value, mesh) for entry, value in zip(compiled.manifest["inputs"], inputs, strict=True)
    ]
    fed = mine.place(shards)

    other = lowered.compile()
    shardings = jax.tree.leaves(other.input_shardings[0])
    placed = [jax.device_put(value, sharding) for value, sharding in zip(inputs, shardings, strict=True)]
    executable = other.runtime_executable()

    def theirs():
        _wait(executable.execute_sharded(placed).disassemble_into_single_device_arrays())

    return Contest(name, lambda: _wait(mine.run(fed)), theirs)


def steps(every):
    """Name -> what lowers it. Of each model all strategies or one: they take turns, those that a model names itself
    first.
    """
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")[:8]).reshape(2, 4), ("data", "model"))
    found = {name: functools.partial(loops.lowered, name, mesh) for name in loops.PROGRAMS}
    for turn, (name, model) in enumerate(corpus.MODELS.items()):
        strategies = model.also or corpus.EVERY
        for strategy in (*corpus.EVERY, *model.also) if every else [strategies[turn % len(strategies)]]:
            found[f"{name}-{strategy}"] = functools.partial(corpus.lowered, name, strategy)
    return found


def row(name, ours, theirs):
    return f"{name:28} {1e3 * ours:9.2f} {1e3 * theirs:9.2f}  {ours / theirs:5.2f}"


def conclude(ratios):
    """Prints the last line; True if a bar is missed."""
    mean = statistics.geometric_mean(ratios.values())
    slow = {name: round(ratio, 2) for name, ratio in ratios.items() if ratio > 1.1}
    print(f"{len(ratios)} programs; geometric mean {mean:.3f}; above 1.1: {slow or 'none'}")
    return mean > 1.0 or bool(slow)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    ratios = {}
    print(f"{'program':28} {'ours, ms':>9} {'jax.jit':>9}  ratio")
    for name, lower in steps(options.all).items():
        if options.names and not any(part in name for part in options.names):
            continue
        contest = prepare(name, *lower())
        ours, theirs = contest.measure(options.repeats)
        ratios[contest.name] = ours / theirs
        print(row(contest.name, ours, theirs), flush=True)
    return not ratios or conclude(ratios)


if __name__ == "__main__":
    sys.exit(main())
