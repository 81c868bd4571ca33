"""Where the axes of a value are said to come from, read from a propagated module, and whether the program bears it
out.
"""

import re
from dataclasses import dataclass

from jaxlib.mlir import ir
from shardonnay import engine
from shardonnay.operations import operations

SHARDING = re.compile(r"<@\w+, \[.*?\](?:, \w+=\{[^}]*\})*>")
AXIS = re.compile(r'"(\w+)"')


@dataclass
class Noted:
    """Of one value: the axes that shard it, and {axis: its origin}."""

    axes: set
    origins: dict


def axes_of(sharding):
    """Those of its dims."""
    return set(AXIS.findall(re.sub(r"(?:replicated|unreduced)=\{[^}]*\}", "", str(sharding))))


def entries(attribute):
    if attribute is None:
        return []
    if isinstance(attribute, ir.ArrayAttr):
        return [one for entry in attribute for one in entries(entry)]
    # The origin of a sub-axis is that of its axis, as far as this goes.
    return [{named.name.split(":")[0]: ir.StringAttr(named.attr).value for named in ir.DictAttr(attribute)}]


def found(text):
    """What origins are about.

    (a Noted for each argument and result of a function, and for each result of an op, in order; {origin: its axes};
    {origin: the place in the first} of ops that are one)
    """
    with engine.context():
        module = ir.Module.parse(text)
        values, sources, named, constraints, bodies = [], {}, {}, 0, 0
        for operation in operations(module):
            attributes = operation.attributes
            if operation.name == "func.func":
                types = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
                for kind, name, tensors in (
                    ("arg_attrs", "input", types.inputs),
                    ("res_attrs", "output", types.results),
                ):
                    for place, entry in enumerate(attributes[kind] if kind in attributes else [{}] * len(tensors)):
                        axes = axes_of(entry["sdy.sharding"]) if "sdy.sharding" in entry else set()
                        noted = entries(entry["sdy.sharding_origins"]) if "sdy.sharding_origins" in entry else [{}]
                        values.append(Noted(axes, noted[0]))
                        sources[f"{name}: {place}"] = axes
                continue
            if operation.name == "sdy.sharding_constraint":
                sources[f"constraint_{constraints}"] = axes_of(attributes["sharding"])
                constraints += 1
            if operation.name == "sdy.manual_computation":
                for kind, name in (("in_shardings", "input"), ("out_shardings", "output")):
                    for place, one in enumerate(SHARDING.findall(str(attributes[kind]))):
                        sources[f"mc_{bodies}_{name}: {place}"] = axes_of(one)
                bodies += 1
            given = next((attributes[name] for name in ("sdy.sharding", "sharding") if name in attributes), None)
            shardings = SHARDING.findall(str(given)) if given is not None else []
            noted = entries(attributes["sdy.sharding_origins"]) if "sdy.sharding_origins" in attributes else []
            for place in range(len(operation.results)):
                if "sdy.sharding_origin_name" in attributes:
                    named[f"{ir.StringAttr(attributes['sdy.sharding_origin_name']).value}: {place}"] = len(values)
                axes = axes_of(shardings[place]) if place < len(shardings) else set()
                values.append(Noted(axes, noted[place] if place < len(noted) else {}))
        return values, sources, named


def faults(start, text):
    """Axes that have no origin, or one that the program before propagation does not give them."""
    before, sources, _ = found(start)
    after, _, named = found(text)
    if len(before) != len(after):
        return ["other values"]
    sources |= {origin: before[place].axes for origin, place in named.items() if origin.startswith("op_")}
    wrong = []
    for given, now in zip(before, after):
        for axis, origin in now.origins.items():
            if axis not in now.axes:
                wrong.append((axis, origin, "does not shard the value"))
            elif (origin != "self" if axis in given.axes else axis not in sources.get(origin, ())):
                wrong.append((axis, origin, "did not give the axis"))
        wrong += [(axis, "", "has no origin") for axis in now.axes - set(now.origins)]
    return wrong
