"""Typical mistakes in Python: one message each that says what was found, what was expected and what to do; those of a
program's ops name the user's line. What JAX says itself is its own business. SHARDONNAY_WRITE_GOLDEN=1 writes the
messages."""

import json
import os
import re
import traceback
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from outcomes import MESH, P, doubled, on, put, ramp
from shardonnay import jax as sharded

GOLDEN = Path(__file__).with_name("python_mistakes.json")
X, W = ramp(8, 16), ramp(16, 32)
PARAMS = {"up": {"kernel": W, "bias": ramp(32)}}
MISTAKES = {}


def mistake(function):
    """Registers a mistake by its name."""
    MISTAKES[function.__name__] = function
    return function


@mistake
def an_axis_that_is_not_there():
    sharded.partition(lambda x: x, mesh=MESH, in_shardings=P("modle"))


@mistake
def a_part_of_an_axis():
    sharded.partition(lambda x: x, mesh=MESH, in_shardings=P("data:(1)2"))


@mistake
def no_mesh_for_a_spec():
    sharded.partition(lambda x: x + 1, in_shardings=P("data"))(X)


@mistake
def a_mesh_without_devices():
    abstract = NamedSharding(AbstractMesh((4, 2), ("rows", "columns"), axis_types=(AxisType.Auto,) * 2), P("rows"))
    x = jax.ShapeDtypeStruct((8, 16), np.float32, sharding=abstract)
    sharded.partition(lambda x: x + 1).lower(x).compile()


@mistake
def meshes_in_two_orders():
    turned = Mesh(np.array(jax.devices()[:8])[::-1].reshape(4, 2), ("data", "model"))
    sharded.partition(lambda x, y: x + y)(put(X, "data"), put(X, "data", mesh=turned))


@mistake
def the_wrong_mesh():
    small = Mesh(np.array(jax.devices()[:4]), ("data",))
    sharded.partition(lambda x, w: x @ w, in_shardings=(on("data"), NamedSharding(small, P())))(X, W)


@mistake
def a_dim_that_does_not_divide():
    sharded.partition(lambda x: x, in_shardings=on("data"))(ramp(6, 16))


@mistake
def more_dims_than_the_array():
    sharded.partition(lambda x: x, in_shardings=on(None, None, "data"))(X)


@mistake
def dims_that_do_not_contract():
    sharded.partition(lambda x, w: w @ x, in_shardings=(on("data"), on()))(X, W)


@mistake
def shardings_of_another_tree():
    sharded.partition(lambda params: params, in_shardings=({"down": on()},))(PARAMS)


@mistake
def a_missing_spec():
    sharded.by_path([("kernel", P("model"))], PARAMS, MESH)


@mistake
def a_rule_of_more_dims():
    sharded.by_path([("bias", P(None, "model")), (".*", P())], PARAMS, MESH)


@mistake
def a_table_with_an_axis_that_is_not_there():
    sharded.by_logical_axes([("embed", "modle")], {"w": ("embed", None)}, MESH)


@mistake
def a_leaked_tracer():
    held = []
    sharded.partition(lambda x: held.append(x) or x)(put(X, "data"))
    sharded.partition(lambda x: x + held[0])(put(X, "data"))


@mistake
def a_traced_value_closed_over():
    jax.jit(lambda w: sharded.partition(lambda x: x @ w, in_shardings=on("data"))(X))(W)


@mistake
def a_value_asked_for_in_a_trace():
    sharded.partition(lambda x: x if x[0, 0] > 0 else -x)(put(X, "data"))


@mistake
def forward_mode():
    jax.jvp(sharded.partition(jnp.sin, in_shardings=on("data")), (X,), (X,))


@mistake
def a_call_back_into_python():
    sharded.propagate(lambda x: jax.pure_callback(np.sin, x, x))(put(X, "data"))  # here


@mistake
def printing_in_order():
    def step(x):
        jax.debug.print("{}", x.sum(), ordered=True)  # here
        return x

    sharded.partition(step)(put(X, "data"))


@mistake
def a_partitioned_kernel_within_a_shard_map():
    some = jax.shard_map(
        lambda x: doubled(x),  # here
        mesh=MESH,
        in_specs=P("data"),
        out_specs=P("data"),
        axis_names={"data"},
        check_vma=False,
    )
    sharded.partition(some)(X)


@mistake
def an_option_that_is_not_there():
    sharded.partition(lambda x: x + 1, in_shardings=on("data"), options={"serch_mode": "graph"})(X)


