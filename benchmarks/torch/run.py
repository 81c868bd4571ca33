"""Training steps of ten models on eight gloo ranks, against DTensor (Megatron and data parallel) and `fully_shard`, on
the same placements.

    .venv-torch/bin/python benchmarks/torch/run.py [--steps N] [--one-process] [NAME...]

Bytes are what a device sends in rings, counted by the same mode (CommDebugMode) on both sides; steps take turns. Exits
with 1 if a step of ours sends more than theirs, its losses are not those of eager PyTorch, or a geometric mean is above
0.8. DTensor's losses may be others: under `fully_shard` a loss that relates samples is over those of a rank. With
--one-process nothing is sent: bytes alone.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
FOLDERS = [str(HERE), str(ROOT / "test/torch"), str(ROOT / "test/torch/engine")]
sys.path[:0] = FOLDERS
os.environ["PYTHONPATH"] = os.pathsep.join([*FOLDERS, *filter(None, [os.environ.get("PYTHONPATH")])])  # of the ranks

import programs  # noqa: E402
from cluster import Cluster  # noqa: E402
from one_process import OneProcess  # noqa: E402
from shardonnay.torch import partition  # noqa: E402
from stepping import eager_steps  # noqa: E402

BAR = 0.8
KINDS = {"all_gather_into_tensor": "gather", "_allgather_base_": "gather", "reduce_scatter_tensor": "scatter",
         "_reduce_scatter_base_": "scatter", "all_reduce": "reduce", "all_to_all_single": "move",
         "broadcast": "broadcast"}  # fmt: skip


def saved(name, strategy, path):
    """Our step in a file."""
    model, loss_fn, batch = programs.build(name)
    params = {key: programs.placements(strategy, key, value) for key, value in model.named_parameters()}
    plan = partition(
        model, loss_fn, batch, programs.MESHES[strategy], params=params, inputs=programs.batch_placements(strategy),
        optimizer=programs.OPTIMIZER
    )
    plan.save(path)
    return str(path)


def counted(each):
    return " ".join(f"{count} {KINDS.get(kind, kind)}" for kind, count in sorted(each["counts"].items()))


def other_losses(name, answer):
    """The sides whose first three losses are not those of eager PyTorch."""
    expected = list(map(float, eager_steps(*programs.build(name), programs.OPTIMIZER, 3)[0]))
    return [side for side in ("ours", "theirs")
            if any(abs(a - b) > 2e-3 * abs(b) for a, b in zip(answer[side]["losses"], expected))]


def mean(ratios):
    return statistics.geometric_mean(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10, help="that are timed, of each side")
    parser.add_argument("--one-process", action="store_true", help="that sends nothing: no losses, no times")
    parser.add_argument("names", nargs="*", help="MODEL or MODEL-STRATEGY")
    options = parser.parse_args()
    bytes_, times, more, differ = [], [], [], {"ours": [], "theirs": []}
    print(
        f"{'program':22} {'bytes':>10} {'theirs':>10} ratio  {'ms':>7} {'theirs':>7} ratio  collectives; theirs",
        flush=True,
    )
    cluster = OneProcess() if options.one_process else Cluster()
    with tempfile.TemporaryDirectory() as folder:
        for name in programs.PROGRAMS:
            for strategy in programs.MESHES:
                pair = f"{name}-{strategy}"
                if options.names and not {name, pair} & set(options.names):
                    continue
                path = saved(name, strategy, Path(folder) / "step.shard")
                answers = cluster(kind="call", file=str(HERE / "on_ranks.py"), function="contest", program=name,
                                  strategy=strategy, saved=path, times=options.steps)
                # What a rank sends may differ between ranks: that of the busiest counts.
                ours, theirs = (
                    dict(answers[0][side], bytes=max(answer[side]["bytes"] for answer in answers))
                    for side in ("ours", "theirs")
                )
                bytes_.append(ours["bytes"] / theirs["bytes"])
                times += [] if options.one_process else [ours["ms"] / theirs["ms"]]
                if ours["bytes"] > theirs["bytes"]:
                    more.append(pair)
                for side in [] if options.one_process else other_losses(name, answers[0]):
                    differ[side].append(pair)
                timed = (
                    f"{ours['ms']:7.1f} {theirs['ms']:7.1f}  {times[-1]:4.2f}"
                    if times
                    else f"{'-':>7} {'-':>7}  {'-':>4}"
                )
                print(f"{pair:22} {ours['bytes']:10,} {theirs['bytes']:10,}  {bytes_[-1]:4.2f}  {timed}  "
                      f"{ours['collectives']} ({counted(ours)}); {theirs['collectives']} ({counted(theirs)})",
                      flush=True)  # fmt: skip
    cluster.close()
    print(f"{len(bytes_)} programs; geometric means: bytes {mean(bytes_):.3f}, time "
          f"{f'{mean(times):.3f}' if times else '-'}; more bytes: {', '.join(more) or 'none'}")
    if not options.one_process:
        print(
            "losses other than eager's: "
            + "; ".join(f"{side}: {', '.join(pairs) or 'none'}" for side, pairs in differ.items())
        )
    return bool(more or differ["ours"]) or mean(bytes_) > BAR or bool(times and mean(times) > BAR)


if __name__ == "__main__":
    sys.exit(main())
