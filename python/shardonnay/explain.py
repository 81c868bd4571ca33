"""Why a value has its sharding: which constraint each axis came from, along which ops, and what was refused."""

from . import _core, inputs
from .compiler import diagnostics_of
from .errors import CompileError
from .options import options_of
from .report import seen_from_here

_CONFLICTS = {
    "closed": "the dim is closed",
    "overflow": "the dim's axes leave no room for more",
    "used-by-factor": "the axis is used by {winner} dim {winner_dim}",
    "replicated": "the axis must not be used there",
    "unreduced": "the value is partial over the axis",
    "does-not-divide": "the axis does not divide its part of the dim",
    "disagreement": "{winner} dim {winner_dim} has other axes",
    "not-in-result": "the result does not have it",
    "blocked": "the op does not pass it on",
}
_RULES = {
    "given": "which was given",
    "user-priority": "whose priority came first",
    "op-priority": "which an op of higher priority gave",
    "larger-source": "whose source is larger",
    "more-shards": "which has more shards",
    "earlier-tensor": "whose source is the earlier operand",
    "earlier-factor": "which is the earlier factor",
    "came-first": "which came first",
}


def explain(module, *, options=None, name=None, **keywords):
    """A dict for each value with a sharding or a refused axis (shardonnay/pipeline/Explain.h); raises CompileError.

    module, options, name, keywords: as those of shardonnay.compile. The order of propagation depends on the price of
    the plan (`keep_propagated`, `device_model`, `search_mode` and others).
    """
    source = inputs.load(module, name)
    result = _core.explain(source.text, vars(options_of(options, keywords)), source.name)
    if not result.ok:
        raise CompileError(diagnostics_of(result))
    return result.report()


def select(values, query):
    """Those called `query` ("%5", "%2#1", "arg0", "result 0"), else those whose location or source has it in it."""
    names = {query, f"%{query}"}
    named = [value for value in values if value["name"] in names or value["name"].split("#")[0] in names]
    return named or [value for value in values if query in value["location"] or query in value["source"]]


def _place(location):
    return f"  {seen_from_here(location)}" if location else ""


def _axis_lines(axis):
    yield f'  dim {axis["dim"]} "{axis["axis"]}" <- {axis["origin"]} ({axis["given_on"]})'
    for step in axis["steps"]:
        yield (
            f"    step {step['step']}: from {step['from']} dim {step['from_dim']} by "
            f"{step['op']}{_place(step['location'])}"
        )


def _refusal_line(refused):
    offered = f", offered by {refused['offered_by']} dim {refused['offered_by_dim']}" if "offered_by" in refused else ""
    why = _CONFLICTS[refused["conflict"]].format(**refused)
    if refused["rule"] in _RULES:
        why += f", {_RULES[refused['rule']]}"
    return (
        f'  not dim {refused["dim"]} "{refused["axes"]}"{offered}: {why}; at '
        f'{refused["op"]}{_place(refused["location"])}'
    )


def lines(value):
    """The explanation of one value, to be read."""
    name = f"{value['name']}: " if value["name"] else ""
    yield f"{name}{value['what']}  {value['type']}{_place(value['location'])}{_place(value['source'])}"
    yield f"  {value['sharding'] or 'replicated'}"
    for axis in value["axes"]:
        yield from _axis_lines(axis)
    yield from map(_refusal_line, value["refused"])
