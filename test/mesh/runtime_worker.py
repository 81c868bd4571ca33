"""What each process of test_runtime.py does: calls of the runtime by ctypes, against NumPy and ml_dtypes.

    mpirun -n 8 python runtime_worker.py LIBRARY [ELEMENT...]     of these elements only
"""

import ctypes
import sys

import ml_dtypes
import numpy as np
from shardonnay import boundary
from shardonnay.mpi.building import ELEMENTS

LIBRARY = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
NUMBERS = {spelling: number for number, spelling in enumerate(ELEMENTS)}
GROUP, INDEX_ONLY, PERMUTE = range(3)
SIZES = [2, 4]
# By axes: positions of the mesh 2x4, [axis, pre, size] each.
X, Y, Y_MAJOR, Y_MINOR = [0, 1, 2], [1, 1, 4], [1, 1, 2], [1, 2, 2]
GROUPS = {"x": [X], "y": [Y], "yx": [Y, X], "y major": [Y_MAJOR], "y minor, x": [Y_MINOR, X]}
PERMUTED = [3, 0, 2, 1, 7, 6, 5, 4]
IDS = [7, 6, 5, 4, 3, 2, 1, 0]
WIDE = {np.dtype("bool"): np.int64}


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def make_table():
    """The table of all groups, and for each the word at which its payload begins."""
    table, at = [0], {}

    def add(key, record):
        at[key] = len(table) + 2
        table.extend([len(record), *record])

    for ids in ([], IDS):
        for name, refs in GROUPS.items():
            for tag in (GROUP, INDEX_ONLY):
                words = [word for ref in refs for word in ref]
                add((tag, name, bool(ids)), [tag, 2, *SIZES, len(ids), *ids, len(refs), *words])
    add("none", [GROUP, 0, 0, 0])
    add("permute", [PERMUTE, 8, *PERMUTED])
    table[0] = len(table)
    return np.array(table, np.int64), at


TABLE, AT = make_table()


def record(key):
    return ctypes.c_void_p(TABLE.ctypes.data + 8 * AT[key])


