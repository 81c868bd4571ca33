"""Verdicts in another process: what kills it, or takes too long, is a verdict too.

The process is started anew after each death, and now and then, as the engine gives back no memory. What it frees is
filled with rubbish, so that what is read after that is seen.
"""

import multiprocessing
import os
import signal
import time
import warnings
from pathlib import Path

import runner
from setting import DEVICES
from shardonnay import engine

BATCHES = 100


class Failed(Exception):
    """Of cases, all together: `kind` is their verdict if they are one case."""

    def __init__(self, kind, reason):
        super().__init__(reason)
        self.kind = kind


def _seconds(process):
    """The processor's time that it took: a busy machine is no hang."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _said_by(process, pipe, patience, phase):
    """What another process sends; Failed if it dies, computes for so long, or sleeps for ten times as long."""
    kind, start, before = "engine" if phase == "whole" else "", time.monotonic(), _seconds(process)
    try:
        while not pipe.poll(1):
            if _seconds(process) - before > patience or time.monotonic() - start > 10 * patience:
                break
        else:
            return pipe.recv()
    except EOFError:
        _, status = os.waitpid(process, 0)
        raise Failed(kind or "crash", f"{phase}: {signal.Signals(os.WTERMSIG(status)).name}") from None
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    raise Failed(kind or "hang", f"{phase}: no end")


def _compiled(text, setting, patience):
    """As runner's, in a fork of this process: if that dies the engine has not to be started again."""
    pipe, theirs = multiprocessing.Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the engine's threads, which the fork has not, do not compile
        process = os.fork()
    if not process:
        try:
            theirs.send(runner.compiled(text, setting))
        except Exception as error:
            theirs.send(error)
        os._exit(0)
    theirs.close()
    said = _said_by(process, pipe, patience, "compile")
    os.waitpid(process, 0)
    if isinstance(said, Exception):
        raise said
    return said


def _serve(pipe):
    engine.prepare(DEVICES)
    while True:
        try:
            cases, text, patience = pipe.recv()
        except EOFError:
            return  # the campaign has ended
        try:
            pipe.send(("done", runner.verdicts(cases, text, lambda name: pipe.send(("phase", name)),
                                               lambda *program: _compiled(*program, patience))))
        except Exception as error:
            pipe.send(("failed", getattr(error, "kind", "crash"), str(error) or type(error).__name__))


class Worker:
    """`verdicts` is as runner's. Each phase may take `patience` seconds, and one more for every two cases."""

    def __init__(self, patience=30):
        self._patience, self._process, self._pipe, self._batches = patience, None, None, 0

    def _start(self):
        os.environ["MALLOC_PERTURB_"] = "85"
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._batches = 0

    def stop(self):
        if self._process:
            self._process.kill()
            self._process.join()
        self._process = None

    def verdicts(self, cases, text=None):
        if self._batches == BATCHES:
            self.stop()
        if not self._process:
            self._start()
        self._batches += 1
        patience, phase = self._patience + len(cases) / 2, "compile"
        self._pipe.send((cases, text, patience))
        while True:
            try:
                kind, *said = _said_by(self._process.pid, self._pipe, patience + 10, phase)
            except Failed:
                self._process = None
                raise
            if kind == "done":
                return said[0]
            if kind == "failed":
                raise Failed(*said)
            (phase,) = said
