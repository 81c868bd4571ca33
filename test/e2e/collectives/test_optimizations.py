"""Every optimisation of the collectives: a program that it makes cheaper, and that computes what it did.

The programs of the first part are written with collectives, as other tools leave them: resharding finds nothing to
plan, so what is there is cheap only if the pass makes it so. Those of the second part are JAX's.
"""

import re
import subprocess
from pathlib import Path

import corpus
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from agrees import assert_agrees
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from shardonnay import compare, run

SDY_OPT = Path(__file__).resolve().parents[3] / "build/bin/sdy-opt"
PASSES = (
    "broadcast-owner-slices hoist-collectives share-collectives cancel-gathers-and-slices fold-all-reduces "
    "merge-collectives reassociate-reductions accumulate-in-loops move-gathers move-slices-up "
    "merge-returned-reductions split-all-reduces"
).split()


def prices(text, passes, model):
    """(collectives, bytes) before the first of `passes` and after each, of the program behind `reshard`."""
    price = f"sdy-price-collectives{{device-model={model}}}"
    steps = [f"sdy-reshard-to-collectives{{device-model={model}}}", price]
    for name in passes:
        steps += [f"sdy-{name}{{device-model={model}}}", price]
    program = shardonnay.compile(text, to="reshard", device_model=model).text
    pipeline = f"--pass-pipeline=builtin.module(func.func({','.join(steps)}))"
    out = subprocess.run([SDY_OPT, "-", pipeline, "-o", "/dev/null"], input=program, text=True, capture_output=True)
    assert out.returncode == 0, out.stderr
    return [
        (int(count), int(size)) for count, size in re.findall(r"remark: (\d+) collectives, (\d+) bytes", out.stderr)
    ]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


HEAD = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
CASES = {}


def case(name, arguments, expected, text, model="cpu"):
    CASES[name] = (arguments, expected, HEAD + text, model)


SUM = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}'
ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
COLUMNS = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}'
BOTH = '{sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}'
T = "tensor<8x8xf32>"

case("fold-all-reduces", [normal(8, 8), normal(8, 8, seed=1)], lambda a, b: [a @ b], f"""
func.func public @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x", "y"}}]>}}, %b: {T} {BOTH}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = stablehlo.dot %a, %b {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}], unreduced={{"x", "y"}}>]>}} : ({T}, {T}) -> {T}
  %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@mesh, [{{}}, {{}}], unreduced={{"y"}}> : {T}
  %2 = sdy.all_reduce {{"y"}} %1 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  return %2 : {T}
}}""")  # fmt: skip

case("reassociate-reductions", [normal(8, 8), normal(8, 8, seed=1)], lambda a, b: [a @ b - (2 * a) @ b], f"""
func.func public @main(%a: {T} {COLUMNS}, %b: {T} {ROWS}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = stablehlo.dot %a, %b {SUM} : ({T}, {T}) -> {T}
  %1 = stablehlo.add %a, %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{"x"}}]>]>}} : {T}
  %2 = stablehlo.dot %1, %b {SUM} : ({T}, {T}) -> {T}
  %3 = sdy.all_reduce {{"x"}} %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %4 = sdy.all_reduce {{"x"}} %2 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %5 = stablehlo.subtract %3, %4 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : {T}
  return %5 : {T}
}}""")  # fmt: skip

case("cancel-gathers-and-slices", [normal(8, 8)], lambda a: [a], f"""
func.func public @main(%a: {T} {BOTH}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) {{
  %0 = sdy.all_gather [{{"x", "y"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %1 = sdy.all_slice [{{"x"}}, {{"y"}}] %0 out_sharding=<@mesh, [{{"x"}}, {{"y"}}]> : {T}
  return %1 : {T}
}}""")  # fmt: skip

