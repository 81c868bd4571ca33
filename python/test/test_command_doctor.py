"""`shardonnay doctor`, and what all commands share: colours, progress, exit codes."""

import io
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from shardonnay.cli import doctor, main
from shardonnay.cli.console import Console
from shardonnay.errors import Diagnostic

GOLDEN = f"""ok      python       VERSION at {sys.executable}
ok      package      shardonnay VERSION
ok      compiler     a matmul on two devices, 1 collective
ok      jax          jax VERSION, jaxlib VERSION
ok      cpu devices  the matmul agrees with the unpartitioned one
ok      colours      rich VERSION
ok      flax         flax VERSION
"""


def test_all_works_here(capsys):
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    told = re.sub(r"(?<=[ ])\d+(\.\d+){2,3}(?=[ ,\n])", "VERSION", out)
    assert (told, err) == (GOLDEN, "")


def test_what_is_installed_is_what_was_tested():
    root = Path(__file__).resolve().parents[2]
    (extra, _) = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["jax"]
    assert extra == f"jax>={doctor.TESTED_JAX[0]},<={doctor.TESTED_JAX[-1]}"
    assert f"jax=={doctor.TESTED_JAX[0]}" in (root / "scripts/requirements.txt").read_text().split()


def test_what_is_absent_is_said_with_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_version", lambda package: None)
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "ok      package      shardonnay from a source tree",
        "ok      compiler     a matmul on two devices, 1 collective",
        "absent  jax          needed by `shardonnay run` and to read artefacts of jax.export: pip install "
        "'shardonnay[jax]'",
        "absent  cpu devices  there is no jax",
        "absent  colours      output is plain without it: pip install rich",
        "absent  flax         models of flax need it: pip install flax",
    ]


def test_what_fails_is_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CHECKS", {"compiler": doctor._compiles, "package": doctor._package})
    monkeypatch.setattr(doctor, "_PROGRAM", "nonsense")
    assert main(["doctor", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert [entry["state"] for entry in told["checks"]] == ["failed", "ok"] and not told["ok"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def stderr_on_a_terminal(monkeypatch):
    """In the test itself: between fixtures and the test pytest puts a stderr of its own."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


ERROR = Diagnostic("error", "step.mlir:1:1", "wrong [C80]")


def test_colours_on_a_terminal(monkeypatch):
    terminal = stderr_on_a_terminal(monkeypatch)
    Console("stderr").diagnostic(ERROR)
    assert terminal.getvalue() == "\x1b[1;31mstep.mlir:1:1: error: wrong [C80]\x1b[0m\n"


def test_plain_text_elsewhere_and_without_rich(monkeypatch, capsys):
    terminal = stderr_on_a_terminal(monkeypatch)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    Console("stderr").diagnostic(ERROR)
    assert terminal.getvalue() == "step.mlir:1:1: error: wrong [C80]\n"
    Console("stdout").diagnostic(ERROR)
    assert capsys.readouterr().out == "step.mlir:1:1: error: wrong [C80]\n"


def test_progress_of_long_work_on_a_terminal(monkeypatch):
    terminal = stderr_on_a_terminal(monkeypatch)
    console = Console("stderr")
    with console.progress(after=0.01) as progress:
        progress("reshard")
        time.sleep(0.1)
    assert terminal.getvalue() == "\r\x1b[2Kreshard ... 0 s\r\x1b[2K"
    with console.progress(after=10) as progress:
        progress("emit")
    assert "emit" not in terminal.getvalue()


def test_no_progress_elsewhere(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Console("stderr").progress(after=0) as progress:
        progress("reshard")
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "CHECKS", {"python": interrupt})
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "shardonnay: interrupted\n"


def test_an_interrupt_does_not_wait_for_the_compiler(tmp_path):
    """Which runs outside of Python, as what stands for it here does, for minutes."""
    (tmp_path / "step.mlir").write_text("func.func @main() { return }")
    code = """
import hashlib, os, signal, sys, threading
from shardonnay.cli import main, shared
shared.compile = lambda *_, **__: hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.exit(main(["compile", "step.mlir"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "shardonnay: interrupted")
