"""The collectives of a transformer step are those that the designer of its schedule counts, and no more.

The designer's counts, for L layers of the model in schedules.py, each with p = 8 parameters (six matrices, two norms),
beside e = 3 of the whole model (table, last norm, head):

  BP    the batch is sharded. Every gradient is a sum over sequences, and so is the loss: pL + e + 1 all_reduce.
  MP    heads and hidden units are sharded. `out` and `down` sum over them, forward: 2L all_reduce; backward the
        gradients of what goes into query, key and value (three, added up first) and into `up` are such sums: 2L.
  Z2    of the z = 6L + 2 matrices (table and head, too) Adam's state is sharded along the batch's axis: their gradients
        are wanted in shards, so an all_reduce of each becomes a reduce_scatter; the new parameter is whole again: an
        all_gather. AR - z, RS + z, AG + z.
  Z3    the parameters as well: the gather stands before the step instead of behind it. One gather serves forward and
        backward: AG z (PartIR, which gathers again in the backward pass, counts 2z), RS z.
  EMB   words are sharded, in the table and in the head. A looked-up row is a sum over the devices of which one has it,
        and the gradient of what goes into the head is one over words: 2 all_reduce. The loss needs of the logits, over
        words, the maximum, the sum of exponentials and the label's own: 3. The gradients' sums over sequences stay.

The axes of a mesh are those of the schedule: an axis that idles would be used wherever that pays. So it is in the head
of BP+MP by the model of a CPU, whose links are as slow as its cores; that count is printed, and the formula's is held
by a model of what such schedules are made for. Adding small collectives up into one (--no-bucketing forbids it) is
counted beside.
"""

from collections import Counter

import pytest
import schedules
import shardonnay
from agrees import assert_agrees

P, E = schedules.PER_LAYER, len(schedules.GLOBALS)


def designed(layers, tactics):
    """The counts of the text above."""
    reduce = gather = scatter = 0
    matrices = len(schedules.MATRICES) * layers + 2
    if "BP" in tactics:
        reduce += P * layers + E + 1
    if "MP" in tactics:
        reduce += 4 * layers
    if "EMB" in tactics:
        reduce += 5
    if "Z2" in tactics or "Z3" in tactics:
        reduce, gather, scatter = reduce - matrices, matrices, matrices
    counts = {"all_reduce": reduce, "all_gather": gather, "reduce_scatter": scatter}
    return {kind: count for kind, count in counts.items() if count}


def counted(compiled):
    counts = Counter()
    for entry in compiled.report["collectives"]:
        counts[entry["kind"]] += entry["count"]
    return dict(counts)


SCHEDULES = [
    ("BP",), ("MP",), ("BP", "MP"), ("BP", "Z2"), ("BP", "Z3"), ("BP", "MP", "Z2"), ("BP", "MP", "Z3"),
    ("BP", "MP", "EMB"), ("BP", "MP", "Z2", "EMB"), ("BP", "MP", "Z3", "EMB"),
]  # fmt: skip


@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize("tactics", SCHEDULES, ids="+".join)
def test_counts_are_the_designers(tactics, layers, row):
    text, _ = schedules.lower(layers, tactics)
    wanted = designed(layers, tactics)
    for model in ("gpu-node", "tpu-torus"):
        assert counted(shardonnay.compile(text, device_model=model, no_bucketing=True)) == wanted, model
    bucketed = counted(shardonnay.compile(text, device_model="gpu-node"))
    assert sum(bucketed.values()) <= sum(wanted.values())
    cpu = counted(shardonnay.compile(text, no_bucketing=True))
    row(f"{'+'.join(tactics):14} L={layers}: {wanted}; bucketed {bucketed}; by the model `cpu` {cpu}")


@pytest.mark.parametrize("tactics", [("BP", "MP"), ("BP", "MP", "Z3", "EMB")], ids="+".join)
def test_numbers_agree(tactics):
    text, inputs = schedules.lower(1, tactics)
    compiled = shardonnay.compile(text, device_model="gpu-node")
    assert_agrees(compiled, text, inputs)
