"""How the tensors of a trace that runs have come about: by which calls, and whose memory they share."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from .recording import Call, Recorder, Token, kind_of, leaves_of, written_by


class History:
    """made: the call that has made a tensor, and which of its results that is (None: the only one)."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.made: dict[Token, tuple[Call, int | None]] = {}
        # Of tensors that share memory with earlier ones one of these.
        self._earlier: dict[Token, Token] = {}
        written: list[Token] = []
        for call in recorder.calls:
            given = list(leaves_of((call.args, call.kwargs), Token))
            kind = kind_of(call.op)
            written += leaves_of(written_by(call.op, call.args, call.kwargs), Token)
            parts = [(None, call.result)] if isinstance(call.result, Token) else enumerate(call.result or ())
            for part, token in parts:
                if token is None or token in given:
                    continue
                self.made.setdefault(token, (call, part))
                if given and (kind.viewed is not None or kind.is_composite):
                    self._earlier.setdefault(token, next(leaves_of(call.args[kind.viewed or 0], Token), given[0]))
        self._written = {self._first(token) for token in written}

    @classmethod
    def current(cls, with_call_of: Any = None) -> History | None:
        """Of the trace that runs, if one does; that has a call of this op, if one is given."""
        modes = _get_current_dispatch_mode_stack()
        recorder = next((mode for mode in reversed(modes) if isinstance(mode, Recorder)), None)
        if recorder is None or with_call_of and all(call.op is not with_call_of for call in recorder.calls):
            return None
        return cls(recorder)

    def _first(self, token: Token) -> Token:
        while token in self._earlier:
            token = self._earlier[token]
        return token

    def token(self, x: torch.Tensor) -> Token:
        return self.recorder.token(x)

    def is_written(self, token: Any) -> bool:
        """Whether a call has written to the tensor's memory."""
        return self._first(token) in self._written
