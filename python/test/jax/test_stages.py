"""The stages of `jax.stages`, and what a compiled program says of itself."""

import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from outcomes import MESH, compare, on, put, ramp
from shardonnay.jax import FormatError, MeshError, deserialize, partition, propagate, serialize

X, W = put(ramp(8, 16) / 23, "data"), put(ramp(16, 32) / 23, None, "model")


def step(params, x, key, scale=2, *, shift=1.0):
    h = jnp.tanh(x @ params["w"]) * scale + shift
    return {"w": params["w"] * 0.9, "k": jax.random.split(key)}, (h @ params["w"].T).sum()


def compiled(transform=partition, **more):
    function = transform(step, static_argnames="scale", **more)
    return function.lower({"w": W}, X, jax.random.key(0), 3, shift=2.0).compile()


def call(function):
    return function({"w": W}, X, jax.random.key(0), shift=2.0)


@pytest.mark.parametrize("transform", [partition, propagate])
def test_stages_are_as_in_jax(transform):
    ours = transform(step, static_argnames="scale").trace({"w": W}, X, jax.random.key(0), 3, shift=2.0)
    theirs = jax.jit(step, static_argnames="scale").trace({"w": W}, X, jax.random.key(0), 3, shift=2.0)
    for lowered in (False, True):
        if lowered:
            ours, theirs = ours.lower(), theirs.lower()
        assert (ours.in_tree, ours.out_tree) == (theirs.in_tree, theirs.out_tree)
        assert (ours.in_avals, ours.donate_argnums) == (theirs.in_avals, theirs.donate_argnums)
        assert jax.tree.map(lambda info: (info.shape, info.dtype), ours.out_info) == jax.tree.map(
            lambda info: (info.shape, info.dtype), theirs.out_info
        )
    ours, theirs = ours.compile(), theirs.compile()
    compare(call(ours), call(theirs), places=False)
    assert ours.in_tree == theirs.in_tree and ours.out_tree == theirs.out_tree
    assert jax.tree.map(str, ours.in_avals) == jax.tree.map(str, theirs.in_avals)
    assert ours.donate_argnums == theirs.donate_argnums
    assert ours.input_formats[0][1].sharding == ours.input_shardings[0][1]
    assert ours.output_formats[1].sharding == ours.output_shardings[1]
    assert type(ours.runtime_executable()) is type(theirs.runtime_executable())
    assert ours.input_shardings[0][1].is_equivalent_to(on("data"), 2)
    assert ours.output_shardings[0]["w"].is_equivalent_to(on(None, "model"), 2)
    assert ours.memory_analysis().argument_size_in_bytes > 0
    assert ours.cost_analysis()["flops"] > 0


def test_what_is_exported_is_a_jit_of_it():
    function = partition(jnp.matmul)
    with pytest.raises(TypeError, match=r"matmul: .*got lowering_platforms=.*jax\.export\.export\(jax\.jit\("):
        jax.export.export(function)(X, W)
    exported = jax.export.deserialize(jax.export.export(jax.jit(function))(X, W).serialize())
    compare(jax.jit(exported.call)(X, W), jax.jit(jnp.matmul)(X, W), places=False)


def test_lowered_text_is_jaxs():
    ours, theirs = (transform(step).lower({"w": W}, X, jax.random.key(0)) for transform in (partition, jax.jit))
    assert ours.as_text().replace("\n", "") == jax.jit(step, keep_unused=True).lower(
        {"w": W}, X, jax.random.key(0)
    ).as_text().replace("\n", "")
    assert ours.in_tree == theirs.in_tree


def test_lowered_says_what_jaxs_says():
    lowered = partition(jnp.matmul).lower(X, W)
    assert lowered.cost_analysis()["flops"] == jax.jit(jnp.matmul).lower(X, W).cost_analysis()["flops"]
    assert "dot_general" in str(lowered.compiler_ir())


def test_types_instead_of_arrays():
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding) for a in (X, W)]
    found = partition(jnp.matmul).lower(*types).compile()
    compare(found(X, W), jax.jit(jnp.matmul)(X, W), places=False)


def test_the_program_is_of_one_device_and_says_why():
    found = compiled()
    assert "tensor<2x16xf32>" in found.as_text() and "sdy.manual" not in found.as_text()
    kinds = [entry["kind"] for entry in found.report()["collectives"]]
    assert kinds == ["all_reduce"] and "all_reduce" in str(found.report())
    assert 'dim 0 "data"' in str(found.explain("dot_general"))
    assert found.manifest["devices"] == 8


def test_a_plan_needs_no_devices():
    """More than there are, and a transform whose programs XLA decides."""

    def loss(x, w):
        return jnp.tanh(x @ w).sum()

    mesh = AbstractMesh((64, 8), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    types = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in (((512, 64), P("data")), ((64, 128), P(None, "model")))
    ]
    planned = partition(loss).lower(*types).plan()
    assert planned.manifest["devices"] == planned.report()["devices"] == 512
    assert [entry["kind"] for entry in planned.report()["collectives"]] == ["all_reduce"]
    assert len(planned.explain("tanh")) == 1
    assert "tensor<8x16xf32>" in planned.as_text()
    assert "512 devices" in repr(planned)
    with pytest.raises(MeshError, match="have no devices"):
        partition(loss).lower(*types).compile()
    with pytest.raises(TypeError, match="XLA decides"):
        propagate(loss).lower(*types).plan()


