"""How often a factor of each kind is sharded: what the shardings that propagation finds do to the ops of a program."""

import collections
import re
import subprocess
from pathlib import Path

import shardonnay
from jaxlib.mlir import ir
from shardonnay import engine

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"
LISTS = ("reduction", "need_replication", "permutation", "blocked_propagation")


def _dims(text):
    """Per tensor of `([i, j], [])->([ij])`'s sides, per dim its factors, as sets of symbols."""
    found = []
    for tensor in re.findall(r"\[([^\]]*)\]", text):
        found.append([re.findall(r"[a-z](?:_\d+)?", dim) for dim in tensor.split(",")] if tensor else [])
    return found


def _sharded_dims(sharding):
    """Which dims of one sharding's text have axes."""
    inside = re.search(r"\[(.*?)\](?=>|, replicated|, unreduced|$)", sharding)
    return ['"' in dim for dim in re.findall(r"\{([^}]*)\}", inside[1])] if inside else []


def _of_value(value):
    owner = value.owner
    if isinstance(owner, ir.Block):
        function = owner.owner.operation
        if function.name != "func.func" or "arg_attrs" not in function.attributes:
            return ""
        attributes = ir.DictAttr(function.attributes["arg_attrs"][ir.BlockArgument(value).arg_number])
        return str(attributes["sdy.sharding"]) if "sdy.sharding" in attributes else ""
    if "sdy.sharding" not in owner.attributes:
        return ""
    texts = re.findall(
        r"<@\w+, \[.*?\](?:, (?:replicated|unreduced)=\{[^}]*\})*>", str(owner.attributes["sdy.sharding"])
    )
    at = ir.OpResult(value).result_number
    return texts[at] if at < len(texts) else ""


def _count(operation, counts):
    if "sdy.sharding_rule" not in operation.attributes:
        return
    text = str(operation.attributes["sdy.sharding_rule"])
    mapping = (
        text[text.index("(") : text.rindex(")") + 1] if " {" not in text else text[text.index("(") : text.index(" {")]
    )
    kinds = {symbol: name for name in LISTS[:3] if (found := re.search(rf"\b{name}=\{{([^}}]*)\}}", text))
             for symbol in found[1].split(", ")}
    values, sharded = [*operation.operands, *operation.results], set()
    for value, dims in zip(values, _dims(mapping), strict=False):
        for is_sharded, factors in zip(_sharded_dims(_of_value(value)), dims, strict=False):
            if is_sharded and factors:
                sharded.add(factors[0])
    counts.update(kinds.get(symbol, "pass-through") for symbol in sharded)


def sharded_factors(text):
    """{kind: how many factors of the ops are sharded} of a program; a rule has pass-through, reduction,
    need_replication and permutation (windowed) factors."""
    counts = collections.Counter()
    propagated = shardonnay.compile(text, to="propagate").text
    ruled = subprocess.run(
        [SDY_OPT, "-", "--sdy-populate-op-sharding-rules"], input=propagated, capture_output=True, text=True, check=True
    )
    with engine.context(), ir.Location.unknown():
        def visit(operation):
            _count(operation, counts)
            return ir.WalkResult.ADVANCE

        ir.Module.parse(ruled.stdout).operation.walk(visit)
    return counts
