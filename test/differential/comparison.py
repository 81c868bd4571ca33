"""The shardings that two compilers give to the tensors of one program."""

import re
import subprocess
from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager
from shardonnay import engine
from shardonnay.operations import operations

SDY_OPT = Path(__file__).resolve().parents[2] / "build/bin/sdy-opt"
TAG = "mhlo.tag"
# The real pipeline as it prints itself, to the point where every sharding is final: what follows inserts reshards.
# Ours has passes of the same names.
THEIRS = "sdy-propagation-pipeline"
LAST = "sdy-close-shardings"


class Refused(Exception):
    """One of the compilers does not take the program."""


def ours(text, pipeline):
    done = subprocess.run([SDY_OPT, f"--pass-pipeline={pipeline}"], input=text, capture_output=True, text=True)
    if done.returncode:
        raise Refused(next(iter(done.stderr.splitlines()), f"exit code {done.returncode}"))
    return done.stdout


def their_pipeline():
    with engine.context():
        body = str(PassManager.parse(f"builtin.module({THEIRS})"))
    inner = body[body.index("(") + 1 : -1]
    passes = inner[: inner.index(LAST) + len(LAST)]
    # Saving a module needs a folder, and the pass no name.
    return f"builtin.module({passes.replace('sdy-save-module,', '').replace(' module-dump-directory=', '')})"


def their_halves():
    """Import; and the rest, from propagation on."""
    whole, middle = their_pipeline(), ",sdy-user-priority-propagate"
    at = whole.index(middle)
    return whole[:at] + ")", f"builtin.module({whole[at + 1:]}"


def theirs(text, pipeline):
    with engine.context():
        try:
            module = ir.Module.parse(text)
            PassManager.parse(pipeline).run(module.operation)
        except ir.MLIRError as error:
            raise Refused(str(error).splitlines()[0]) from None
        return str(module)


def tagged(text, keep_calls=False):
    """The program as XLA's propagation gets it, every op with a number that passes keep.

    That is without calls (but those to be kept), CHLO and dead code, with reshapes for broadcasts that only add dims.
    """
    if not keep_calls:
        text = ours(text, "builtin.module(sdy-inline-private-functions)")
    with engine.context():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
        text = str(module)
    text = ours(text, "builtin.module(canonicalize{region-simplify=disabled})")
    with engine.context():
        module = ir.Module.parse(text)
        for number, operation in enumerate(operations(module)):
            if operation.name.startswith("stablehlo.") and len(operation.results):
                operation.attributes[TAG] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        return str(module)


def final(sharding):
    """Its text; None for one without axes: that is what no sharding means too."""
    text = str(sharding)
    return text if '{"' in text else None


def shardings(text):
    """{what: the shardings of its tensors}: arguments and results of @main, and the copies of every tagged op."""
    found = {}
    with engine.context():
        module = ir.Module.parse(text)
        for operation in operations(module):
            if operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == "main":
                types = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value)
                for kind, count in (("arg_attrs", len(types.inputs)), ("res_attrs", len(types.results))):
                    entries = list(operation.attributes[kind]) if kind in operation.attributes else [{}] * count
                    found[kind] = [
                        [final(entry["sdy.sharding"]) if "sdy.sharding" in entry else None for entry in entries]
                    ]
            elif TAG in operation.attributes:
                copies = found.setdefault(ir.IntegerAttr(operation.attributes[TAG]).value, [])
                if "sdy.sharding" in operation.attributes:
                    per_value = str(operation.attributes["sdy.sharding"])
                    of_results = [final(one) for one in re.findall(r"<@[^>]*>", per_value)]
                else:
                    of_results = [None] * len(operation.results)
                if of_results not in copies:
                    copies.append(of_results)
    return {what: sorted(copies, key=str) for what, copies in found.items()}


def differences(first, second):
    """(tensors, [(what, place, in the one, in the other)]): only what both have is compared."""
    count, found = 0, []
    for what in first.keys() & second.keys():
        width = len(first[what][0])
        for place in range(width):
            count += 1
            one, other = ({copy[place] for copy in side[what]} for side in (first, second))
            if one != other:
                found.append((what, place, one, other))
    return count, found
