"""The stages of a partitioned function ahead of its call, as in `jax.stages`: Traced, Lowered, Compiled."""

import functools

import jax

from .. import explain as explanations
from .. import report as reports
from .execution import call_with_tree, is_key


class Report(dict):
    """What a program communicates and why, its memory and FLOPs; `str()` of it is to be read."""

    def __str__(self):
        return "\n".join(reports.lines(self))


class Explanation(list):
    """Why values have their shardings, a dict each; `str()` of it is to be read."""

    def __str__(self):
        return "\n".join(line for value in self for line in explanations.lines(value))


class Traced:
    """A function traced for types of arguments; `jax` is JAX's own stage."""

    def __init__(self, function, traced, shardings):
        self._function, self._shardings, self.jax = function, shardings, traced

    jaxpr = property(lambda self: self.jax.jaxpr)
    fun_name = property(lambda self: self.jax.fun_name)
    args_info = property(lambda self: self.jax.args_info)
    out_info = property(lambda self: self.jax.out_info)
    in_tree = property(lambda self: self.jax.in_tree)
    out_tree = property(lambda self: self.jax.out_tree)

    def lower(self):
        """The global program, not partitioned yet."""
        return Lowered(self._function, self._function.source(self.jax, self._shardings))


class Lowered:
    """A function's global program in StableHLO with the user's shardings; `jax` is JAX's own stage."""

    def __init__(self, function, source):
        self._function, self._source, self.jax = function, source, source.lowered

    args_info = property(lambda self: self.jax.args_info)
    out_info = property(lambda self: self.jax.out_info)
    in_tree = property(lambda self: self.jax.in_tree)
    out_tree = property(lambda self: self.jax.out_tree)

    def as_text(self, dialect=None, *, debug_info=False):
        """As `jax.stages.Lowered.as_text`."""
        return self.jax.as_text(dialect, debug_info=debug_info)

    def compile(self, compiler_options=None):
        """Partitions the program and has XLA compile it. `compiler_options`: XLA's, as for `jax.stages`."""
        built = self._function.build(self._source)
        jitted, args, kwargs = ahead_of_time(built.program, self.jax, self._source.traced)
        return Compiled(built, jitted.lower(*args, **kwargs).compile(compiler_options))


def ahead_of_time(program, lowered, traced):
    """(a `jax.jit` of the program with the lowered function's trees, args, kwargs): types with the placements of `program`."""
    leaves = jax.tree.leaves(traced.in_avals)
    shardings = program.placements.inputs or [None] * len(leaves)
    types = [
        jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type, sharding=logical_sharding(kind, sharding))
        for kind, sharding in zip(leaves, shardings, strict=True)
    ]
    args, kwargs = jax.tree.unflatten(lowered.in_tree, types)
    donated_args, donated_kwargs = jax.tree.map(lambda info: info.donated, lowered.args_info)
    options = {
        "donate_argnums": tuple(at for at, arg in enumerate(donated_args) if any(jax.tree.leaves(arg))),
        "donate_argnames": tuple(name for name, arg in donated_kwargs.items() if any(jax.tree.leaves(arg))),
    }
    if program.placements.outputs:
        kinds = jax.tree.leaves(lowered.out_info)
        outputs = map(logical_sharding, kinds, program.placements.outputs)
        options["out_shardings"] = jax.tree.unflatten(lowered.out_tree, outputs)
    call = functools.partial(call_with_tree, program, lowered.out_tree)
    call.__name__ = traced.fun_name
    return jax.jit(call, keep_unused=True, **options), args, kwargs


def logical_sharding(kind, sharding):
    """The sharding of a value of type `kind` whose program's array is sharded like this: keys have a dim less."""
    if sharding is None or not is_key(kind.dtype):
        return sharding
    spec = tuple(sharding.spec)[: len(kind.shape)]
    return jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*spec))


class Compiled:
    """A program that runs: called like the function without its static arguments; `jax` is JAX's own stage."""

    def __init__(self, built, compiled):
        self._built, self.jax = built, compiled

    args_info = property(lambda self: self.jax.args_info)
    out_info = property(lambda self: self.jax.out_info)
    in_tree = property(lambda self: self.jax.in_tree)
    out_tree = property(lambda self: self.jax.out_tree)
    input_shardings = property(lambda self: self.jax.input_shardings, doc="(of the arguments, of the keywords).")
    output_shardings = property(lambda self: self.jax.output_shardings, doc="Of the results.")

    def __call__(self, *args, **kwargs):
        return self.jax(*args, **kwargs)

    def as_text(self):
        """The program of one device, in StableHLO; after `propagate`, the global one with all shardings."""
        return self._built.compiled.text

    @property
    def manifest(self):
        """What each device is given and returns (`shardonnay.Compiled.manifest`)."""
        return self._built.compiled.manifest

    def report(self):
        """Collectives and their reasons, memory and FLOPs of a device."""
        return Report(self._built.compiled.report)

    def explain(self, query=None):
        """Why values have their shardings: all of them, or those whose name, line or scope `query` says."""
        values = explanations.explain(self._built.text)
        return Explanation(values if query is None else explanations.select(values, query))

    def cost_analysis(self):
        """XLA's, of the program of one device."""
        return self.jax.cost_analysis()

    def memory_analysis(self):
        """XLA's, of one device."""
        return self.jax.memory_analysis()
