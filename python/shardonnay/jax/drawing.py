"""How a value is sharded, drawn: a grid of the shards, each with the devices that hold it.

Rows and columns of a grid are the last two dims that are sharded; each part of the others has a grid of its own.
"""

import itertools
from dataclasses import dataclass
from html import escape

import jax
from jax.sharding import AbstractMesh, Sharding

from .. import notebook
from .meshes import MeshError

_MOST = 16  # rows, columns, grids, devices of a shard: what can be looked at
_LEFT_OUT = ("...",)  # stands for shards that are not shown


@dataclass(frozen=True)
class Drawing:
    """`str()` of it is to be read; notebooks show it in colours."""

    caption: str
    grids: tuple

    def __str__(self):
        return "\n".join([self.caption, *("\n".join(grid.lines()) for grid in self.grids)])

    def _repr_html_(self):
        grids = "".join(grid.html() for grid in self.grids)
        return notebook.element("div", notebook.element("code", escape(self.caption)) + notebook.element("div", grids))


@dataclass(frozen=True)
class _Grid:
    """A part of a value. cells: a row for each of `rows`, of device numbers a tuple for each of `columns`."""

    title: str
    rows: tuple
    columns: tuple
    cells: tuple

    def lines(self):
        """The grid as text."""
        table = [["", *self.columns], *([head, *map(_numbers, row)] for head, row in zip(self.rows, self.cells))]
        widths = [max(map(len, column)) for column in zip(*table)]
        if self.title:
            yield f"{self.title}:"
        for row in table:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()

    def html(self):
        """The grid as a table."""
        head = notebook.element(
            "tr", "".join(notebook.element("th", escape(cell), notebook.CELL) for cell in ("", *self.columns))
        )
        rows = [
            notebook.element("tr", notebook.element("th", escape(name), notebook.CELL) + "".join(map(_cell, row)))
            for name, row in zip(self.rows, self.cells)
        ]
        title = notebook.element("div", escape(self.title)) if self.title else ""
        table = notebook.element("table", head + "".join(rows), "border-collapse:collapse")
        return notebook.element("div", title + table, "display:inline-block;margin:4px 12px 4px 0;vertical-align:top")


def _numbers(devices):
    return " ".join(map(str, _shortened(devices, "...")))


def _cell(devices):
    if devices == _LEFT_OUT:
        return notebook.element("td", _numbers(devices), notebook.CELL)
    hue = devices[0] * 137 % 360  # neighbours differ
    return notebook.element("td", _numbers(devices), f"{notebook.CELL};background:hsl({hue} 60% 50% / 35%)")


def _bounds(part):
    return f"{part[0]}:{part[1]}"


def _shortened(items, mark):
    """The items, those in the middle left out if they are too many."""
    if len(items) <= _MOST:
        return items
    return (*items[: _MOST - 2], mark, items[-1])


def _grid(shape, parts, held, selected, places):
    """The grid of one choice of parts along the dims that are no rows and no columns.

    parts: of each dim its [start, limit) in order. held: {a part of each dim: devices}. selected: (row, column dim),
    None for what is not there. places: {dim: part} of the others.
    """
    row, column = selected
    rows = parts[row] if row is not None else (None,)
    columns = parts[column] if column is not None else (None,)

    def devices(of_row, of_column):
        at = places | {row: of_row, column: of_column}
        return held[tuple(at[dim] for dim in range(len(shape)))]

    cells = [_shortened(tuple(devices(r, c) for c in columns), _LEFT_OUT) for r in rows]
    dims = [_bounds(places[dim]) if len(parts[dim]) > 1 and dim in places else ":" for dim in range(len(shape))]
    title = f"[{', '.join(dims)}]" if any(dim != ":" for dim in dims) else ""
    heads = [
        _shortened(tuple(f"dim {dim}, {_bounds(part)}" if dim is not None else "" for part in of), "...")
        for dim, of in ((row, rows), (column, columns))
    ]
    return _Grid(title, *heads, _shortened(tuple(cells), (_LEFT_OUT,) * len(cells[0])))


def grids(shape, held):
    """The grids of {a part of each dim: devices}, a part being [start, limit)."""
    parts = [tuple(sorted({at[dim] for at in held})) for dim in range(len(shape))]
    sharded = [dim for dim in range(len(shape)) if len(parts[dim]) > 1]
    whole = [dim for dim in reversed(range(len(shape))) if dim not in sharded]
    shown = sorted((sharded[-2:] + whole)[:2])
    selected = ([None] * 2 + shown)[-2:]
    others = [dim for dim in range(len(shape)) if dim not in shown]
    places = list(itertools.product(*(parts[dim] for dim in others)))
    found = [_grid(shape, parts, held, selected, dict(zip(others, place))) for place in places[:_MOST]]
    if len(places) > _MOST:
        found.append(_Grid(f"and {len(places) - _MOST} more", (), (), ()))
    return tuple(found)


def draw(value, shape=None):
    """How a value is sharded over its devices: which shard of it each of them holds, by the devices' numbers.

    value: an array, a type with a sharding (jax.ShapeDtypeStruct), or a sharding, for values of `shape`.
    """
    sharding = value if isinstance(value, Sharding) else getattr(value, "sharding", None)
    if sharding is None:
        raise TypeError(f"expected a jax.Array or a sharding, got {type(value).__name__}")
    if sharding is value and shape is None:
        raise TypeError("a sharding is drawn for values of a shape: draw(sharding, shape)")
    if isinstance(getattr(sharding, "mesh", None), AbstractMesh):
        raise MeshError("the sharding is on an abstract mesh, which has no devices; give one on a jax.sharding.Mesh")
    shape = tuple(value.shape) if shape is None else tuple(shape)
    held = {}
    for device, slices in sharding.devices_indices_map(shape).items():
        at = tuple(part.indices(size)[:2] for part, size in zip(slices, shape))
        held[at] = (*held.get(at, ()), device.id)
    held = {at: tuple(sorted(devices)) for at, devices in held.items()}
    return Drawing(_caption(value, sharding, shape), grids(shape, held))


def _caption(value, sharding, shape):
    kind = getattr(value, "dtype", "")
    spec = getattr(sharding, "spec", type(sharding).__name__)
    mesh = getattr(sharding, "mesh", None)
    axes = " on " + ", ".join(f"{name}={size}" for name, size in mesh.shape.items()) if mesh is not None else ""
    return f"{kind}[{', '.join(map(str, shape))}] {str(spec).replace('PartitionSpec', 'P')}{axes}"


def load_ipython_extension(ipython):
    """`%load_ext shardonnay.jax`: notebooks draw the arrays that are sharded over several devices."""

    def shown(array):
        return (
            None
            if len(array.sharding.device_set) == 1
            else f"{draw(array)._repr_html_()}<pre>{escape(repr(array))}</pre>"
        )

    ipython.display_formatter.formatters["text/html"].for_type(jax.Array, shown)
