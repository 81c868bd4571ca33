"""The flat signature of a traced function, with which its program is called again."""

import re
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.extend.mlir import ir

from .artefacts import main_of

_MEMORY = "mhlo.memory_kind"


def is_key(dtype):
    """True for the dtype of typed PRNG keys (`jax.random.key`)."""
    return jnp.issubdtype(dtype, jax.dtypes.prng_key)


def key_implementation(kind):
    """The implementation of the keys of a type, by its name."""
    found = []
    jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), kind)  # it takes values, not types
    return found[0]


def physical(value):
    """A typed key as the array that its program has; any other value as it is."""
    return jax.random.key_data(value) if is_key(value.dtype) else value


def physical_type(kind):
    """The type of `physical` for a value of type `kind`, without its sharding."""
    if not is_key(kind.dtype):
        return jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
    found = jax.eval_shape(jax.random.key_data, kind)
    return jax.ShapeDtypeStruct(found.shape, found.dtype)


def placed(kind, sharding, host_memory=""):
    """The type `kind` with the sharding that its program's array has, in a memory of the host's if one is named.

    Keys have a dim less.
    """
    if sharding is not None and host_memory:
        sharding = sharding.with_memory_kind(host_memory)
    if sharding is not None and is_key(kind.dtype):
        spec = tuple(sharding.spec)[: len(kind.shape)]
        sharding = jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*spec))
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type, sharding=sharding)


def _type_to_json(kind):
    dtype = {"key": str(key_implementation(kind))} if is_key(kind.dtype) else kind.dtype.name
    return {"shape": kind.shape, "dtype": dtype, "weak_type": kind.weak_type}


def _type_from_json(entry):
    dtype = entry["dtype"]
    if isinstance(dtype, dict):
        dtype = jax.eval_shape(lambda: jax.random.key(0, impl=dtype["key"])).dtype
    return jax.ShapeDtypeStruct(tuple(entry["shape"]), dtype, weak_type=entry["weak_type"])


def _parameters(traced):
    """The names of the parameters that the positional arguments were given to; none if JAX does not know them all."""
    leaves = iter(traced.jaxpr.jaxpr.debug_info.arg_names or ())
    found = []
    for argument in traced.args_info[0]:
        names = {re.match(r"\w*", next(leaves, ""))[0] for _ in jax.tree.leaves(argument)}
        found += names if len(names) == 1 else [""]
    return tuple(found) if "" not in found and len(set(found)) == len(found) else ()


def _host_memories(avals, attributes):
    """Of each value the kind of the host's memory that it is in, "" for others; attributes: of a lowered `main`.

    Types name no kind, and take what is unpinned for the device's.
    """
    kinds = [ir.StringAttr(entry[_MEMORY]).value if _MEMORY in entry else "" for entry in attributes]
    kinds = kinds if len(kinds) == len(avals) else [""] * len(avals)  # a function with tokens has more
    return tuple(
        kind if kind.endswith("_host") else "pinned_host" if aval.memory_space == jax.memory.Space.Host else ""
        for aval, kind in zip(avals, kinds)
    )


@dataclass(frozen=True)
class Signature:
    """Types of arguments and results, flat, with their trees.

    donated: of each argument, whether it may be overwritten.
    host_arguments, host_results: of each the kind of the host's memory that it is in, "" for others; empty for programs
        of older versions.
    wide: whether JAX had 64-bit types when it traced.
    parameters: what the function calls its positional arguments; empty if that is not known.
    """

    name: str
    in_types: tuple
    out_types: tuple
    in_tree: jax.tree_util.PyTreeDef
    out_tree: jax.tree_util.PyTreeDef
    donated: tuple
    wide: bool
    parameters: tuple = ()
    host_arguments: tuple = ()
    host_results: tuple = ()

    @classmethod
    def of(cls, traced, lowered):
        """Of a `jax.stages.Traced` and its `Lowered`."""
        main = main_of(lowered.compiler_ir("stablehlo")).attributes

        def types(avals):
            return tuple(jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in avals)

        return cls(
            traced.fun_name,
            types(jax.tree.leaves(traced.in_avals)),
            types(traced.jaxpr.out_avals),
            traced.in_tree,
            traced.out_tree,
            tuple(info.donated for info in jax.tree.leaves(traced.args_info)),
            jax.config.jax_enable_x64,
            _parameters(traced),
            _host_memories(traced.jaxpr.in_avals, main["arg_attrs"] if "arg_attrs" in main else ()),
            _host_memories(traced.jaxpr.out_avals, main["res_attrs"] if "res_attrs" in main else ()),
        )

    def to_json(self):
        """All but the trees."""
        return {
            "name": self.name,
            "in_types": [_type_to_json(kind) for kind in self.in_types],
            "out_types": [_type_to_json(kind) for kind in self.out_types],
            "donated": self.donated,
            "wide": self.wide,
            "parameters": self.parameters,
            "host_arguments": self.host_arguments,
            "host_results": self.host_results,
        }

    @classmethod
    def from_json(cls, entry, in_tree, out_tree):
        """What `to_json` wrote, with the trees."""
        with jax.enable_x64(entry["wide"]):
            types = [tuple(map(_type_from_json, entry[name])) for name in ("in_types", "out_types")]
        donated = tuple(entry["donated"])
        later = [tuple(entry.get(name, ())) for name in ("parameters", "host_arguments", "host_results")]
        return cls(entry["name"], *types, in_tree, out_tree, donated, entry["wide"], *later)
