"""compile_once.py FILE WARM-UP: what `shardonnay.compile(text)` takes, text to text, as one line of JSON.

CPU and wall seconds from the text to the program and its diagnostics, and the peak of memory over what the
process held before, the text included. WARM-UP is a small program that is compiled first: what a process pays once,
pages of code above all, is paid then. A refusal is {"refused": why}.
"""

import json
import re
import sys
import time
from pathlib import Path

import shardonnay


def _status_bytes(key):
    return int(re.search(rf"{key}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024


def measure(text):
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak to what is resident now
    before = _status_bytes("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    compiled = shardonnay.compile(text)
    whole = compiled.text, compiled.diagnostics
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"seconds": cpu, "wall": wall, "bytes": _status_bytes("VmHWM") - before, "characters": len(whole[0])}


def main(path, warm_up):
    measure(Path(warm_up).read_text())
    text = Path(path).read_text()
    try:
        print(json.dumps(measure(text)))
    except shardonnay.CompileError as error:
        print(json.dumps({"refused": str(error.diagnostics[0])}))


if __name__ == "__main__":
    main(*sys.argv[1:])
