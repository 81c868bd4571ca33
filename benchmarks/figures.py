#!/usr/bin/env python3
"""Runs every benchmark and writes what they print to figures.md: figures.py [NAME ...] [-o FILE].

With names, only these are run, and the other sections of the file stay as they are.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

import measured

# Name -> (heading, script and arguments)
SECTIONS = {
    "text": ("Text to text, as a user waits", ["text/run.py"]),
    "large": (
        "Growth to 10^6 lines",
        ["text/run.py", "--lines", "10000", "100000", "1000000", "--runs", "3", "--budget", "200", "--no-maxtext"],
    ),
    "meshes": ("Meshes of two to six axes", ["meshes/run.py"]),
    "bytes": ("Bytes that a device sends in a step", ["bytes/run.py"]),
    "maxtext-meshes": ("Bytes of MaxText's plans on other meshes", ["maxtext/meshes.py"]),
    "communication": ("Bytes of the programs of test/e2e/corpus.py", ["communication/run.py"]),
    "sizes": ("Bytes of steps at the sizes that people train", ["sizes/run.py"]),
    "step": ("Step time on eight CPU devices", ["step/run.py", "--repeats", "20"]),
    "twins": ("Numbers of MaxText's twins on eight CPU devices", ["maxtext/twins.py"]),
    "propagation": (
        "Passes only: propagation of prepared programs",
        ["propagation/run.py", "--ops", "1000", "10000", "100000"],
    ),
    "partition": (
        "Passes only: the whole compile of prepared programs",
        ["partition/run.py", "--ops", "1000", "10000", "100000"],
    ),
    "torch": ("PyTorch: bytes of a step, against DTensor and fully_shard", ["torch/run.py", "--one-process"]),
    "torch-steps": ("PyTorch: step time on eight gloo ranks", ["torch/run.py", "--steps", "3"]),
    "call": ("Calls of a partitioned function", ["call/run.py"]),
    "first": ("Time from a call to its first result", ["first/run.py"]),
    "stencil": ("A stencil in processes of MPI, against C", ["stencil/run.py"]),
    "rates": ("Rates of the device model `cpu`, beside this machine's", ["rates/run.py"]),
    "reshard": ("Reshards between all pairs of layouts", ["reshard/run.py"]),
}


def section(name):
    """The text of a section, from a run of its benchmark."""
    heading, command = SECTIONS[name]
    began = measured.machine()
    print(f"-- {' '.join(command)}", flush=True)
    python = HERE.parent / ".venv-torch/bin/python" if command[0].startswith("torch/") else sys.executable
    done = subprocess.run([python, HERE / command[0], *command[1:]], cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    ends = "" if done.returncode in (0, 1) else f"\nended with {done.returncode}\n"
    return (
        f"## {heading}\n\n`benchmarks/{' '.join(command)}`: {began}, {measured.load()} at the "
        f"end.\n\n```\n{done.stdout}{ends}```\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *SECTIONS], metavar="NAME", help=", ".join(SECTIONS))
    parser.add_argument("-o", dest="output", type=Path, default=HERE / "figures.md")
    options = parser.parse_args()
    old = re.split(r"^(?=## )", options.output.read_text(), flags=re.MULTILINE)[1:] if options.output.exists() else []
    kept = {text.splitlines()[0].removeprefix("## "): text.rstrip() + "\n" for text in old}
    for name in options.names or SECTIONS:
        kept[SECTIONS[name][0]] = section(name)
        texts = [kept[heading] for heading, _ in SECTIONS.values() if heading in kept]
        options.output.write_text("\n".join(["# Figures\n\nWritten by `benchmarks/figures.py`; what is measured and "
                                             "how: [README.md](README.md).\n", *texts]))


if __name__ == "__main__":
    main()
