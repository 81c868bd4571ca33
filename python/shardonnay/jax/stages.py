"""A partitioned function ahead of its call: Traced, Lowered and Compiled, as in `jax.stages`, and Planned."""

import inspect
from html import escape

import jax

from .. import explain as explanations
from .. import notebook
from .. import report as reports
from .signature import placed


class Report(dict):
    """What a program communicates and why, its memory and FLOPs; `str()` of it is to be read."""

    def __str__(self):
        return "\n".join(reports.lines(self))

    def _repr_html_(self):
        return notebook.report(f"{self['devices']} devices", self)


class Explanation(list):
    """Why values have their shardings, a dict each; `str()` of it is to be read."""

    def __str__(self):
        return "\n".join(line for value in self for line in explanations.lines(value))


class Stage:
    """What each of JAX's own stages, `jax`, says of arguments and results."""

    args_info = property(lambda self: self.jax.args_info)
    out_info = property(lambda self: self.jax.out_info)
    in_avals = property(lambda self: self.jax.in_avals)
    in_tree = property(lambda self: self.jax.in_tree)
    out_tree = property(lambda self: self.jax.out_tree)
    donate_argnums = property(lambda self: self.jax.donate_argnums)


class Traced(Stage):
    """A function traced for types of arguments; `jax` is JAX's own stage."""

    def __init__(self, function, traced, given):
        """`given`: of each flat argument, the NamedSharding that it has or is to have, or None."""
        self._function, self._given, self.jax = function, given, traced

    jaxpr = property(lambda self: self.jax.jaxpr)
    fun_name = property(lambda self: self.jax.fun_name)
    out_avals = property(lambda self: self.jax.out_avals)

    def lower(self, *, lowering_platforms=None, _private_parameters=None):
        """The global program, not partitioned yet. The keywords are what `jax.export` gives to `jax.jit`'s."""
        if lowering_platforms is not None:
            raise TypeError(
                f"{self.fun_name}: a partitioned function is lowered for the devices of its mesh, got "
                f"lowering_platforms={lowering_platforms}; to export it, jax.export.export(jax.jit(...)) of it"
            )
        named = [sharding for sharding in self._given if sharding is not None]
        return Lowered(self._function, self._function.source(self.jax, named), self._given)


class Lowered(Stage):
    """A function's global program in StableHLO with the user's shardings; `jax` is JAX's own stage."""

    def __init__(self, function, source, given):
        self._function, self._source, self._given, self.jax = function, source, given, source.lowered

    def as_text(self, dialect=None, *, debug_info=False):
        """As `jax.stages.Lowered.as_text`."""
        return self.jax.as_text(dialect, debug_info=debug_info)

    def compiler_ir(self, dialect=None):
        """As `jax.stages.Lowered.compiler_ir`."""
        return self.jax.compiler_ir(dialect)

    def cost_analysis(self):
        """XLA's, of the global program."""
        return self.jax.cost_analysis()

    def plan(self):
        """What the program of a device would be, for devices that need not be there: of an AbstractMesh, or other
        ones than these.
        """
        return Planned(self._function.plan(self._source))

    def compile(self, compiler_options=None):
        """Partitions the program and has XLA compile it. `compiler_options`: XLA's, as for `jax.stages`."""
        built = self._function.build(self._source)
        options = self._function.compiler_options(compiler_options)
        return Compiled(built, ahead_of_time(built.program, self._given, options))


def ahead_of_time(program, given=(), compiler_options=None):
    """The `jax.stages.Compiled` of a program, for arguments sharded as is `given`, else as it wants them."""
    with jax.enable_x64(program.signature.wide):
        return _lowered(program, given).compile(compiler_options)


