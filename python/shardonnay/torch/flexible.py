"""`flex_attention` while a step is captured: written out, as torch does itself on a CPU, whose gradients it refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._higher_order_ops.flex_attention import math_attention
from torch.nn.attention import flex_attention

from .replacing import replaced


def _written_out(*args: Any, **keywords: Any) -> Any:
    return math_attention(*args, **keywords)


@contextlib.contextmanager
def without_flexible_kernel() -> Iterator[None]:
    """While it lasts, `flex_attention` is matrix products and a softmax, of all scores."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(flex_attention, "_validate_device", lambda *_: None))
        stack.enter_context(replaced(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True))
        stack.enter_context(replaced(flex_attention, "flex_attention_hop", _written_out))
        yield