def digits(refs, device, ids):
    position = IDS.index(device) if ids else device
    found = []
    for axis, pre, size in refs:
        stride = (4 if axis == 0 else 1) * SIZES[axis] // (pre * size)
        found.append((position // stride % size, stride, size))
    return position, found


def index_of(name, device, ids):
    index = 0
    for digit, _, size in digits(GROUPS[name], device, ids)[1]:
        index = index * size + digit
    return index


def members(name, device, ids):
    """The devices of the group of `device`, by their index."""

    def rest(other):
        position, found = digits(GROUPS[name], other, ids)
        return position - sum(digit * stride for digit, stride, _ in found)

    return sorted((d for d in range(8) if rest(d) == rest(device)), key=lambda d: index_of(name, d, ids))


def data_of(device, shape, dtype, seed=0):
    random = np.random.default_rng([seed, device])
    if dtype.name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.name.startswith(("uint", "int")):
        low, high = (-2, 2) if dtype.itemsize == 1 else (-50, 50)
        return random.integers(0 if dtype.name.startswith("u") else low, high, shape).astype(dtype)
    # Small ones, whose sums are exact in any order.
    values = random.integers(-1, 2, shape) if dtype.itemsize == 1 else random.integers(-4, 5, shape)
    if dtype.name == "float8_e8m0fnu":
        values = 2.0 ** values
    if dtype.kind == "c":
        values = values + 1j * random.integers(-4, 5, shape)
    return np.asarray(values).astype(dtype)


def to_memory(array, spelling):
    """As MLIR stores it: narrow integers without what is above their bits."""
    if spelling in ("i2", "i4"):
        return (array.astype(np.int8) & (2 ** int(spelling[1]) - 1)).astype(np.uint8)
    return np.ascontiguousarray(array)


def from_memory(array, spelling, dtype):
    if spelling in ("i2", "i4"):
        half = 2 ** (int(spelling[1]) - 1)
        return ((array.astype(np.int8) ^ half) - half).astype(dtype)
    return array


def equal(got, expected, what):
    same = got.astype(np.complex128) if got.dtype.kind == "c" else got.astype(np.float64)
    wanted = expected.astype(same.dtype)
    assert np.array_equal(same, wanted, equal_nan=True), (what, rank, got, expected)


def call(function, *arguments):
    values = [v if isinstance(v, ctypes.c_void_p) else ctypes.c_int64(v) for v in arguments]
    LIBRARY[function](*values)


def reduced(arrays, reduction):
    combine = {0: np.add, 1: np.maximum, 2: np.minimum}[reduction]
    result = arrays[0]
    for array in arrays[1:]:
        result = combine(result, array).astype(result.dtype)
    return result


def check_moves(spelling, dtype):
    for name in GROUPS:
        for ids in (False, True):
            group, mine = members(name, rank, ids), index_of(name, rank, ids)
            n, number, key = len(group), NUMBERS[spelling], record((GROUP, name, ids))
            got = LIBRARY["shardonnay_index"](record((INDEX_ONLY, name, ids)))
            assert got == mine, (name, ids, rank, got, mine)
            for outer in (1, 3):
                all_data = [data_of(d, (outer, 5), dtype) for d in group]
                source = to_memory(all_data[mine], spelling)
                target = np.empty((outer, n, 5), source.dtype)
                call("shardonnay_all_gather", key, number, outer, 5, address(source), address(target))
                equal(
                    from_memory(target, spelling, dtype), np.stack(all_data, 1), ("gather", spelling, name, ids, outer)
                )
            # Shards along dim 1 of [2, n * 3, 4], joined along dims 0, 1, 2.
            whole = [data_of(d, (2, n, 3, 4), dtype) for d in group]
            shards = [each[:, mine] for each in whole]
            source = to_memory(whole[mine], spelling)
            for dim, outer in ((0, 1), (1, 2), (2, 6)):
                target = np.empty(2 * n * 3 * 4, source.dtype)
                call("shardonnay_all_to_all", key, number, 2, 12, outer, 24 // outer, address(source), address(target))
                expected = np.concatenate(shards, dim)
                equal(from_memory(target, spelling, dtype).reshape(expected.shape), expected,
                      ("to_all", spelling, name, dim))
    source = to_memory(data_of(rank, (7,), dtype), spelling)
    target = np.empty_like(source)
    call("shardonnay_permute", record("permute"), NUMBERS[spelling], 7, address(source), address(target))
    equal(from_memory(target, spelling, dtype), data_of(PERMUTED.index(rank), (7,), dtype), ("permute", spelling))


def reductions_of(spelling, dtype):
    if spelling == "i1":
        return (1, 2)
    if dtype.name == "float8_e8m0fnu":
        return (1, 2)
    return (0,) if dtype.kind == "c" else (0, 1, 2)


def check_reductions(spelling, dtype):
    for name in ("x", "yx", "y minor, x"):
        group, mine = members(name, rank, False), index_of(name, rank, False)
        n, number, key = len(group), NUMBERS[spelling], record((GROUP, name, False))
        for reduction in reductions_of(spelling, dtype):
            arrays = [data_of(d, (3, n, 5), dtype) for d in group]
            expected = reduced(arrays, reduction)
            if spelling in ("i2", "i4"):
                expected = from_memory(to_memory(expected, spelling), spelling, dtype)
            source = to_memory(arrays[mine], spelling)
            target = np.empty_like(source)
            call("shardonnay_all_reduce", key, reduction, number, source.size, address(source), address(target))
            equal(from_memory(target, spelling, dtype), expected, ("all_reduce", spelling, name, reduction))
            scattered = np.empty((3, 5), source.dtype)
            call("shardonnay_reduce_scatter", key, reduction, number, 3, 5, address(source), address(scattered))
            equal(from_memory(scattered, spelling, dtype), expected[:, mine],
                  ("reduce_scatter", spelling, name, reduction))
            flat = np.ascontiguousarray(np.moveaxis(source, 1, 0))
            scattered = np.empty((3, 5), source.dtype)
            call("shardonnay_reduce_scatter", key, reduction, number, 1, 15, address(flat), address(scattered))
            equal(from_memory(scattered, spelling, dtype), expected[:, mine],
                  ("reduce_scatter 1", spelling, name, reduction))


def check_all_patterns(spelling, dtype):
    """Each number of 8 bits with each other one, in a group of two."""
    patterns = np.arange(256, dtype=np.uint8).view(dtype)
    pairs = np.broadcast_arrays(patterns[:, None], patterns[None, :])
    source = np.ascontiguousarray(pairs[index_of("x", rank, False)])
    for reduction in (0, 1, 2):
        target = np.empty_like(source)
        call("shardonnay_all_reduce", record((GROUP, "x", False)), reduction, NUMBERS[spelling], source.size,
             address(source), address(target))
        with np.errstate(all="ignore"):
            equal(target, reduced(pairs, reduction), ("patterns", spelling, reduction))


def check_nan_and_zero():
    """NaN wins, and 0 is more than -0, whoever has them."""
    for spelling, dtype in (("f32", np.float32), ("f64", np.float64), ("bf16", ml_dtypes.bfloat16),
                            ("f16", np.float16)):
        source = np.array(
            [np.nan if rank == 3 else rank, 0.0 if rank == 2 else -0.0, -0.0 if rank == 5 else 0.0]
        ).astype(dtype)
        for reduction in (1, 2):
            target = np.empty_like(source)
            call("shardonnay_all_reduce", record((GROUP, "yx", False)), reduction, NUMBERS[spelling], 3,
                 address(source), address(target))
            assert np.isnan(target[0]), (spelling, target)
            signs = np.signbit(target[1:].astype(np.float64)).tolist()
            assert signs == ([False, False] if reduction == 1 else [True, True]), (spelling, reduction, target)


def check_windows():
    """Every window problem of a dim of 8 devices, of shards that are full or not, against NumPy; three on their way at
    a time."""
    random, checks = np.random.default_rng(1), []
    for number in range(150):
        name, windows = random.choice(["x", "y", "yx", "y major"]), random.choice(["x", "y", "yx", "none"])
        group, mine = members(name, rank, False), index_of(name, rank, False)
        local, outer, inner = int(random.integers(1, 5)), int(random.integers(1, 3)), int(random.integers(1, 4))
        size = local * len(group) - int(random.integers(0, local * len(group)))
        start, step, width = int(random.integers(-6, 6)), int(random.integers(-3, 6)), int(random.integers(1, 12))
        periodic, has_fill = bool(random.integers(0, 2)), bool(random.integers(0, 2))
        shards = [data_of(d, (outer, local, inner), np.dtype(np.float32), seed=2) for d in range(8)]
        whole = np.concatenate([shards[d] for d in group], 1)
        fill = np.array([9.0], np.float32)
        target = np.full((outer, width, inner), 77.0, np.float32)
        counted = record("none") if windows == "none" else record((INDEX_ONLY, windows, False))
        call("shardonnay_fetch_window", record((GROUP, name, False)), counted, NUMBERS["f32"], outer, inner, local,
             size, start, step, width, periodic, address(fill) if has_fill else ctypes.c_void_p(),
             address(shards[rank]), address(target))
        first = start + step * (0 if windows == "none" else index_of(windows, rank, False))

        def check(whole=whole, fill=fill, shards=shards, target=target, first=first, size=size, periodic=periodic,
                  wanted=9.0 if has_fill else 0.0, problem=(name, windows, local, size, start, step, width, periodic)):
            for j in range(target.shape[1]):
                position = (first + j) % size if periodic else first + j
                expected = whole[:, position] if 0 <= position < size else np.full_like(target[:, j], wanted)
                equal(target[:, j], expected, ("window", *problem, j))

        checks.append(check)
        if number % 3 == 2:
            call("shardonnay_await_windows")
            for each in checks:
                each()
            checks.clear()


def main():
    global rank
    LIBRARY["MPI_Init"](None, None)
    rank = LIBRARY["shardonnay_rank"]()
    LIBRARY["shardonnay_open"](address(TABLE))
    made = LIBRARY["shardonnay_num_communicators"]()
    assert made == 10, made
    some = sys.argv[2:]
    for spelling in some or ELEMENTS:
        dtype = boundary.dtype_of(spelling)
        check_moves(spelling, dtype)
        check_reductions(spelling, dtype)
        if spelling.startswith("f8") and not some:
            check_all_patterns(spelling, dtype)
    check_nan_and_zero()
    check_windows()
    assert LIBRARY["shardonnay_num_communicators"]() == made
    LIBRARY["shardonnay_close"]()
    LIBRARY["MPI_Finalize"]()
    print("ok", flush=True)


if __name__ == "__main__":
    main()