def _lowered(program, given):
    signature, placements = program.signature, program.placements
    wanted = placements.inputs or [None] * len(signature.in_types)
    types = [
        placed(kind, sharding, host_memory)
        if own is None
        else jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=own, weak_type=kind.weak_type)
        for kind, sharding, host_memory, own in zip(
            signature.in_types,
            wanted,
            signature.host_arguments or [""] * len(wanted),
            given or [None] * len(wanted),
            strict=True,
        )
    ]
    args, kwargs = jax.tree.unflatten(signature.in_tree, list(types))
    flags = iter(signature.donated)

    def is_donated(argument):
        return any([next(flags) for _ in jax.tree.leaves(argument)])

    options = {
        "donate_argnums": tuple(at for at, arg in enumerate(args) if is_donated(arg)),
        "donate_argnames": tuple(name for name, arg in kwargs.items() if is_donated(arg)),
    }
    if placements.outputs:
        memories = signature.host_results or [""] * len(placements.outputs)
        outputs = [kind.sharding for kind in map(placed, signature.out_types, placements.outputs, memories)]
        options["out_shardings"] = jax.tree.unflatten(signature.out_tree, outputs)

    def call(*args, **kwargs):
        return jax.tree.unflatten(signature.out_tree, program.call(jax.tree.leaves((args, kwargs))))

    call.__name__ = call.__qualname__ = signature.name
    if signature.parameters:  # what JAX calls an argument that a call has wrong
        kinds = {name: inspect.Parameter.POSITIONAL_OR_KEYWORD for name in signature.parameters}
        kinds.update(dict.fromkeys(kwargs, inspect.Parameter.KEYWORD_ONLY))
        call.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name, kind in kinds.items()])
    return jax.jit(call, keep_unused=True, **options).lower(*args, **kwargs)


class Planned:
    """What was decided for a program; built: where it comes from (building.Built)."""

    def __init__(self, built):
        self.built = built

    def __repr__(self):
        return f"<shardonnay.jax.Planned: {self.manifest['devices']} devices>"

    def _repr_html_(self):
        """What a notebook shows: the collectives with their causes."""
        found = self.built.report()
        return escape(repr(self)) if found is None else notebook.report(repr(self).strip("<>"), found)

    def as_text(self):
        """The program of one device, in StableHLO; after `propagate`, the global one with all shardings."""
        return self.built.text

    @property
    def manifest(self):
        """What each device is given and returns (`shardonnay.Compiled.manifest`)."""
        return self.built.manifest

    def report(self):
        """Collectives with their reasons, memory and FLOPs of a device; None after `propagate`: XLA decides them."""
        found = self.built.report()
        return None if found is None else Report(found)

    def explain(self, query=None):
        """Why values have their shardings: all of them, or those whose name, line or scope `query` says."""
        values = explanations.explain(self.built.source, options=self.built.options)
        return Explanation(values if query is None else explanations.select(values, query))


class Compiled(Planned, Stage):
    """A program that runs: called like the function without its static arguments; `jax` is JAX's own stage."""

    def __init__(self, built, compiled):
        super().__init__(built)
        self.jax = compiled

    input_formats = property(lambda self: self.jax.input_formats, doc="Shardings with layouts, as in `jax.stages`.")
    output_formats = property(lambda self: self.jax.output_formats)
    input_shardings = property(lambda self: self.jax.input_shardings, doc="(of the arguments, of the keywords).")
    output_shardings = property(lambda self: self.jax.output_shardings, doc="Of the results.")

    def __call__(self, *args, **kwargs):
        return self.jax(*args, **kwargs)

    def __repr__(self):
        program = self.built.program
        return f"<shardonnay.jax.Compiled: {program.signature.name}, {program.placements.devices} devices>"

    def cost_analysis(self):
        """XLA's, of the program of one device."""
        return self.jax.cost_analysis()

    def memory_analysis(self):
        """XLA's, of one device."""
        return self.jax.memory_analysis()

    def runtime_executable(self):
        """As `jax.stages.Compiled.runtime_executable`."""
        return self.jax.runtime_executable()
