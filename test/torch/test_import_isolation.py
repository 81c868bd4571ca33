"""What imports what: the compiler does without torch, a rank without the compiler and without JAX."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "program, absent",
    [
        (
            "import shardonnay; shardonnay.compile; shardonnay.Options; import shardonnay.report, shardonnay.explain",
            ("torch", "jax"),
        ),
        ("import shardonnay.torch.step, shardonnay.torch.engine", ("jax", "jaxlib", "shardonnay._core", "numpy.f2py")),
        ("from shardonnay.torch import partition", ("jax", "jaxlib", "transformers")),
    ],
)
def test_absent(program, absent):
    code = f"import sys\n{program}\nprint([name for name in {absent} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
