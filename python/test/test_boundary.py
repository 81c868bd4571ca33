"""Global arrays to the shards of devices, and back."""

import ml_dtypes
import numpy as np
import pytest
from shardonnay import boundary

MESH = '#sdy.mesh<["data"=2, "model"=4]>'


def entry(shape, local, slices, dtype="f32", partial=None):
    return {
        "index": 0,
        "name": "x",
        "dtype": dtype,
        "global_shape": shape,
        "local_shape": local,
        "slices": slices,
        "partial": partial,
        "alias": None,
    }


COLUMNS = entry([2, 8], [2, 2], [[[0, 2], [2 * (d % 4), 2 * (d % 4) + 2]] for d in range(8)])
REPLICATED = entry([3], [3], [[[0, 3]]] * 8)


@pytest.mark.parametrize(
    "text, dtype",
    [
        ("f32", np.float32),
        ("i1", np.bool_),
        ("ui8", np.uint8),
        ("i64", np.int64),
        ("bf16", ml_dtypes.bfloat16),
        ("complex<f32>", np.complex64),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("i4", ml_dtypes.int4),
    ],
)
def test_dtypes(text, dtype):
    assert boundary.dtype_of(text) == np.dtype(dtype)


def test_an_unknown_element_type_is_an_error():
    with pytest.raises(boundary.BoundaryError, match="has no array type"):
        boundary.dtype_of("!stablehlo.token")


def test_shards_form_the_array_again():
    array = np.arange(16, dtype=np.float32).reshape(2, 8)
    pieces = boundary.shard(COLUMNS, array, MESH)
    assert (pieces[5] == array[:, 2:4]).all()
    joined, spread = boundary.assemble(COLUMNS, pieces, MESH)
    assert (joined == array).all() and spread == 0


def test_each_distinct_slice_once():
    array = np.arange(16, dtype=np.float32).reshape(2, 8)
    pieces = [bounds for i, bounds in enumerate(COLUMNS["slices"]) if bounds not in COLUMNS["slices"][:i]]
    listed = {key: value for key, value in COLUMNS.items() if key != "slices"}
    listed |= {"pieces": pieces, "piece": [pieces.index(bounds) for bounds in COLUMNS["slices"]]}
    for mine, other in zip(boundary.shard(listed, array, MESH), boundary.shard(COLUMNS, array, MESH), strict=True):
        assert (mine == other).all()


def test_copies_that_differ_are_seen():
    pieces = boundary.shard(REPLICATED, np.ones(3, np.float32), MESH)
    pieces[6] = pieces[6] + 0.5
    _, spread = boundary.assemble(REPLICATED, pieces, MESH)
    assert spread == 0.5


def test_padding_and_empty_slices():
    uneven = entry([3], [2], [[[0, 2]], [[2, 3]], [[3, 3]]])
    pieces = boundary.shard(uneven, np.array([1, 2, 3], np.float32), '#sdy.mesh<["a"=3]>')
    assert [piece.tolist() for piece in pieces] == [[1, 2], [3, 0], [0, 0]]
    pieces[1][1] = pieces[2][0] = np.nan  # padding is of unspecified content
    joined, spread = boundary.assemble(uneven, pieces, '#sdy.mesh<["a"=3]>')
    assert joined.tolist() == [1, 2, 3] and spread == 0


@pytest.mark.parametrize(
    "axis, feeders", [("model", [0, 4]), ('"model":(1)2', [0, 1, 4, 5]), ('"model":(2)2', [0, 2, 4, 6])]
)
def test_partial_sums(axis, feeders):
    partial = entry([3], [3], [[[0, 3]]] * 8, partial={"axes": [axis], "kind": "sum"})
    pieces = boundary.shard(partial, np.ones(3, np.float32), MESH)
    assert [d for d in range(8) if pieces[d].any()] == feeders
    joined, spread = boundary.assemble(partial, pieces, MESH)
    assert joined.tolist() == [1, 1, 1] and spread == 0


def test_sign_of_zero():
    whole = entry([2], [2], [[[0, 2]]] * 8)
    joined, _ = boundary.assemble(whole, boundary.shard(whole, np.array([-0.0, 0.0], np.float32), MESH), MESH)
    assert np.signbit(joined).tolist() == [True, False]


def test_partial_sums_of_devices_in_another_order():
    mesh = '#sdy.mesh<["a:b"=2, "c"=2], device_ids=[0, 2, 1, 3]>'
    partial = entry([2], [1], [[[0, 1]], [[0, 1]], [[1, 2]], [[1, 2]]], partial={"axes": ['"a:b"'], "kind": "sum"})
    pieces = boundary.shard(partial, np.array([3, 4], np.float32), mesh)
    assert [piece.tolist() for piece in pieces] == [[3], [0], [4], [0]]
    joined, spread = boundary.assemble(partial, pieces, mesh)
    assert joined.tolist() == [3, 4] and spread == 0


def test_what_does_not_fit_is_named():
    with pytest.raises(boundary.BoundaryError, match=r"expected float32\[3\], got float64\[3\]"):
        boundary.shard(REPLICATED, np.ones(3), MESH)
    with pytest.raises(boundary.BoundaryError, match=r"got float32\[4\]"):
        boundary.shard(REPLICATED, np.ones(4, np.float32), MESH)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ([1.0, np.nan], [1.5, np.nan], 0.5),
        ([1.0], [np.nan], np.inf),
        ([np.inf], [np.inf], 0),
        ([np.inf], [-np.inf], np.inf),
        ([], [], 0),
    ],
)
def test_difference(a, b, expected):
    assert boundary.difference(np.array(a, np.float32), np.array(b, np.float32)) == expected


def test_difference_of_integers_is_not_rounded_away():
    large = np.array([2**62], np.int64)
    assert boundary.difference(large, large + 1) > 0
