"""The names of `known_names.txt` in sdy-opt's own registry: each pass on its anchor, each option with its default.

What a name does is tested where the pass is; here none may be missing, so that scripts written for the existing tools
run.
"""

import functools
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SDY_OPT = HERE.parents[1] / "build/bin/sdy-opt"
LINES = [line.split() for line in (HERE / "known_names.txt").read_text().splitlines() if line and line[0] != "#"]
PIPELINES = [line for line in LINES if line[0] == "pipeline"]
PASSES = [line for line in LINES if line[0] != "pipeline"]


def run(*options):
    return subprocess.run([SDY_OPT, *options], input="module {}", capture_output=True, text=True)


def anchored(anchor, name):
    return f"builtin.module(func.func({name}))" if anchor == "func" else f"builtin.module({name})"


@functools.cache
def registered(name):
    """{option: default} of a pass, as sdy-opt prints a pipeline that has it; under which op that is."""
    for anchor in ("module", "func"):
        done = run(f"--pass-pipeline={anchored(anchor, name)}", "--dump-pass-pipeline")
        if done.returncode == 0:
            break
    else:
        return None, {}
    text = done.stderr
    if not re.search(rf"\b{name}\b", text):  # a pipeline, printed as its passes
        return anchor, None
    found = re.search(rf"\b{name}\s*(?:\{{(.*?)\}})?\s*[,)\n]", text, re.DOTALL)
    return anchor, dict(option.split("=", 1) for option in (found[1] or "").split() if "=" in option)


@pytest.mark.parametrize("line", PASSES, ids=lambda line: line[1])
def test_pass(line):
    anchor, name, *options = line
    registered_anchor, found = registered(name)
    assert registered_anchor == anchor, "no such pass, or another anchor"
    if found is None:
        return check_pipeline(name, options)
    for option in options:
        key, default = option.split("=")
        assert key in found, f"no option {key}: {found}"
        assert found[key] == default
        given = f"{key}={default}" if default else f'{key}=""'
        done = run(f"--pass-pipeline={anchored(anchor, name + '{' + given + '}')}", "--dump-pass-pipeline")
        assert done.returncode == 0, done.stderr


@functools.cache
def help_text():
    return run("--help").stdout


@pytest.mark.parametrize("line", PIPELINES, ids=lambda line: line[1])
def test_pipeline(line):
    _, name, *options = line
    check_pipeline(name, options)


def check_pipeline(name, options):
    """Its options are in the help, and their defaults change nothing."""
    entry = re.search(rf"^ +--{name} .*?\n(?= {{,6}}--\w)", help_text() + "\n      --z", re.DOTALL | re.MULTILINE)
    assert entry, "no such pipeline"
    for option in options:
        key, default = option.split("=")
        assert f"--{key}" in entry[0], f"no option {key}"
        # A default is what changes nothing: both ways to say it give one pipeline.
        given = f"{key}={default}" if default else f'{key}=""'
        plain, explicit = (
            run(f"--pass-pipeline=builtin.module({text})", "--dump-pass-pipeline")
            for text in (name, f"{name}{{{given}}}")
        )
        assert explicit.returncode == 0, explicit.stderr
        assert plain.stderr == explicit.stderr


def test_a_missing_name_is_noticed():
    assert registered("sdy-no-such-pass") == (None, {})
    assert "sdy-no-such-pipeline" not in help_text()
