"""jaxlib's passes in a process of their own, which they may end: `Jaxlib().run(text, pipeline)`."""

import json
import subprocess
import sys

from comparison import Refused, theirs


class Ended(Refused):
    """jaxlib ended the process: an assertion of its own, or a crash."""


class Jaxlib:
    """A process that runs pipelines, started again when one has ended it."""

    def __init__(self):
        self._process = None

    def run(self, text, pipeline):
        """The module behind the passes; Refused if jaxlib refuses it, Ended if it ends the process."""
        if self._process is None:
            command = [sys.executable, __file__]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        try:
            print(json.dumps([text, pipeline]), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.close()
            raise Ended("jaxlib ended the process")
        kind, said = json.loads(answer)
        if kind == "refused":
            raise Refused(said)
        return said

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.kill()
            self._process.wait()
            self._process = None


def serve():
    for line in sys.stdin:
        try:
            answer = ["text", theirs(*json.loads(line))]
        except Refused as refused:
            answer = ["refused", str(refused)]
        except ValueError as error:  # a pass that is not registered
            answer = ["refused", str(error)]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
