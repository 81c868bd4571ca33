"""What a user writes, for the type checker only: every way to call compile(), and what comes back."""

from pathlib import Path
from typing import assert_type

import shardonnay

program = shardonnay.compile("step.mlir", memory_limit=2**30, search_mode="graph")
assert_type(program, shardonnay.Program)
assert_type(program.text, str)
assert_type(program.diagnostics, tuple[shardonnay.Diagnostic, ...])

options = shardonnay.Options(device_model=Path("model.json"), to="reshard")
shardonnay.compile(Path("step.mlir"), options=options, name="step", progress=print)
shardonnay.compile(b"ML\xefR")
shardonnay.compile("step.mlir", memory_limit="all")  # type: ignore[arg-type]
shardonnay.compile("step.mlir", search_mode="fast")  # type: ignore[arg-type]
shardonnay.compile("step.mlir", search_mod="graph")  # type: ignore[call-arg]
shardonnay.compile(42)  # type: ignore[arg-type]

try:
    shardonnay.compile("nonsense")
except shardonnay.CompileError as error:
    assert_type(error.diagnostics[0].location, str)
except shardonnay.ShardonnayError:
    pass
