"""What every timing says and does alike: the machine, the load, medians with their spread, a process of its own."""

import datetime
import math
import os
import platform
import statistics
import subprocess
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def machine():
    """One line: when, on what, with what, at what load."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    named = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    model = next((value.strip() for key, value in named.items() if key.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.date.today():%d %B %Y}, {os.cpu_count()} cores of {model}, {memory:.0f} GiB, Python "
        f"{platform.python_version()}, jaxlib {metadata.version('jaxlib')}, Shardonnay {commit}; load {load()}"
    )


def load():
    """Of the last minute, and of the last fifteen."""
    return "{0:.1f} ({2:.1f})".format(*os.getloadavg())


def first_in_line():
    """Has the system run this process and what it starts before others, whose work would count in the wall time that
    XLA's log says.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        print("this user may not run before others: wall time counts their work too")


@dataclass(frozen=True)
class Spread:
    """Several figures of the same thing."""

    values: tuple

    @property
    def median(self):
        return statistics.median(self.values)

    def __str__(self):
        least, most = min(self.values), max(self.values)
        between = "" if len(self.values) == 1 else f" ({least:.3g}-{most:.3g})"
        return f"{self.median:.3g}{between}"


def spread(runs, key):
    return Spread(tuple(run[key] for run in runs))


def slope(points, size):
    """Of log seconds over the log of points' `size`, least squares."""
    xs, ys = ([math.log(point[key]) for point in points] for key in (size, "seconds"))
    return statistics.linear_regression(xs, ys).slope


def process(command, **more):
    """{"seconds" of the CPU, "wall", "bytes" at its peak, "status", "output"} of a command from start to end."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return {
        "seconds": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - start,
        "bytes": usage.ru_maxrss * 1024,
        "status": child.returncode,
        "output": output,
    }
