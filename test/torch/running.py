"""Runs captured programs on PJRT's CPU devices, and compares tensors."""

import ml_dtypes
import numpy as np
import torch

from shardonnay import boundary, engine

_CARRIERS = {torch.bfloat16: (torch.int16, ml_dtypes.bfloat16)}
# Relative and absolute differences that rounding may make.
TOLERANCES = {
    torch.float64: (1e-10, 1e-10),
    torch.complex128: (1e-10, 1e-10),
    torch.float32: (2e-5, 2e-5),
    torch.complex64: (2e-5, 2e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
}


def to_array(tensor):
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype in _CARRIERS:
        carrier, dtype = _CARRIERS[tensor.dtype]
        return tensor.view(carrier).numpy().view(dtype)
    return tensor.resolve_conj().resolve_neg().numpy()


def to_tensor(array):
    array = np.array(array)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def difference(found, expected, slack=1.0):
    """What is wrong with `found`, "" if nothing is: type, shape, values."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if expected.dtype not in TOLERANCES:
        return "" if torch.equal(found, expected) else f"{found.flatten()[:8]}, expected {expected.flatten()[:8]}"
    relative, absolute = (slack * bound for bound in TOLERANCES[expected.dtype])
    if torch.allclose(found, expected, relative, absolute, equal_nan=True):
        return ""
    wide = torch.complex128 if expected.dtype.is_complex else torch.float64
    worst = (found.to(wide) - expected.to(wide)).abs()
    return f"off by up to {float(worst.nan_to_num().max())}: {found.flatten()[:6]}, expected {expected.flatten()[:6]}"


def run_whole(captured, values, optimize=False):
    """{result's name: tensor} of the program on one device."""
    executable = engine.Executable(captured.text, 1, optimize=optimize)
    results = executable([[to_array(values[argument.name])] for argument in captured.arguments])
    return {entry.name: to_tensor(shards[0]) for entry, shards in zip(captured.results, results)}


def run_parts(captured, program, values):
    """{result's name: tensor} of the partitioned program on its devices; parts that must be equal are."""
    manifest = program.manifest
    executable = engine.Executable(program.text, manifest["devices"], optimize=False)
    fed = [
        boundary.shard(entry, to_array(values[argument.name]), manifest["mesh"], padding=1)
        for entry, argument in zip(manifest["inputs"], captured.arguments)
    ]
    found = {}
    for entry, returned, shards in zip(manifest["outputs"], captured.results, executable(fed)):
        array, spread = boundary.assemble(entry, shards, manifest["mesh"])
        assert spread <= 1e-5, (returned.name, spread)
        found[returned.name] = to_tensor(array)
    return found
