#!/usr/bin/env python3
"""Puts known faults back, one at a time, and lets the campaign find them: [NAME ...] [--seeds A..B] [--tree DIR]

mutations/NAME.patch undoes a fix. What stands before its first `diff` says which fault it is; its line `find: ...` has
the campaign's arguments: the kind of verdict that shows the fault, and the families to look among (none named: all).
The patch is applied in a worktree of its own, whose compiler is built and then used by the campaign of this tree. A
fault is found if the campaign finds a verdict of that kind that the compiler of this tree does not give.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def git(tree, *arguments):
    subprocess.run(["git", "-C", tree, *arguments], check=True, stdout=subprocess.DEVNULL)


def prepare(tree):
    """A worktree of what is committed here."""
    if not tree.exists():
        git(ROOT, "worktree", "add", "--detach", tree, "HEAD")
    git(tree, "checkout", "-q", "--force", "--detach",
        subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip())
    if not (tree / ".venv").exists():
        (tree / ".venv").symlink_to(ROOT / ".venv")


def built(tree):
    """A folder with the tree's Python package."""
    if not (tree / "build/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", "build", "_core"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    package = tree / "build/package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(tree / "python/shardonnay", package / "shardonnay")
    for core in (tree / "build/python").glob("_core*.so"):
        shutil.copy(core, package / "shardonnay")
    return package


def campaign(arguments, package=None):
    """(whether a verdict of that kind was found, what was printed)"""
    environment = dict(os.environ)
    if package:
        environment["PYTHONPATH"] = str(package)
    done = subprocess.run([sys.executable, HERE / "campaign.py", *map(str, arguments)], text=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def find(patch, tree, seeds):
    """A line that says how the fault was found, and whether it was."""
    text = patch.read_text()
    arguments = re.search(r"^find: (.*)", text, re.M)[1].split()
    git(tree, "checkout", "-q", "--force", ".")
    git(tree, "apply", patch)
    package, out, start = built(tree), tree / "build/found" / patch.stem, time.monotonic()
    shutil.rmtree(out, ignore_errors=True)
    found, said = campaign(["--seeds", seeds, "--out", out, *arguments], package)
    seconds = time.monotonic() - start
    if not found:
        return f"{patch.stem}: NOT FOUND in seeds {seeds}, {seconds:.0f} s\n{said[-2000:]}", False
    where = re.findall(r"^(seed \d+, program \d+): (.*), \d+ s$", said, re.M)[-1]
    (file,) = out.glob("*.mlir")
    here, again = campaign(["--replay", file])
    if not here:
        return f"{patch.stem}: found what is wrong without the patch as well: {file}\n{again[-500:]}", False
    return f"{patch.stem}: found at {where[0]} ({where[1]}) in {seconds:.0f} s: {file}", True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", default="0..40")
    parser.add_argument("--tree", type=Path, default=Path("/tmp/shardonnay-mutant"))
    options = parser.parse_args()
    patches = [patch for patch in sorted((HERE / "mutations").glob("*.patch")) if not options.names
               or patch.stem in options.names]
    prepare(options.tree)
    failed = 0
    for patch in patches:
        line, found = find(patch, options.tree, options.seeds)
        print(line, flush=True)
        failed += not found
    print(f"{len(patches) - failed} of {len(patches)} found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
