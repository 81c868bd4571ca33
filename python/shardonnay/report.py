"""A report to be read: what was decided, what is communicated and why, what it takes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COLUMNS = (16, 18, 6, 10, 0)
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
Entry = dict[str, Any]
_BYTES = re.compile(r"([-\d.]+)\s*([A-Za-z]*)")


def bytes_of(text: str) -> int:
    """Bytes of a text such as 1024, 1.5GiB; ValueError if it says none."""
    read = _BYTES.fullmatch(text.strip())
    if not read or read[2] not in UNITS:
        raise ValueError(f"got {text}")
    return int(read[1]) * UNITS[read[2]] if read[1].lstrip("-").isdecimal() else round(float(read[1]) * UNITS[read[2]])


def size(count: float) -> str:
    """Bytes as text."""
    for unit in ("B", "KiB", "MiB"):
        if count < 10240:
            return f"{count:,.0f} {unit}"
        count /= 1024
    return f"{count:,.0f} GiB"


def _row(*cells: object) -> str:
    return "  " + " ".join(f"{cell!s:<{width}}" for cell, width in zip(cells, COLUMNS, strict=True)).rstrip()


def seen_from_here(location: str) -> str:
    """A source location with its path relative to the current folder, if that has it."""
    return location.removeprefix(f"{Path.cwd()}/")


def place(entry: Entry) -> str:
    """Where a collective comes from: line and scope."""
    return f"{seen_from_here(entry['source'])}  {entry['name']}"


def runs(entry: Entry) -> str:
    """How often a collective runs, if it is not once."""
    if entry["trips"] == 1 and entry["trips_known"]:
        return ""
    return f"  (in a loop, {entry['trips'] if entry['trips_known'] else 'an unknown number of'} times)"


def _listed(names: list[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def lines(report: Entry, causes: bool = True) -> Iterator[str]:
    """The lines of a `Program.report`, with the reason of every collective under it if `causes`."""
    shardings, devices = report["shardings"], report["devices"]
    yield (
        f"shardings: {shardings['given']} tensors given, {shardings['decided']} decided, "
        f"of {shardings['tensors']} in the program"
    )
    if order := report.get("order"):
        choices = {
            "propagated after the others": "later",
            "carried by loops as given": "carried",
            "split so that devices share each batch": "split",
        }
        said = "; ".join(f"{choice}: {_listed(order[key])}" for choice, key in choices.items() if order[key])
        yield f"{said}, as the plan costs {order['price'] / order['price_as_given']:.2f} of what it would"
    yield ""
    yield "collectives, bytes as each device sends them in a step:"
    yield _row("kind", "axes", "count", "bytes", "source")
    for entry in report["collectives"]:
        cells = entry["kind"], ", ".join(entry["axes"]), entry["count"], size(entry["bytes"])
        yield _row(*cells, f"{place(entry)}{runs(entry)}")
        if causes and entry["cause"]:
            yield f"      {entry['cause']}"
    count = sum(entry["count"] for entry in report["collectives"])
    executed = report["executed_bytes"]
    loops = f"{size(executed)}, loops as often as they run" if executed != report["collective_bytes"] else ""
    yield _row("total", "", count, size(report["collective_bytes"]), loops)
    written = [entry for entry in report["collectives"] if entry["written"]]
    if written:
        sums = (sum(entry["count"] for entry in written), size(sum(entry["bytes"] for entry in written)))
        yield _row("of these by user", "", *sums, "written in manual computations")
    arguments, peak, flops = report["argument_bytes"], report["peak_bytes"], report["contraction_flops"]
    ratio = flops["per_device"] * devices / flops["global"] if flops["global"] else 1
    yield ""
    yield (
        f"memory per device: arguments {size(arguments['global'])} -> {size(arguments['per_device'])}, "
        f"peak {size(peak['global'])} -> {size(peak['per_device'])} (element-wise chains fused)"
    )
    yield f"matmul FLOPs: {flops['per_device']:,} on a device x {devices} / {flops['global']:,} = {ratio:.3f}"