case("merge-collectives", [normal(8, 8)], lambda a: [a], f"""
func.func public @main(%a: {T} {BOTH}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = sdy.all_gather [{{"y"}}, {{}}] %a out_sharding=<@mesh, [{{"x"}}, {{}}]> : {T}
  %1 = sdy.all_gather [{{"x"}}, {{}}] %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  return %1 : {T}
}}""")  # fmt: skip

case("share-collectives", [normal(8, 8)], lambda a: [a, a], f"""
func.func public @main(%a: {T} {BOTH}) -> ({T} {ROWS}, {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = sdy.all_gather [{{"y"}}, {{}}] %a out_sharding=<@mesh, [{{"x"}}, {{}}]> : {T}
  %1 = sdy.all_gather [{{"x", "y"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  return %0, %1 : {T}, {T}
}}""")  # fmt: skip

case("move-gathers", [normal(8, 8), normal(8, 8, seed=1)], lambda a, b: [(a * b).T], f"""
func.func public @main(%a: {T} {ROWS}, %b: {T} {ROWS}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %1 = sdy.all_gather [{{"x"}}, {{}}] %b out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %2 = stablehlo.multiply %0, %1 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : {T}
  %3 = stablehlo.transpose %2, dims = [1, 0] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : ({T}) -> {T}
  return %3 : {T}
}}""")  # fmt: skip

case("move-slices-up", [normal(8, 8), normal(8, 8, seed=1)], lambda a, b: [-(a @ b)], f"""
func.func public @main(%a: {T} {COLUMNS}, %b: {T} {ROWS}) -> ({T} {ROWS}) {{
  %0 = stablehlo.dot %a, %b {SUM} : ({T}, {T}) -> {T}
  %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}
  %2 = stablehlo.negate %1 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : {T}
  %3 = sdy.all_slice [{{"x"}}, {{}}] %2 out_sharding=<@mesh, [{{"x"}}, {{}}]> : {T}
  return %3 : {T}
}}""")  # fmt: skip

W = "tensor<8x4096xf32>"
case("broadcast-owner-slices", [normal(8, 4096)], lambda a: [a[3:4]], f"""
func.func public @main(%a: {W} {BOTH}) -> (tensor<1x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  %0 = stablehlo.slice %a [3:4, 0:4096] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x", "y"}}, {{}}]>]>}} : ({W}) -> tensor<1x4096xf32>
  %1 = sdy.all_gather [{{"x", "y"}}, {{}}] %0 out_sharding=<@mesh, [{{}}, {{}}]> : tensor<1x4096xf32>
  return %1 : tensor<1x4096xf32>
}}""")  # fmt: skip

CASES["split-all-reduces"] = ([normal(512, 8), normal(8, 512, seed=1)], lambda a, b: [a @ b], """
sdy.mesh @mesh = <["node"=2, "gpu"=4]>
func.func public @main(%a: tensor<512x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"node", "gpu"}]>}, %b: tensor<8x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"node", "gpu"}, {}]>}) -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"node", "gpu"}>]>} : (tensor<512x8xf32>, tensor<8x512xf32>) -> tensor<512x512xf32>
  %1 = sdy.all_reduce {"node", "gpu"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}""", "gpu-cluster")  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_written_collectives(name):
    arguments, expected, text, model = CASES[name]
    before, after = prices(text, [name], model)
    compiled = shardonnay.compile(text, device_model=model)
    outputs, spreads = run.LoadedProgram(compiled)(arguments)
    assert max(spreads) == 0
    for output, wanted in zip(outputs, expected(*arguments), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=1e-5, atol=1e-5)
    # What moves nothing itself opens the way: with the fold behind it, it pays.
    if name == "move-slices-up":
        before, after = (
            prices(text, ["fold-all-reduces"], model)[-1],
            prices(text, [name, "fold-all-reduces"], model)[-1],
        )
    # (collectives, bytes): fewer, or less. A split sends as much by three, most of it over the fast links.
    assert (before[0], after) == (1, (3, before[1])) if name == "split-all-reduces" else after < before


