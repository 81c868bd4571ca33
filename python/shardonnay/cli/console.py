"""What a person reads: plain text; on a terminal, where `rich` is installed, in colours and with progress."""

import contextlib
import functools
import sys
import threading
import time

_SEVERITIES = {"error": "bold red", "warning": "yellow", "note": "cyan", "remark": "cyan"}


class Console:
    def __init__(self, stream_name):
        self._stream_name = stream_name

    @property
    def stream(self):
        return getattr(sys, self._stream_name)

    @functools.cached_property
    def _rich(self):
        """A console of rich's, None if the stream is no terminal or rich is not there."""
        if not self.stream.isatty():
            return None
        try:
            from rich.console import Console as RichConsole
        except ImportError:
            return None
        return RichConsole(file=self.stream, highlight=False, soft_wrap=True)

    def line(self, text="", style=None):
        if self is err:  # What was printed before comes before, also where both go into one file.
            with contextlib.suppress(BrokenPipeError):
                sys.stdout.flush()
        if style and self._rich:
            self._rich.print(text, style=style, markup=False)
        else:
            print(text, file=self.stream)

    def diagnostic(self, diagnostic):
        self.line(str(diagnostic), _SEVERITIES.get(diagnostic.severity))

    @contextlib.contextmanager
    def progress(self, after=1.0):
        """A function to be told what is being done; a terminal shows it, with the seconds so far, after `after` of
        them.
        """
        if not self.stream.isatty():
            yield lambda doing: None
            return
        start, doing, ended = time.monotonic(), ["reading"], threading.Event()

        def show():
            wait = after
            while not ended.wait(wait):
                self.stream.write(f"\r\x1b[2K{doing[0]} ... {time.monotonic() - start:.0f} s")
                self.stream.flush()
                wait = 0.2
            if wait != after:
                self.stream.write("\r\x1b[2K")
                self.stream.flush()

        thread = threading.Thread(target=show, daemon=True)
        thread.start()
        try:
            yield lambda stage: doing.__setitem__(0, stage)
        finally:
            ended.set()
            thread.join()


out, err = Console("stdout"), Console("stderr")