def test_a_plan_is_what_is_compiled():
    lowered = partition(step, static_argnames="scale").lower({"w": W}, X, jax.random.key(0), 3, shift=2.0)
    assert lowered.plan().as_text() == lowered.compile().as_text()


def test_xla_partitions_nothing_again():
    text = compiled().jax.as_text()
    assert text.count("all-reduce(") + text.count("all-reduce-start(") == 1
    assert "all-gather" not in text and "all-to-all" not in text


def test_donation_ahead_of_time():
    w = put(ramp(16, 32), None, "model")
    found = (
        partition(lambda p, x: jax.tree.map(lambda v: v + x.sum(), p), donate_argnums=0).lower({"w": w}, X).compile()
    )
    assert found.memory_analysis().alias_size_in_bytes == w.nbytes // 2
    found({"w": w}, X)
    assert w.is_deleted()


def test_wrong_arguments_are_named_as_the_function_names_them():
    def step(params, batch, *, scale):
        return params["w"] * batch * scale

    def message(compiled):
        with pytest.raises(TypeError) as caught:
            compiled({"w": jnp.ones(16, jnp.int32)}, jnp.ones(8), scale=jnp.float32(1))
        return str(caught.value)

    rows = put(np.ones(16, np.float32), "data")
    jitted, ours = (
        make(step).lower({"w": rows}, rows, scale=jnp.float32(1)).compile() for make in (jax.jit, partition)
    )
    assert "params['w']" in message(ours)
    assert message(ours) == message(jitted)
    assert message(deserialize(*serialize(ours))) == message(jitted)


def test_options_are_those_of_the_compiler():
    whole = compiled(options={"results": "whole"})
    assert whole.output_shardings[0]["w"].is_fully_replicated
    compare(call(whole), call(compiled()), places=False)


def test_wide_types_outlive_their_context():
    with jax.enable_x64(True):
        x = put(ramp(8, 16, dtype="float64"), "data")
        found = partition(lambda x: x / 3).lower(x)
    assert found.compile()(x).dtype == "float64"


def test_stages_on_an_explicit_mesh():
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        x = put(ramp(8, 16), "data", "model", mesh=mesh)
        found = partition(lambda x: jnp.sin(x)).lower(x).compile()
        compare(found(x), jax.jit(jnp.sin)(x))
        compare(deserialize(*serialize(found))(x), jax.jit(jnp.sin)(x))


def test_several_meshes_are_saved():
    other = Mesh(MESH.devices.reshape(2, 4), ("a", "b"))
    y = put(ramp(8, 16), "b", mesh=other)
    found = partition(lambda x, y: x + y, out_shardings=on("data")).lower(X, y).compile()
    loaded = deserialize(*serialize(found))
    compare(found(X, y), X + np.asarray(y), places=False)
    compare(loaded(*jax.device_put((X, y), loaded.input_shardings[0])), found(X, y))


LOADER = """
import pickle, sys
import jax, numpy as np
jax.config.update("jax_num_cpu_devices", 8)
import shardonnay
import shardonnay.jax
def refuse(*_, **__):
    raise AssertionError("partitioned again")
shardonnay.compile = refuse
with open(sys.argv[1], "rb") as file:
    payload, arguments = pickle.load(file)
found = shardonnay.jax.deserialize(*payload)
(new, loss) = found({"w": arguments[0]}, arguments[1], jax.random.key(0), shift=2.0)
print(float(loss), float(new["w"].sum()), new["w"].sharding.spec, jax.random.key_data(new["k"]).sum())
print(found.report(), found.explain("dot_general"))
"""


CACHED = """
import sys
import jax, numpy as np
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: event.endswith("cache_hits") and hits.append(event))
from shardonnay.jax import partition
mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
x = jax.device_put(np.ones((8, 8), np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
hits.clear()
partition(lambda x: (x @ x.T).sum(0))(x)
print(len(hits))
"""


def test_jaxs_compilation_cache_holds_its_programs(tmp_path):
    found = [
        subprocess.run(
            [sys.executable, "-c", CACHED, tmp_path], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert found == ["0", "1"]


@pytest.mark.parametrize("transform", [partition, propagate])
def test_another_process_runs_it(transform, tmp_path):
    found = compiled(transform)
    expected, loss = call(found)
    path = tmp_path / "program"
    with path.open("wb") as file:
        pickle.dump((serialize(found), [jax.device_get(W), jax.device_get(X)]), file)
    done = subprocess.run([sys.executable, "-c", LOADER, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0].split(" ", 2)
    assert float(first[0]) == pytest.approx(float(loss)) and float(first[1]) == pytest.approx(
        float(expected["w"].sum())
    )
    assert first[2] == f"P(None, 'model') {jax.random.key_data(expected['k']).sum()}"


def test_saved_programs_are_the_same_bytes():
    found = compiled()
    assert serialize(found)[0] == serialize(found)[0] == serialize(compiled())[0]


def test_loading_says_what_is_wrong():
    payload, in_tree, out_tree = serialize(compiled())
    with pytest.raises(FormatError, match="expected what shardonnay.jax.serialize returned"):
        deserialize(b"something", in_tree, out_tree)
    with pytest.raises(FormatError, match="runs on 8 devices, got 4"):
        deserialize(payload, in_tree, out_tree, devices=jax.devices()[:4])
    turned = deserialize(payload, in_tree, out_tree, devices=jax.devices()[:8][::-1])
    assert list(turned.output_shardings[0]["w"].mesh.devices.flat) == jax.devices()[:8][::-1]