def lowered(function, arguments, specs):
    mesh = Mesh(np.array(jax.devices("cpu")[:8]), ("data",))
    shardings = tuple(NamedSharding(mesh, spec) for spec in specs)
    return jax.jit(function, in_shardings=shardings).lower(*arguments).as_text()


def carried_weight(w, x):
    """The weight is sharded, and the same in every run of the loop."""
    return lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ w), x)


def accumulated_gradients(w, x):
    """The gradients of six small batches, added up."""

    def step(total, batch):
        value, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(batch @ w) ** 2))(w)
        return jax.tree.map(jnp.add, total, (value, gradient)), None

    return lax.scan(step, (jnp.zeros(()), jnp.zeros_like(w)), x)[0]


LOOPS = {
    "hoist-collectives": (carried_weight, [normal(64, 64), normal(16, 64, seed=1)], [P("data"), P("data")]),
    "accumulate-in-loops": (accumulated_gradients, [normal(32, 16), normal(6, 16, 32, seed=1)], [P(), P(None, "data")]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name, row):
    function, arguments, specs = LOOPS[name]
    text = lowered(function, arguments, specs)
    before, after = prices(text, [name], "cpu")
    row(f"{name}: {before[1]:,} bytes in {before[0]} collectives become {after[1]:,} in {after[0]}")
    trips = {"hoist-collectives": 5, "accumulate-in-loops": 6}[name]
    assert after[1] * trips == before[1]
    compiled = shardonnay.compile(text)
    assert_agrees(compiled, text, arguments)


def test_buckets(row):
    """A sum for each of ten small gradients, or one."""

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x * w)
        return jnp.mean(x**2)

    arguments = ([normal(32, seed=seed) for seed in range(10)], normal(16, 32))
    mesh = Mesh(np.array(jax.devices("cpu")[:8]), ("data",))
    shardings = (NamedSharding(mesh, P()), NamedSharding(mesh, P("data")))
    text = jax.jit(jax.value_and_grad(loss), in_shardings=shardings).lower(*arguments).as_text()
    counts = {}
    for model, no_bucketing in (("cpu", True), ("cpu", False), ("bytes", False)):
        compiled = shardonnay.compile(text, device_model=model, no_bucketing=no_bucketing)
        counts[model, no_bucketing] = sum(entry["count"] for entry in compiled.report["collectives"])
        inputs = jax.tree.leaves(arguments)
        assert_agrees(compiled, text, inputs)
    assert counts == {("cpu", True): 11, ("cpu", False): 1, ("bytes", False): 11}


PACKED = ("f32", "bf16", "i1", "i8", "i32", "complex<f32>")


def mixed(element, *shape, seed=0):
    generator = np.random.default_rng(seed)
    if element == "i1":
        return generator.random(shape) < 0.5
    if element.startswith("i"):
        return generator.integers(-9, 9, shape).astype({"i8": np.int8, "i32": np.int32}[element])
    value = generator.standard_normal(shape).astype(np.float32)
    if element == "complex<f32>":
        return (value + 1j * value[::-1]).astype(np.complex64)
    return value.astype(jnp.bfloat16) if element == "bf16" else value


def bucketed(text, inputs):
    """Counts by kind, without buckets and with them; the numbers of both, bit by bit, and the bytes and the price."""
    counts, totals, prices = {}, [], []
    for no_bucketing in (True, False):
        compiled = shardonnay.compile(text, no_bucketing=no_bucketing)
        for entry in compiled.report["collectives"]:
            counts.setdefault(entry["kind"], {True: 0, False: 0})[no_bucketing] += entry["count"]
        totals.append(compiled.report["executed_bytes"])
        prices.append(compiled.report["price"]["emitted"])
        wrong = [str(a) for a in run.check(run.LoadedProgram(compiled), inputs, compare.reference(text, inputs))
                 if not a.ok or a.error]
        assert not wrong, "\n".join(wrong)
    # Bytes are rounded up for each collective.
    assert totals[1] <= totals[0] and prices[1] < prices[0]
    return {kind: (count[True], count[False]) for kind, count in counts.items()}


