#!/usr/bin/env python3
"""What scripts/check runs: [--long] [SUITE ...]

Suites, in order: format tidy layout docs types unit lit python programs names verdicts differential partition e2e torch
mesh dev fuzz benchmarks; all of them by default, torch where scripts/setup --torch was run, the last three with --long
only. A suite that ran nothing has failed. The last line is the sum: `N passed, N failed`.

--long  tidy on every file, property tests with 20 times the cases, line coverage, the tests marked `long`, unit and lit
        in build-dev/ (dev), fuzz, a quick run of each benchmark.
"""

import argparse
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "check"
LLVM = "/usr/lib/llvm-22/bin/"
CASES = {False: 100, True: 2000}


def output_of(*command, **more):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    return done.returncode, done.stdout


def git(*arguments):
    return output_of("git", *arguments)[1].split()


def sources():
    return [path for path in git("ls-files", "*.cpp", "*.h") if (ROOT / path).exists()]


def changed_sources():
    """The sources changed since the merge-base with origin/main; on main, or without it, in the last 20 commits."""
    on_main = output_of("git", "rev-parse", "--abbrev-ref", "HEAD")[1].strip() == "main"
    status, base = output_of("git", "merge-base", "HEAD", "origin/main")
    if on_main or status:
        base = (git("rev-list", "--max-count=21", "--first-parent", "HEAD") or ["HEAD"])[-1]
    changed = set(git("diff", "--name-only", base.strip(), "--", "*.cpp", "*.h"))
    return [path for path in sources() if path in changed]