@mistake
def an_option_s_value():
    sharded.partition(lambda x: x + 1, in_shardings=on("data"), options={"search_mode": "fast"})(X)


def kernel(x):
    return jax.ffi.ffi_call("kernel", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)  # here


@mistake
def a_rule_that_is_no_rule():
    sharded.partition(kernel, in_shardings=on("data"), sharding_rules={"kernel": "b s, s f"})(X)


@mistake
def a_rule_that_does_not_fit():
    sharded.partition(kernel, in_shardings=on("data"), sharding_rules={"kernel": "b -> b"})(X)


@mistake
def a_rule_for_nothing():
    sharded.partition(lambda x: x + 1, in_shardings=on("data"), sharding_rules={"kernel": "b s -> b s"})(X)


@mistake
def priorities_of_more_dims():
    sharded.partition(lambda x: x + 1, in_shardings=sharded.prioritized(on("data"), 0, 1, 2))(X)


@mistake
def a_saved_step_that_is_something_else():
    tree = jax.tree.structure(((X,), {}))
    sharded.deserialize(b"\x80\x04 a pickle", tree, tree)


@mistake
def a_compiled_step_of_other_types():
    sharded.partition(lambda x: x + 1, in_shardings=on("data")).lower(X).compile()(X.astype(np.int32))


@mistake
def a_saved_step_of_another_tree():
    step = sharded.partition(lambda x, w: x @ w, in_shardings=(on("data"), on())).lower(X, W).compile()
    payload, _, results = sharded.serialize(step)
    sharded.deserialize(payload, jax.tree.structure(((X,), {})), results)


@mistake
def a_function_saved_before_it_is_compiled():
    sharded.serialize(sharded.partition(jnp.sin, in_shardings=on("data")))


@mistake
def a_mesh_that_is_no_mesh():
    sharded.partition(jnp.sin, mesh={"data": 4, "model": 2}, in_shardings=P("data"))


@mistake
def options_as_text():
    sharded.partition(jnp.sin, in_shardings=on("data"), options="search-mode=graph")


@mistake
def rules_that_are_no_table():
    sharded.partition(kernel, in_shardings=on("data"), sharding_rules="b s -> b s")


@mistake
def a_rule_that_is_no_text():
    sharded.partition(kernel, in_shardings=on("data"), sharding_rules={"kernel": ["b s -> b s"]})


@mistake
def a_spec_that_is_an_axis():
    sharded.by_path([("kernel", "data")], PARAMS, MESH)


@mistake
def a_pattern_that_is_none():
    sharded.by_path([("kernel(", P())], PARAMS, MESH)


@mistake
def a_drawing_of_no_array():
    sharded.draw([1, 2])


@mistake
def text_that_is_no_program():
    shardonnay.compile("def step(x):\n  return x\n")


def _files(error):
    """The files that an exception came through, the one that raised it last."""
    return [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]


@pytest.fixture(scope="module")
def golden():
    written, filtering = {}, jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")  # for what JAX raises to be seen to be its own
    yield types.SimpleNamespace(messages=json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}, written=written)
    jax.config.update("jax_traceback_filtering", filtering)
    if "SHARDONNAY_WRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake(name, golden):
    with pytest.raises(Exception) as raised:
        MISTAKES[name]()
    error = raised.value
    assert __file__ in _files(error), "the traceback has the user's line"
    # Numbers of lines and of objects are another's business.
    text = re.sub(rf"{re.escape(__file__)}:(\d+)(?::\d+)?", r"@:\1", str(error))
    lines = Path(__file__).read_text().splitlines()
    for line in re.findall(r"@:(\d+)", text):
        if isinstance(error, shardonnay.CompileError):
            assert lines[int(line) - 1].endswith("# here"), text
    text = re.sub(r"0x[0-9a-f]+", "0x", re.sub(r"@:\d+", "@", text))
    if Path(jax.__file__).parent in Path(_files(error)[-1]).parents:
        text = "JAX's own"
    elif not isinstance(error, shardonnay.ShardonnayError):
        text = text.splitlines()[0]  # JAX's classes add where they are documented
    golden.written[name] = [type(error).__name__, text]
    if "SHARDONNAY_WRITE_GOLDEN" not in os.environ:
        assert golden.messages[name] == golden.written[name]


def test_every_message_has_its_mistake(golden):
    assert set(golden.messages) == set(MISTAKES)