@pytest.mark.parametrize("element", PACKED)
def test_gathers_in_a_bucket(element):
    """Even and uneven dims, of size 1 and 0, one dim and several, by one axis and several."""
    shapes = {(8, 3): '{"x"}, {}', (3, 10): '{}, {"x"}', (1, 5): '{"x"}, {}', (4, 0): '{"x"}, {}', (2, 6): '{}, {"x"}',
              (6, 4): '{"x"}, {"y"}', (10, 7): '{"x"}, {"y"}'}  # fmt: skip
    types = ["tensor<" + "".join(f"{size}x" for size in shape) + f"{element}>" for shape in shapes]
    parts = [
        f"%a{i}: {t} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
        for i, (t, dims) in enumerate(zip(types, shapes.values(), strict=True))
    ]
    results = [f"{t} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}" for t in types]
    text = f"""{HEAD}func.func @main({", ".join(parts)}) -> ({", ".join(results)}) {{
      return {", ".join(f"%a{i}" for i in range(len(types)))} : {", ".join(types)}
    }}"""
    counts = bucketed(text, [mixed(element, *shape, seed=seed) for seed, shape in enumerate(shapes)])
    # What is empty stays apart; 10x7 is whole along y first, as 7 columns are fewer than the 8 of equal shards.
    assert counts == {"all_gather": (9, 4)}


def test_exchanges_in_a_bucket():
    """Even dims and uneven ones, there and back."""
    shapes = {
        (8, 12): ("f32", '{"y"}, {}', '{}, {"y"}'),
        (4, 8): ("i32", '{}, {"y"}', '{"y"}, {}'),
        (10, 6): ("f32", '{"y"}, {}', '{}, {"y"}'),
    }
    types = [f"tensor<{shape[0]}x{shape[1]}x{element}>" for shape, (element, *_) in shapes.items()]
    shardings = [
        [f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}" for dims in both] for _, *both in shapes.values()
    ]
    text = f"""{HEAD}func.func @main({", ".join(f"%a{i}: {t} {shardings[i][0]}" for i, t in enumerate(types))})
        -> ({", ".join(f"{t} {shardings[i][1]}" for i, t in enumerate(types))}) {{
      return %a0, %a1, %a2 : {", ".join(types)}
    }}"""
    counts = bucketed(text, [mixed(element, *shape, seed=i) for i, (shape, (element, *_)) in enumerate(shapes.items())])
    assert counts["all_to_all"] == (3, 1), counts


def test_types_in_a_bucket():
    """Of as many bits; NaNs keep theirs."""
    elements = ("f32", "i32", "f32", "i32")
    parts = [
        f'%a{i}: tensor<8x3x{e}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'
        for i, e in enumerate(elements)
    ]
    results = [f"tensor<8x3x{e}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}" for e in elements]
    text = f"""{HEAD}func.func @main({", ".join(parts)}) -> ({", ".join(results)}) {{
      return %a0, %a1, %a2, %a3 : {", ".join(f"tensor<8x3x{e}>" for e in elements)}
    }}"""
    inputs = [mixed(e, 8, 3, seed=seed) for seed, e in enumerate(elements)]
    inputs[2][::3] = np.nan
    assert bucketed(text, inputs) == {"all_gather": (4, 1)}


def test_argmax_of_a_sharded_dim():
    """Each device's best, number and place, go to all at once: less than all numbers."""
    arguments = [normal(6, 4096)]
    text = lowered(lambda x: (jnp.argmax(x, 1), jnp.max(x, 1)), arguments, [P(None, "data")])
    counts = [
        sum(e["count"] for e in shardonnay.compile(text, no_bucketing=flag, report=True).report["collectives"])
        for flag in (True, False)
    ]
    assert counts[1] == counts[0] - 1
    bucketed(text, arguments)


