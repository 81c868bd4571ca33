"""How values are sharded, drawn; what notebooks show of programs."""

import html.parser

import jax
import numpy as np
import pytest
import shardonnay
from jax.sharding import AbstractMesh, Mesh, NamedSharding
from outcomes import P, on, put, ramp
from shardonnay.jax import MeshError, draw, partition, propagate
from shardonnay.jax.drawing import grids

CUBE = Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("a", "b", "c"))


def test_two_dims():
    assert (
        str(draw(put(ramp(8, 16), "data", "model")))
        == """\
float32[8, 16] P('data', 'model') on data=4, model=2
              dim 1, 0:8  dim 1, 8:16
  dim 0, 0:2  0           1
  dim 0, 2:4  2           3
  dim 0, 4:6  4           5
  dim 0, 6:8  6           7"""
    )


def test_copies_are_in_one_cell():
    assert str(draw(on(None, "model"), (8, 16))).splitlines()[1:] == [
        "              dim 1, 0:8  dim 1, 8:16",
        "  dim 0, 0:8  0 2 4 6     1 3 5 7",
    ]


def test_the_order_of_the_mesh_s_devices():
    turned = Mesh(np.array(jax.devices()[:8])[::-1], ("x",))
    assert str(draw(NamedSharding(turned, P("x")), (8,))).endswith(
        "7           6           5           4           3           2           1           0"
    )


def test_three_dims():
    assert (
        str(draw(NamedSharding(CUBE, P("a", "b", "c")), (4, 6, 8)))
        == """\
[4, 6, 8] P('a', 'b', 'c') on a=2, b=2, c=2
[0:2, :, :]:
              dim 2, 0:4  dim 2, 4:8
  dim 1, 0:3  0           1
  dim 1, 3:6  2           3
[2:4, :, :]:
              dim 2, 0:4  dim 2, 4:8
  dim 1, 0:3  4           5
  dim 1, 3:6  6           7"""
    )


def test_rows_and_columns_are_dims_that_are_sharded():
    lines = str(draw(NamedSharding(CUBE, P("a", None, ("b", "c"))), (4, 6, 8))).splitlines()
    assert lines[1:] == [
        "              dim 2, 0:2  dim 2, 2:4  dim 2, 4:6  dim 2, 6:8",
        "  dim 0, 0:2  0           1           2           3",
        "  dim 0, 2:4  4           5           6           7",
    ]


def test_every_device_is_in_every_drawing_of_five_dims():
    drawing = draw(NamedSharding(CUBE, P(None, "c", "a", None, "b")), (3, 4, 2, 5, 2))
    assert [grid.title for grid in drawing.grids] == ["[:, 0:2, :, :, :]", "[:, 2:4, :, :, :]"]
    assert sorted(number for grid in drawing.grids for row in grid.cells for cell in row for number in cell) == list(
        range(8)
    )


def test_scalars_and_single_devices():
    assert str(draw(put(np.float32(1)))).splitlines()[-1].split() == [str(number) for number in range(8)]
    assert (
        str(draw(jax.device_put(np.ones(3), jax.devices()[2]))).split()
        == "float32[3] SingleDeviceSharding dim 0, 0:3 2".split()
    )


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="expected a jax.Array or a sharding, got ndarray"):
        draw(np.ones(3))
    with pytest.raises(TypeError, match=r"draw\(sharding, shape\)"):
        draw(on("data"))
    with pytest.raises(MeshError, match="abstract mesh"):
        draw(NamedSharding(AbstractMesh((2,), ("x",)), P("x")), (4,))


class Tags(html.parser.HTMLParser):
    """Counts elements, and asserts that each is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count = [], {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.open += [] if tag == "br" else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_drawings_in_notebooks():
    count = Tags(draw(NamedSharding(CUBE, P("a", "b", "c")), (4, 6, 8))._repr_html_()).count
    assert (count["table"], count["td"]) == (2, 8)


def test_a_compiled_function_in_notebooks():
    compiled = (
        partition(lambda x, w: x @ w, in_shardings=(on(None, "model"), on("model")))
        .lower(ramp(8, 16), ramp(16, 4))
        .compile()
    )
    shown = compiled._repr_html_()
    assert Tags(shown).count["tr"] == 3  # head, a collective, sum
    assert "all_reduce" in shown and "128 B" in shown and "reduces the sum along {model}" in shown
    assert "test_drawing.py" in shown and "&lt;" not in repr(compiled)
    assert compiled.report()._repr_html_().count("<tr>") == 3
    assert repr(compiled) == "<shardonnay.jax.Compiled: <lambda>, 8 devices>" and "&lt;lambda&gt;" in shown


def test_without_a_report_a_name():
    compiled = propagate(lambda x: x + 1, in_shardings=on("data")).lower(ramp(8, 16)).compile()
    assert compiled._repr_html_() == "&lt;shardonnay.jax.Compiled: &lt;lambda&gt;, 8 devices&gt;"


def test_programs_in_notebooks():
    lowered = jax.jit(lambda x: x.sum(), in_shardings=on("data")).lower(ramp(8, 16))
    assert "all_reduce" in shardonnay.compile(lowered)._repr_html_()
    assert shardonnay.compile(lowered, to="import")._repr_html_().startswith("&lt;shardonnay.Program")


def test_arrays_in_notebooks():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.extension_manager.load_extension("shardonnay.jax")
    shown = shell.display_formatter.format(put(ramp(8, 16), "data"))[0]
    assert Tags(shown["text/html"]).count["td"] == 4
    assert "text/html" not in shell.display_formatter.format(jax.numpy.ones(3))[0]


def test_a_large_mesh_is_shortened():
    cells = {((at, at + 1),): (at,) for at in range(256)}
    (grid,) = grids((256,), cells)
    assert len(grid.columns) == 16 and grid.cells[0][-1] == (255,)
    many = {((0, 1), (at, at + 1), (0, 1)): tuple(range(64)) for at in range(2)}
    assert (
        "0 1 2" in "".join(grids((1, 2, 1), many)[0].lines()) and " 63" in list(grids((1, 2, 1), many)[0].lines())[-1]
    )
