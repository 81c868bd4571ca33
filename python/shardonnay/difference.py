"""What changed between two compiled programs: shardings, collectives, bytes, memory."""

from collections import Counter, defaultdict

from .report import size

_BYTES = {
    "bytes sent": lambda report: report["collective_bytes"],
    "bytes sent, loops as often as they run": lambda report: report["executed_bytes"],
    "arguments per device": lambda report: report["argument_bytes"]["per_device"],
    "peak memory per device": lambda report: report["peak_bytes"]["per_device"],
}
_COUNTS = {
    "devices": lambda report: report["devices"],
    "collectives": lambda report: sum(entry["count"] for entry in report["collectives"]),
    "matmul FLOPs on a device": lambda report: report["contraction_flops"]["per_device"],
}


def _numbered(pairs):
    """{(key, how many of that key came before): value}"""
    seen, found = Counter(), {}
    for key, value in pairs:
        found[(key, seen[key])] = value
        seen[key] += 1
    return found


def _boundary(program):
    for kind, entries in (("input", program.manifest["inputs"]), ("output", program.manifest["outputs"])):
        for entry in entries:
            name = f" ({entry['name']})" if entry["name"] else ""
            told = entry["sharding"] or "replicated"
            yield (f"{kind} {entry['index']}{name}", f"{told}, {entry['local_shape']} on a device")


def _inside(values):
    """Of op results: by their place in the user's program if the text has it, else by name."""
    for value in values:
        if "argument" not in value["what"]:
            yield ((value["source"] or value["name"], value["what"]), value["sharding"] or "replicated")


def _changes(before, after):
    """[(key, before, after)], None where there is none."""
    keys = [*before, *(key for key in after if key not in before)]
    return [(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]


def _collectives(report):
    found = defaultdict(lambda: {"count": 0, "bytes": 0})
    for entry in report["collectives"]:
        # A line's number says little: the lines above it change.
        place = entry["name"] or f"{entry['operand']} -> {entry['result']}"
        sums = found[(entry["kind"], tuple(entry["axes"]), place)]
        sums["count"] += entry["count"]
        sums["bytes"] += entry["bytes"]
    return dict(found)


def differences(before, after, values_before=(), values_after=()):
    """What differs of two Programs, as JSON; "values" are what explain.explain says of each, () to leave them out.

    {"shardings": [{"value", "before", "after"}], "collectives": [{"kind", "axes", "place", "before", "after"}] with
     {"count", "bytes"} each, "totals": {name: {"before", "after"}} of all, equal or not}; null where there is none.
    """
    shardings = [
        {"value": key, "before": old, "after": new}
        for key, old, new in _changes(dict(_boundary(before)), dict(_boundary(after)))
    ]
    inside = _changes(_numbered(_inside(values_before)), _numbered(_inside(values_after)))
    shardings += [
        {"value": f"{what} at {place}", "before": old, "after": new}
        for ((place, what), _), old, new in inside
        if old and new
    ]
    collectives = [
        {"kind": kind, "axes": list(axes), "place": place, "before": old, "after": new}
        for (kind, axes, place), old, new in _changes(_collectives(before.report), _collectives(after.report))
    ]
    totals = {
        name: {"before": read(before.report), "after": read(after.report)} for name, read in (_COUNTS | _BYTES).items()
    }
    return {"shardings": shardings, "collectives": collectives, "totals": totals}


def differ(found):
    """Whether `differences` found any."""
    totals = found["totals"].values()
    return bool(found["shardings"] or found["collectives"]) or any(pair["before"] != pair["after"] for pair in totals)


def _change(old, new):
    if old == new:
        return "same"
    return f"{(new - old) / old:+.1%}" if old else "new"


def _count_line(sign, change, counts):
    axes = ", ".join(change["axes"])
    return f"{sign} {change['kind']:<18} {axes:<16} {counts['count']:>4} {size(counts['bytes']):>10}  {change['place']}"


def lines(found):
    """The differences, to be read: - what was, + what is."""
    if not differ(found):
        yield "no difference in shardings, collectives, bytes and memory"
        return
    for change in found["shardings"]:
        yield f"  {change['value']}"
        yield f"-     {change['before'] or 'not there'}"
        yield f"+     {change['after'] or 'not there'}"
    if found["collectives"]:
        yield "  collectives, bytes as each device sends them in a step:"
    for change in found["collectives"]:
        if change["before"]:
            yield _count_line("-", change, change["before"])
        if change["after"]:
            yield _count_line("+", change, change["after"])
    yield "  in all:"
    for name, pair in found["totals"].items():
        show = size if name in _BYTES else "{:,}".format
        old, new = pair["before"], pair["after"]
        yield f"    {name}: {show(old)} -> {show(new)} ({_change(old, new)})"
