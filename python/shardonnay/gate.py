"""Conditions on a report, for CI: `all_gather>1MiB`."""

import re
from dataclasses import dataclass

from .errors import ShardonnayError
from .report import UNITS, size

_KINDS = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter", "collective_broadcast")
_TOTALS = {
    "total": "all collectives",
    "peak": "memory that a device holds at once",
    "arguments": "arguments of a device",
}
HELP = (
    f"a collective ({', '.join(_KINDS)}; KIND@AXIS: those over a mesh axis), total, peak or arguments, then > or >=, "
    "then a number of bytes with its unit (1MiB) or, of collectives, a number of them (0)"
)
_CONDITION = re.compile(r"\s*([\w-]+)(?:@([^>\s]+))?\s*(>=?)\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


class GateError(ShardonnayError, ValueError):
    """A condition that cannot be read."""


@dataclass(frozen=True)
class Gate:
    """One condition. `axis`: only of collectives over it; `unit`: of the limit, "" for a number of collectives."""

    text: str
    of: str
    axis: str | None
    operator: str
    limit: float
    unit: str

    @classmethod
    def parse(cls, text):
        read = _CONDITION.fullmatch(text)
        if not read:
            raise GateError(f"{text!r}: expected a condition such as 'all_gather>1MiB', 'all_to_all>0' or 'peak>=8GiB'")
        of, axis, operator, number, unit = read.groups()
        of = of.replace("-", "_")
        if of not in (*_KINDS, *_TOTALS):
            raise GateError(f"{text!r}: expected one of {', '.join((*_KINDS, *_TOTALS))}, got {of!r}")
        if unit not in UNITS:
            raise GateError(f"{text!r}: expected a unit of {', '.join(filter(None, UNITS))}, got {unit!r}")
        if of in ("peak", "arguments") and (not unit or axis):
            raise GateError(f"{text!r}: {_TOTALS[of]}: expected bytes with a unit, such as {of}>8GiB")
        return cls(text, of, axis, operator, float(number) * UNITS[unit], unit)

    def check(self, names):
        """The axis is one of the mesh, by the names of its axes; else the condition would never hold."""
        if self.axis and self.axis.partition(":")[0] not in names:
            raise GateError(f"{self.text!r}: axis {self.axis!r} is not in the mesh, expected one of {', '.join(names)}")

    def value(self, report):
        """What the report has of it if the condition holds, else None."""
        if self.of in ("peak", "arguments"):
            found = report[{"peak": "peak_bytes", "arguments": "argument_bytes"}[self.of]]["per_device"]
        else:
            found = sum(self._count(entry) for entry in report["collectives"])
        return found if found > self.limit or (found == self.limit and self.operator == ">=") else None

    def _count(self, entry):
        if self.of not in ("total", entry["kind"]) or (self.axis and self.axis not in entry["axes"]):
            return 0
        return (entry["bytes"] if self.unit else entry["count"]) * max(1, entry["trips"])

    def tell(self, value):
        what = _TOTALS.get(self.of, self.of) + (f" over {self.axis!r}" if self.axis else "")
        return f"{what}: {size(value) if self.unit else value}"
