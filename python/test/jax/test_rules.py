"""Sharding rules of custom calls, from Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shardonnay
from outcomes import P, on, put, ramp
from shardonnay.jax import RuleError, ShardingRule, partition, propagate
from shardonnay.jax.rules import attribute

TARGET = "lapack_sgetrf_ffi"
RULE = "b i j -> b i j, b k, b"


def factors(x):
    """LU factors by the call that JAX makes of them, without its rule."""
    batch, size, _ = x.shape
    types = [
        jax.ShapeDtypeStruct(shape, kind)
        for shape, kind in (((batch, size, size), x.dtype), ((batch, size), jnp.int32), ((batch,), jnp.int32))
    ]
    return jax.ffi.ffi_call(TARGET, types, input_layouts=[(0, 2, 1)], output_layouts=[(0, 2, 1), None, None])(x)


SQUARES = put(ramp(8, 4, 4) + 30 * np.eye(4, dtype=np.float32), "data")


@pytest.mark.parametrize("transform", [partition, propagate])
def test_a_call_with_a_rule_is_sharded(transform):
    jnp.linalg.inv(jnp.eye(3))  # JAX loads LAPACK
    found = transform(factors, sharding_rules={TARGET: RULE})(SQUARES)
    expected = jax.scipy.linalg.lu_factor(np.asarray(SQUARES))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    assert [value.sharding.spec[0] for value in found] == ["data"] * 3


def test_the_rule_is_what_shards_it():
    without, with_rule = (
        partition(factors, sharding_rules=rules).lower(SQUARES).compile() for rules in (None, {TARGET: RULE})
    )
    assert [entry["kind"] for entry in without.report()["collectives"]] == ["all_gather"]
    assert not with_rule.report()["collectives"]
    assert "tensor<2x4x4xf32>" in with_rule.as_text()


def test_attributes():
    text = attribute("b s d, d f -> b s f", [(2, 3, 4), (4, 5)], [(2, 3, 5)])
    assert (
        text
        == "#sdy.op_sharding_rule<([i, j, k], [k, l])->([i, j, l]) {i=2, j=3, k=4, l=5} need_replication={k}, custom>"
    )
    summed = attribute(ShardingRule("i k, k j -> i j", reduction=("k",)), [(2, 3), (3, 4)], [(2, 4)])
    assert summed == "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=2, j=3, k=4} reduction={j}, custom>"
    split = attribute("b (h d), h -> b h d", [(2, 12), (3,)], [(2, 3, 4)])
    assert split.startswith("#sdy.op_sharding_rule<([i, jk], [j])->([i, j, k]) {i=2, j=3, k=4}")
    sized = attribute(ShardingRule("(a b) -> (a b)", replicated=("b",), sizes={"a": 3}), [(12,)], [(12,)])
    assert sized == "#sdy.op_sharding_rule<([ij])->([ij]) {i=3, j=4} need_replication={j}, custom>"
    many = " ".join(f"d{at}" for at in range(20))
    assert "r, z, z_1, z_2]" in attribute(f"{many} -> {many}", [(2,) * 20], [(2,) * 20]).replace(
        "s, t, u, v, w, x, y", "r"
    )


@pytest.mark.parametrize(
    "rule, message",
    [
        ("b i j", 'expected "operands -> results"'),
        ("b i -> b", r"does not fit operands of shapes \[\[8, 4, 4\]\]"),
        ("b i j -> b i j, b k", "does not fit results of shapes"),
        ("b (i j -> b", "parentheses do not match"),
        ("b i-j -> b", 'expected names and parentheses, got "-j"'),
        ("b i i -> b (i i) i, b i, b", "does not fit|i i is 16, but the dim has 4"),
        ("b i (x y) -> b i (x y), b i, b", r"the size of \['x', 'y'\] does not follow from the shapes; give sizes="),
    ],
)
def test_a_rule_that_does_not_fit(rule, message):
    with pytest.raises(shardonnay.CompileError, match=rf"test_rules.py:\d+:\d+: error: '{TARGET}'.*({message})"):
        partition(factors, sharding_rules={TARGET: rule})(SQUARES)


def test_a_rule_for_nothing():
    with pytest.raises(RuleError, match=r"the program has no custom call of \['my_kernel'\]"):
        partition(lambda x: x + 1, sharding_rules={"my_kernel": RULE})(SQUARES)


def test_jaxs_own_rules_hold():
    found = partition(jnp.linalg.cholesky, in_shardings=on("data"))
    assert found(np.asarray(SQUARES)).sharding.spec == P("data")
    assert not found.lower(SQUARES).compile().report()["collectives"]
