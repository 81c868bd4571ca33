"""round_trip.py MINIMUM: every valid program of the repository's .mlir files through sdy-opt and through sdy-opt's
bytecode gives the same text. Fails, too, if there are fewer programs than MINIMUM. Expects sdy-opt on the path.
"""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OPT = ["sdy-opt", "-allow-unregistered-dialect"]


def programs():
    """(name, text) of each file's parts, as -split-input-file would see them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.mlir"], cwd=ROOT, capture_output=True,
        text=True, check=True
    )
    for file in sorted(listed.stdout.split()):
        for number, part in enumerate((ROOT / file).read_text().split("// -----")):
            yield f"{file}, part {number + 1}", part


def run(*options, text):
    done = subprocess.run([*OPT, *options], input=text, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def check(program):
    """None if the program is not valid, else what is wrong with it, or ""."""
    name, text = program
    printed = run(text=text.encode())
    if printed is None:
        return None
    bytecode = run("--emit-bytecode", text=text.encode())
    again = bytecode and run(text=bytecode)
    if again == printed:
        return ""
    return f"{name}: {'changed' if again else 'not read' if bytecode else 'not written'} as bytecode\n"


def main():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [complaint for complaint in pool.map(check, programs()) if complaint is not None]
    print("".join(complaints), end="")
    print(len(complaints), "programs")
    return 1 if any(complaints) or len(complaints) < int(sys.argv[1]) else 0


sys.exit(main())
