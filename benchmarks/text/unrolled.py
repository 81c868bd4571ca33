"""The train steps of steps.py as files. JAX itself lowers every layer, which takes minutes at 10^6 lines: texts are
kept until steps.py changes.
"""

import hashlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / "build/benchmarks"
MODELS = ("transformer", "moe", "convnet")
DEVICES = 8


def layers(name, number):
    """The path of a step with so many layers."""
    steps = HERE / "steps.py"
    stamp = hashlib.sha256(steps.read_bytes() + metadata.version("jax").encode()).hexdigest()[:12]
    path = FOLDER / f"{name}-{number}-{stamp}.mlir"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        for old in FOLDER.glob(f"{name}-{number}-*.mlir"):
            old.unlink()
        text = subprocess.run([sys.executable, steps, name, str(number)], check=True, stdout=subprocess.PIPE).stdout
        path.write_bytes(text)
    return path


def lines(path):
    with open(path) as text:
        return sum(1 for _ in text)


def written(name, wanted):
    """The path of a step of about `wanted` lines."""
    one, three = (lines(layers(name, number)) for number in (1, 3))
    return layers(name, max(1, round(1 + (wanted - one) / ((three - one) / 2))))
