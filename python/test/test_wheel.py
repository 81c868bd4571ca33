"""What is uploaded: wheels that any Linux of this age takes, installed alone and beside others; the source."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv/bin/python"
pytestmark = pytest.mark.long

PROGRAM = """sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
USE = f"import shardonnay; assert 'stablehlo.all_' in shardonnay.compile('''{PROGRAM}''').text"
CALLS = """
import jax, jax.numpy as jnp
from jax.sharding import PartitionSpec as P
from shardonnay.jax import partition
jax.config.update("jax_num_cpu_devices", 2)
mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
double = partition(lambda tree: jax.tree.map(lambda leaf: leaf * 2, tree))
with jax.set_mesh(mesh):
    tree = {"a": [jax.device_put(jnp.ones(4), P("x"))], "b": 3.0}
    for _ in range(3):
        tree = double(tree)
assert tree["a"][0].tolist() == [8.0] * 4 and tree["b"] == 24.0
"""
# Of others that bring an MLIR or an LLVM of their own, all that are installed.
OTHERS = ("jaxlib.mlir.ir", "jaxlib", "flax", "torch", "triton")


def run(*command, **more):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "XLA_FLAGS")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd="/", env=environment, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(PYTHON, ROOT / "scripts/wheels", "--sdist", "--out", folder)
    return folder


@pytest.fixture(scope="module")
def own_wheel(dist):
    (wheel,) = dist.glob(f"*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl")
    return wheel


def venv(folder, python=PYTHON):
    run(python, "-m", "venv", folder)
    return folder / "bin/python"


def test_wheels_are_manylinux(dist):
    for wheel in dist.glob("*.whl"):
        assert "manylinux_2_36" in wheel.name
        told = " ".join(run(PYTHON, "-m", "auditwheel", "show", wheel).split())
        assert 'is consistent with the following platform tag: "manylinux_2_36' in told


def test_what_is_bundled_has_its_licence(own_wheel):
    names = zipfile.ZipFile(own_wheel).namelist()
    bundled = {
        Path(name).name.partition("-")[0] for name in names if ".libs/" in name and name.endswith(tuple("0123456789"))
    }
    licences = [name for name in names if "/licenses/LICENSE-" in name]
    assert "libmimalloc" in bundled
    assert all(any(f"LICENSE-{library}" in name for name in licences) for library in bundled), (bundled, licences)


def test_alone_it_compiles_and_says_what_running_needs(own_wheel, tmp_path):
    python = venv(tmp_path / "venv")
    run(python, "-m", "pip", "install", "-q", "--no-deps", own_wheel)
    run(python, "-c", USE)
    path = tmp_path / "p.mlir"
    path.write_text(PROGRAM)
    command = python.parent / "shardonnay"
    assert "stablehlo.all_" in run(command, "compile", path)
    assert "all_" in run(command, "report", path)
    assert "no difference" in run(command, "diff", path, path)
    assert "absent  jax" in run(command, "doctor")
    refused = subprocess.run([command, "run", path], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "install shardonnay[jax]" in refused.stderr


def test_one_wheel_for_3_12_and_later(dist, tmp_path):
    wheels = list(dist.glob("*-cp312-abi3-*.whl"))
    pythons = [*Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python3"), *Path("/usr/bin").glob("python3.1[2-9]")]
    if not wheels or not pythons:
        pytest.skip("there is no Python 3.12")
    for number, python in enumerate(pythons):
        own = venv(tmp_path / str(number), python)
        run(own, "-m", "pip", "install", "-q", f"{wheels[0]}[jax]")
        run(own, "-c", USE)
        run(own, "-c", CALLS)


def test_beside_jax_flax_and_torch_in_any_order(own_wheel, tmp_path):
    python = venv(tmp_path / "venv")
    run(python, "-m", "pip", "install", "-q", f"{own_wheel}[jax,viz]", "flax==0.12.8")
    run(python.parent / "shardonnay", "doctor")
    found = [
        other
        for other in OTHERS
        if subprocess.run([python, "-c", f"import {other}"], capture_output=True).returncode == 0
    ]
    assert {"jaxlib.mlir.ir", "flax"} <= set(found)
    step = "import jax; assert jax.jit(lambda x: x + 1)(1.0) == 2"
    for other in found:
        run(python, "-c", f"import {other}; {USE}; {step}")
        run(python, "-c", f"{USE}; import {other}; {step}; {USE}")
        run(
            python,
            "-c",
            f"import sys, os; sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_NOW); import {other}; {USE}; {step}",
        )


def test_the_source_distribution_is_whole_and_builds(dist, tmp_path):
    (source,) = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    missing = [name for name in listed if not name.startswith(".") and not (folder / name).exists()]
    assert not missing
    run(PYTHON, "-m", "pip", "wheel", "-q", folder, "--no-build-isolation", "--no-deps", "-w", tmp_path / "made")
    python = venv(tmp_path / "venv")
    run(python, "-m", "pip", "install", "-q", "--no-deps", *(tmp_path / "made").glob("*.whl"))
    run(python, "-c", USE)
