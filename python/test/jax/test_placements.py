"""A manifest's words as JAX's: sub-axes and several meshes on a refined one."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from outcomes import MESH, P, ramp
from shardonnay.jax.meshes import MeshError, match, refined
from shardonnay.jax.placements import Axis, Placements, parse, spec

DATA_MODEL = '#sdy.mesh<["data"=4, "model"=2]>'


def test_parse():
    text = '#sdy.sharding<@mesh, [{"data":(2)2, "model"}, {}], unreduced={"x"}>'
    assert parse(text, 2) == (((Axis("data", 2, 2), Axis("model")), ()), (Axis("x"),), "sum")
    assert parse('#sdy.sharding<@mesh, [], unreduced=max{"x"}>', 0) == ((), (Axis("x"),), "max")
    assert parse(None, 2) == (((), ()), (), "sum")
    assert parse("#sdy.sharding<@mesh, []>", 0) == ((), (), "sum")


def test_a_part_of_an_axis_is_left_out_with_what_follows_it():
    dims = ((Axis("model"), Axis("data", 1, 2), Axis("data")), (Axis("data", 1, 4),))
    assert spec((dims, (), "sum"), MESH.shape) == P("model", "data")


@pytest.mark.parametrize(
    "sizes, expected",
    [([(4, 2)], (4, 2)), ([(4, 2), (2, 4)], (2, 2, 2)), ([(8,), (2, 2, 2)], (2, 2, 2)), ([(6,), (2, 3)], (2, 3))],
)
def test_refined(sizes, expected):
    assert refined(sizes) == expected


def test_meshes_that_do_not_nest():
    with pytest.raises(MeshError, match="do not nest"):
        refined([(2, 3), (3, 2)])


def test_a_mesh_that_nothing_names():
    with pytest.raises(MeshError, match="whose devices nothing names.*give mesh=, or call it under jax.set_mesh"):
        match('#sdy.mesh<["x"=8]>', [MESH])


def _entry(sharding, shape, mesh=None):
    entry = {"sharding": sharding, "global_shape": shape}
    return entry | ({"mesh": mesh} if mesh else {})


def _shards(placements, index, array):
    """What each device is given of an input, in the order of the program's devices."""
    placed = jax.sharding.NamedSharding(placements.mesh, placements.in_specs[index])
    slices = placed.devices_indices_map(array.shape)
    return [array[slices[device]] for device in MESH.devices.flat]


@pytest.mark.parametrize(
    "sharding, mesh, piece",
    [
        ('#sdy.sharding<@mesh, [{"data":(1)2}, {"data":(2)2}]>', None, lambda d: (d // 4 * 4, d // 2 % 2 * 8, 4, 8)),
        (
            '#sdy.sharding<@mesh, [{"model", "data":(2)2}, {}]>',
            None,
            lambda d: ((d % 2 * 2 + d // 2 % 2) * 2, 0, 2, 16),
        ),
        ('#sdy.sharding<@mesh, [{"b"}, {"a"}]>', '#sdy.mesh<["a"=2, "b"=4]>', lambda d: (d % 4 * 2, d // 4 * 8, 2, 8)),
    ],
)
def test_devices_get_the_shards_that_the_program_means(sharding, mesh, piece):
    other = Mesh(MESH.devices.reshape(2, 4), ("a", "b"))
    manifest = {"devices": 8, "mesh": DATA_MODEL, "inputs": [_entry(sharding, [8, 16], mesh)], "outputs": []}
    array = ramp(8, 16) + np.arange(8)[:, None] * 100
    for device, found in enumerate(_shards(Placements(manifest, [MESH, other]), 0, array)):
        row, column, rows, columns = piece(device)
        np.testing.assert_array_equal(found, array[row : row + rows, column : column + columns])


def test_a_program_without_a_mesh_is_whole():
    manifest = {"devices": 8, "mesh": None, "inputs": [_entry(None, [8, 16])], "outputs": []}
    placements = Placements(manifest, [MESH])
    assert placements.mesh == MESH and placements.inputs[0].spec == P(None, None)
    with pytest.raises(MeshError, match="for 8 devices, which nothing names; give mesh="):
        Placements(manifest, [])


@pytest.mark.parametrize("inputs, outputs, what", [(1, 0, "argument"), (0, 1, "result")])
def test_other_partial_values_are_refused(inputs, outputs, what):
    entry = _entry('#sdy.sharding<@mesh, [{}, {}], unreduced=max{"data"}>', [8, 16])
    manifest = {"devices": 8, "mesh": DATA_MODEL, "inputs": [entry] * inputs, "outputs": [entry] * outputs}
    with pytest.raises(MeshError, match=f"{what} 0 is a partial max, which JAX .* expected a partial sum, or a whole"):
        Placements(manifest, [MESH])
