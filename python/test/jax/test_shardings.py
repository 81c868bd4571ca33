"""Shardings as users write them: tables, flax's metadata, priorities, open dims, partial sums."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.sharding import AxisType
from outcomes import MESH, P, compare, on, put, ramp
from shardonnay.jax import (
    MeshError,
    by_logical_axes,
    by_path,
    constrain,
    logical_spec,
    partition,
    prioritized,
    propagate,
)

X = ramp(8, 16)
RULES = [("batch", "data"), ("embed", None), ("mlp", "model"), ("vocab", ("model", "data")), ("heads", "model")]


def specs(tree):
    return jax.tree.map(lambda sharding: sharding.spec, tree)


def test_by_path():
    params = {"layers": [{"attention": {"kernel": X, "bias": X[0]}, "mlp": {"kernel": X}}], "step": np.float32(1)}
    table = [(r"attention/kernel$", P(None, "model")), (r"kernel", P("model")), (r"bias|scale", P())]
    found = by_path(table, params, MESH)
    assert found == by_path(dict(table), params, MESH)
    assert specs(found) == {
        "layers": [{"attention": {"kernel": P(None, "model"), "bias": P()}, "mlp": {"kernel": P("model")}}],
        "step": P(),
    }
    compare(
        partition(lambda p: jax.tree.map(jnp.sin, p), in_shardings=(found,))(params),
        jax.tree.map(jnp.sin, params),
        places=False,
    )


@pytest.mark.parametrize(
    "table, message",
    [
        ([("bias", P())], r"layers/0/kernel: no rule for it \(shape \(8, 16\)\); end the table with a rule"),
        ([(".*", P(None, None, "data"))], r"layers/0/kernel: rule '\.\*' has 3 dims, expected at most the 2"),
        (
            [(".*", P("tensor"))],
            r"rule '\.\*': axis \"tensor\" is not in the mesh, expected one of \['data', 'model'\]",
        ),
        (
            [(".*", P("data:(1)2"))],
            r"\"data:\(1\)2\" is a part of an axis.*split \"data\" in the mesh, into axes of sizes \[2, 2\]",
        ),
    ],
)
def test_by_path_says_what_is_wrong(table, message):
    with pytest.raises(ValueError, match=message):
        by_path(table, {"layers": [{"kernel": X}]}, MESH)


@pytest.mark.parametrize("transform", [partition, propagate])
def test_parts_of_axes_are_refused(transform):
    with pytest.raises(ValueError, match='split "data" in the mesh'):
        transform(lambda x: x, in_shardings=P("data:(2)2"), mesh=MESH)


@pytest.mark.parametrize(
    "names, expected",
    [
        (("batch", "embed"), P("data", None)),
        (("embed", "mlp"), P(None, "model")),
        (("mlp", "heads"), P("model", None)),  # the earlier rule has the axis
        (("heads", "mlp"), P(None, "model")),
        (("vocab", "embed"), P(("model", "data"), None)),
        (("vocab", "batch"), P(None, "data")),
        ((None, "unknown"), P(None, None)),
        ((), P()),
    ],
)
def test_logical_names(names, expected):
    assert logical_spec(RULES, names) == expected
    assert logical_spec(RULES, names) == nn.logical_to_mesh_axes(names, RULES)


def test_a_later_rule_is_for_where_the_axes_are_used():
    rules = [("batch", "data"), ("features", "data"), ("heads", "model"), ("batch", "model")]
    for names in (("features", "batch"), ("heads", "batch"), ("batch", "features", "heads")):
        assert logical_spec(rules, names) == nn.logical_to_mesh_axes(names, rules)


def test_maxtext_like_tables():
    names = {"wi": ("embed", "mlp"), "embedding": ("vocab", "embed"), "scale": ("norm",), "count": ()}
    found = specs(by_logical_axes(RULES, names, MESH))
    assert found == {"wi": P(None, "model"), "embedding": P(("model", "data"), None), "scale": P(None), "count": P()}
    with pytest.raises(ValueError, match="rule 'embed': axis \"fsdp\" is not in the mesh"):
        by_logical_axes([("embed", ["fsdp", "data"])], names, MESH)


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))
        h = jax.nn.gelu(nn.Dense(32, kernel_init=init)(x))
        h = nn.with_logical_constraint(h, ("batch", "mlp"))
        init = nn.with_partitioning(nn.initializers.lecun_normal(), ("model", None))
        return nn.Dense(16, kernel_init=init)(h)


@pytest.mark.parametrize("transform", [partition, propagate])
def test_linen_metadata(transform):
    module = Linen()
    boxed = module.init(jax.random.key(0), X)
    shardings = by_logical_axes(RULES, boxed, MESH)
    expected = nn.logical_to_mesh_sharding(nn.get_partition_spec(boxed), MESH, RULES)
    kernels = [shardings["params"][name]["kernel"] for name in ("Dense_0", "Dense_1")]
    assert [sharding.spec for sharding in kernels] == [P(None, "model"), P("model", None)]
    assert kernels[0] == expected["params"]["Dense_0"]["kernel"]

    def loss(variables, x):
        with nn.logical_axis_rules(RULES):
            return (module.apply(variables, x) ** 2).mean()

    arguments = {"in_shardings": (shardings, on("data")), "out_shardings": (on(), shardings)}
    found = transform(jax.value_and_grad(loss), mesh=MESH, **arguments)(boxed, X)
    compare(found, jax.jit(jax.value_and_grad(loss), **arguments)(boxed, X))
    text = partition(loss, mesh=MESH, **{"in_shardings": arguments["in_shardings"]}).lower(boxed, X).as_text()
    assert (
        "sdy.sharding_constraint" in text and '[{"data"}, {"model"}]' in text
    )  # flax's own, by the rules of the context


def test_nnx_metadata():
    def linear(inputs, outputs, names):
        return nnx.Linear(inputs, outputs, rngs=nnx.Rngs(0), kernel_metadata={"out_sharding": names}, use_bias=False)

    class Model(nnx.Module):
        def __init__(self):
            self.first, self.second = linear(16, 32, ("embed", "mlp")), linear(32, 16, ("mlp", "embed"))

        def __call__(self, x):
            return self.second(jax.nn.gelu(self.first(x)))

    with nnx.use_eager_sharding(False):
        graph, state = nnx.split(Model())
    shardings = by_logical_axes(RULES, state, MESH)
    found = [leaf.spec for leaf in jax.tree.leaves(shardings)]
    assert found == [P(None, "model"), P("model", None)]
    f = lambda state, x: nnx.merge(graph, state)(x)  # noqa: E731
    arguments = {"in_shardings": (shardings, on("data")), "out_shardings": on("data")}
    compare(partition(f, **arguments)(state, X), jax.jit(f, **arguments)(state, X))


@pytest.mark.parametrize("transform", [partition, propagate])
@pytest.mark.parametrize("first, spec", [(0, P("data", None)), (1, P(None, "data"))])
def test_priorities(transform, first, spec):
    """Of two shardings that meet, the one of the earlier round goes on; equal ones would not tell."""
    given = (prioritized(on("data"), first), prioritized(on(None, "data"), None, 1 - first))
    found = transform(lambda x, y: x + y, in_shardings=given)(X, X)
    assert found.sharding.is_equivalent_to(on(*spec), 2)

    def inside(x, y):
        x = constrain(jnp.sin(x), on("data", P.UNCONSTRAINED), first)
        return x + constrain(jnp.cos(y), on(P.UNCONSTRAINED, "data"), 1 - first)

    assert transform(inside)(X, X).sharding.is_equivalent_to(on(*spec), 2)


def test_priorities_beside_nothing():
    given = ({"a": None, "x": prioritized(on(None, "data"), 1), "y": prioritized(on("data"), 0)},)
    found = partition(lambda t: t["x"] + t["y"], in_shardings=given)({"a": None, "x": X, "y": X})
    assert found.sharding.is_equivalent_to(on("data"), 2)


def test_priorities_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"expected numbers from 0, or None, got \[-1\]"):
        prioritized(on("data"), -1)
    with pytest.raises(ValueError, match="3 priorities, expected one or as many as dims"):
        partition(lambda x: x, in_shardings=prioritized(on("data"), 0, 1, 2))(X)


@pytest.mark.parametrize("dim, is_sharded", [(None, False), (P.UNCONSTRAINED, True)])
def test_open_and_closed_dims(dim, is_sharded):
    """A closed dim stays whole; an open one takes the axis that its operand has."""
    f = partition(lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), on("data", dim)) * 2)
    assert f(put(X, None, "model")).sharding.is_equivalent_to(on("data", "model") if is_sharded else on("data"), 2)


def test_partial_sums():
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    x, w = put(X, None, "model", mesh=mesh), put(ramp(16, 8), "model", mesh=mesh)

    def kept(x, w):
        return jnp.einsum("ij,jk->ik", x, w, out_sharding=P(unreduced={"model"}))

    def reduced(x, w):
        return jax.sharding.reshard(kept(x, w), P("data", None))

    with jax.set_mesh(mesh):
        compare(partition(reduced)(x, w), jax.jit(reduced)(x, w))
        partial = partition(kept)(x, w)
        assert partial.sharding.spec.unreduced == {"model"}
        assert not partition(kept).lower(x, w).compile().report()["collectives"]
        compare(partition(lambda a: jax.sharding.reshard(a, P("data", None)))(partial), jax.jit(reduced)(x, w))


@pytest.mark.skipif(not hasattr(jax.sharding, "UnreducedKind"), reason="partial values of this JAX are sums")
@pytest.mark.parametrize("kind", ["max", "min"])
def test_partial_maxima(kind):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    x = put(X, "data", mesh=mesh)
    unreduced = P(None, unreduced={"data"}, unreduced_kind=jax.sharding.UnreducedKind[kind])

    def kept(x):
        return getattr(jax.lax, f"reduce_{kind}")(x - 60, (0,), out_sharding=unreduced)

    def whole(a):
        return jax.sharding.reshard(a, P(None))

    with jax.set_mesh(mesh):
        expected = jax.jit(lambda x: whole(kept(x)))(x)
        compare(partition(lambda x: whole(kept(x)))(x), expected)
        compare(propagate(lambda x: whole(kept(x)))(x), expected)
        compare(partition(whole)(jax.jit(kept)(x)), expected)
        with pytest.raises(MeshError, match=f"result 0 is a partial {kind}"):
            partition(kept)(x)
        with pytest.raises(MeshError, match=f"argument 0 is a partial {kind}"):
            propagate(whole)(jax.jit(kept)(x))
