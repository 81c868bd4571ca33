"""Names for the places in what users nest: batches, results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch.utils._pytree as pytree


def path_name(prefix: str, path: Iterable[Any]) -> str:
    """A dotted name for a place in a tree."""
    parts = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path]
    return ".".join(part for part in (prefix, *parts) if part)


def named_leaves(prefix: str, tree: Any) -> tuple[list[str], list[Any], pytree.TreeSpec]:
    paths, spec = pytree.tree_flatten_with_path(tree)
    return [path_name(prefix, path) for path, _ in paths], [leaf for _, leaf in paths], spec