def each(action, items):
    """(passed, failed) of action(item) -> its complaint or "", on all cores; complaints are printed."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(filter(None, pool.map(action, items)))
    print("".join(complaints), end="")
    return len(items) - len(complaints), len(complaints)


def junit(status, files):
    """(passed, failed) of JUnit files; a runner that failed without naming a failed test counts as one."""
    passed = failed = 0
    for file in files:
        for suite in ElementTree.parse(file).getroot().iter("testsuite"):
            tests, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            passed, failed = passed + tests - skipped - bad, failed + bad
    return passed, failed or int(status != 0)


def check_format(options):
    def action(path):
        status, text = output_of(LLVM + "clang-format", "--dry-run", "-Werror", path)
        return text or path if status else ""

    return each(action, sources())


def project_inputs():
    """{source: the files of this project that it includes, itself and generated ones too}, as ninja recorded them."""
    found = {}
    for block in output_of("ninja", "-C", str(BUILD), "-t", "deps")[1].split("\n\n"):
        files = (os.path.normpath(os.path.join(BUILD, line.strip())) for line in block.splitlines()[1:])
        files = sorted(Path(file) for file in files if file.startswith(f"{ROOT}/") and os.path.exists(file))
        for file in files:
            if file.suffix == ".cpp":
                found[str(file.relative_to(ROOT))] = files
    return found


def check_tidy(options):
    """Files that passed are remembered, by what clang-tidy read of this project."""
    inputs, memory = project_inputs(), BUILD / "tidy"
    memory.mkdir(exist_ok=True)

    def action(path):
        read = hashlib.sha256()
        for file in [ROOT / ".clang-tidy", *inputs.get(path, [ROOT / path])]:
            read.update(file.read_bytes())
        stamp = memory / read.hexdigest()
        if stamp.exists():
            return ""
        status, text = output_of(LLVM + "clang-tidy", "--quiet", "-p", str(BUILD), path)
        if status == 0:
            stamp.touch()
        return text if status else ""

    files = [path for path in (sources() if options.long else changed_sources()) if path.endswith(".cpp")]
    if not files:
        print("no source has changed")
        return 1, 0
    return each(action, files)


def check_layout(options):
    failed = 0
    scripts = ("scripts/check-layout", "scripts/check-constraints", "scripts/check-words")
    for script in scripts:
        status, text = output_of(script)
        print(text, end="")
        failed += status != 0
    return len(scripts) - failed, failed


def check_docs(options):
    """The generated pages are those of the sources; the site builds, and its links lead somewhere."""
    failed, commands = 0, (["scripts/reference-docs", "--check"], ["scripts/docs-site"])
    for command in commands:
        status, text = output_of(*command)
        print(text, end="")
        failed += status != 0
    return len(commands) - failed, failed


def check_types(options):
    """mypy on the package, and on a program that uses it as a user does."""

    def action(arguments):
        command = [ROOT / ".venv/bin/python", "-m", "mypy", "--cache-dir", BUILD / "mypy", *arguments]
        status, text = output_of(*command)
        return text if status else ""

    complaints = list(filter(None, map(action, ([], ["--strict", "python/test/typed_use.py"]))))
    print("".join(complaints), end="")
    return 2 - len(complaints), len(complaints)


def run_unit(build, cases):
    """Every test program that CMake registered, each with its own JUnit file."""
    results = RESULTS / f"unit-{build.name}"
    shutil.rmtree(results, ignore_errors=True)
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{results}/", RC_PARAMS=f"max_success={cases}")
    status, text = output_of(
        "ctest", "--test-dir", str(build), "-E", "^lit$", "-j", str(os.cpu_count()), "--output-on-failure",
        env=environment
    )
    if status:
        print(text)
    return junit(status, sorted(results.glob("*.xml")))


def check_unit(options):
    passed, failed = run_unit(BUILD, CASES[options.long])
    if not options.long:
        return passed, failed
    status, text = output_of("scripts/coverage")
    print(text, end="")
    return passed + (status == 0), failed + (status != 0)


def run_lit(build):
    results = RESULTS / f"lit-{build.name}.xml"
    results.unlink(missing_ok=True)
    status, text = output_of(LLVM + "lit", "-sv", f"--xunit-xml-output={results}", str(build / "test"))
    if status:
        print(text)
    return junit(status, [results] if results.exists() else [])


def check_lit(options):
    return run_lit(BUILD)


def check_dev(options):
    """unit and lit once more in build-dev/: with assertions, each pass verified, and what passes share computed again.
    """
    build = ROOT / "build-dev"
    for command in (["cmake", "--preset", "dev"], ["cmake", "--build", build]):
        status, text = output_of(*command)
        if status:
            print("\n".join(line[:500] for line in text.splitlines()[-40:]))
            return 0, 1
    counts = run_unit(build, CASES[False]), run_lit(build)
    return tuple(map(sum, zip(*counts)))


def pytest(folder, options, *more, venv=".venv"):
    results = RESULTS / (folder.replace("/", "-") + ".xml")
    results.unlink(missing_ok=True)
    marks = [] if options.long else ["-m", "not long"]
    status = subprocess.run(
        [ROOT / venv / "bin/python", "-m", "pytest", folder, *more, *marks, f"--junitxml={results}"], cwd=ROOT
    ).returncode
    return junit(status, [results] if results.exists() else [])


def check_fuzz(options):
    """A minute for each fuzzer."""
    status, text = output_of("scripts/fuzz", "60")
    print(text, end="")
    passed, failed = text.count(" ok\n"), text.count(" FAILED\n")
    return passed, failed or int(status != 0)


# A quick look at each benchmark: that it runs, and that what it compares has not become worse than its peer.
BENCHMARKS = {
    "text/run.py": ["--quick"],
    "meshes/run.py": ["--quick"],
    "bytes/run.py": ["--quick"],
    "maxtext/meshes.py": ["--quick"],
    "propagation/run.py": ["--quick"],
    "partition/run.py": ["--quick"],
    "reshard/run.py": ["--pairs", "300"],
    "communication/run.py": ["mixer"],
    "sizes/run.py": ["gnn"],
    "call/run.py": ["--quick"],
    "first/run.py": ["--quick"],
    "rates/run.py": ["--quick"],
    "stencil/run.py": ["--quick"],
}


def check_benchmarks(options):
    def action(name):
        status, text = output_of(ROOT / ".venv/bin/python", f"benchmarks/{name}", *BENCHMARKS[name])
        print(text, end="")
        return f"benchmarks/{name} failed\n" if status else ""

    complaints = list(filter(None, map(action, BENCHMARKS)))  # one at a time: they measure
    print("".join(complaints), end="")
    return len(BENCHMARKS) - len(complaints), len(complaints)


SUITES = {
    "format": check_format,
    "tidy": check_tidy,
    "layout": check_layout,
    "docs": check_docs,
    "types": check_types,
    "unit": check_unit,
    "lit": check_lit,
    "python": lambda options: pytest("python/test", options),
    "programs": lambda options: pytest("test/programs", options),
    "names": lambda options: pytest("test/known_names", options),
    "verdicts": lambda options: pytest("test/verdicts", options),
    "differential": lambda options: pytest("test/differential", options, "--ignore=test/differential/partition"),
    "partition": lambda options: pytest("test/differential/partition", options),
    "e2e": lambda options: pytest("test/e2e", options),
    "torch": lambda options: pytest("test/torch", options, venv=".venv-torch"),
    "mesh": lambda options: pytest("test/mesh", options, "-rs"),
    "dev": check_dev,
    "fuzz": check_fuzz,
    "benchmarks": check_benchmarks,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", choices=[[], *SUITES])
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    total_passed = total_failed = 0
    absent = [] if options.long else ["dev", "fuzz", "benchmarks"]
    if not (ROOT / ".venv-torch").exists():
        absent.append("torch")
    for name in options.suites or [name for name in SUITES if name not in absent]:
        print(f"-- check: {name}", flush=True)
        start = time.monotonic()
        passed, failed = SUITES[name](options)
        if passed + failed == 0:
            print(f"{name}: ran nothing")
            failed = 1
        print(f"{name}: {passed} passed, {failed} failed ({time.monotonic() - start:.0f} s)", flush=True)
        total_passed, total_failed = total_passed + passed, total_failed + failed
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