@pytest.mark.parametrize("element", ["i8", "i32"])
def test_scatters_in_a_bucket(element):
    shapes = {(8, 3): '{"y"}, {}', (3, 10): '{}, {"y"}', (4, 5): '{"y"}, {}', (6, 4): '{}, {"y"}', (10, 1): '{"y"}, {}'}
    arguments, ops, names, types = [], [], [], []
    for i, shape in enumerate(shapes):
        whole = f"tensor<8x{shape[0]}x{shape[1]}x{element}>"
        types.append(f"tensor<{shape[0]}x{shape[1]}x{element}>")
        names.append(f"%r{i}")
        arguments.append(f'%a{i}: {whole} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}, {{}}]>}}')
        ops.append(f"%r{i} = stablehlo.reduce(%a{i} init: %z) applies stablehlo.add across dimensions = [0] : "
                   f"({whole}, tensor<{element}>) -> {types[-1]}")  # fmt: skip
    results = [
        f"{t} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}" for t, dims in zip(types, shapes.values(), strict=True)
    ]
    lines = "\n      ".join(ops)
    text = f"""{HEAD}func.func @main({", ".join(arguments)}) -> ({", ".join(results)}) {{
      %z = stablehlo.constant dense<0> : tensor<{element}>
      {lines}
      return {", ".join(names)} : {", ".join(types)}
    }}"""
    counts = bucketed(text, [mixed(element, 8, *shape, seed=seed) for seed, shape in enumerate(shapes)])
    assert counts["reduce_scatter"] == (5, 1), counts


FSDP = ("mixer-fsdp", "attention-fsdp", "u-net-fsdp")


@pytest.mark.parametrize("pair", FSDP)
def test_fsdp_steps_gather_at_once(pair, row):
    text, inputs = corpus.lower(*pair.rsplit("-", 1))
    apart, together = (shardonnay.compile(text, no_bucketing=no_bucketing) for no_bucketing in (True, False))
    counts = [sum(entry["count"] for entry in compiled.report["collectives"]) for compiled in (apart, together)]
    row(f"{pair}: {counts[0]} collectives become {counts[1]}")
    assert counts[1] < 0.75 * counts[0]
    assert together.report["executed_bytes"] <= apart.report["executed_bytes"]
    assert_agrees(together, text, inputs)


QUICK = ("attention-uneven-2-D", "scanned-blocks-fsdp", "experts-2-D", "lstm-2-D", "graph-fsdp", "mixer-2-D")


@pytest.mark.parametrize("name, strategy", corpus.parameters(QUICK))
def test_no_pass_makes_a_program_dearer(name, strategy):
    """Under the default model, neither its price nor its bytes together; a few in every run, all with --long."""
    text, _ = corpus.lower(name, strategy)
    program = shardonnay.compile(text, to="reshard").text
    steps = ["sdy-reshard-to-collectives", "sdy-price-collectives"]
    for step in PASSES * 2:
        steps += [f"sdy-{step}", "sdy-price-collectives"]
    pipeline = f"--pass-pipeline=builtin.module(func.func({','.join(steps)}))"
    out = subprocess.run([SDY_OPT, "-", pipeline, "-o", "/dev/null"], input=program, text=True, capture_output=True)
    found = re.findall(r"remark: (\d+) collectives, (\d+) bytes, (?:([\d.e+-]+) (\w+)|no time)", out.stderr)
    assert out.returncode == 0 and len(found) == 1 + 2 * len(PASSES), out.stderr[-1000:]
    scale = {"": 0, "s": 1e6, "ms": 1e3, "us": 1, "ns": 1e-3, "bytes": 1}
    times = [float(time or 0) * scale[unit] for _, _, time, unit in found]
    for step, before, after in zip(PASSES * 2, times, times[1:]):
        assert after <= before * (1 + 1e-2), (step, before, after)
