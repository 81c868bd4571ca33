"""`partition` and `propagate`: functions that are called like those of `jax.jit`."""

import contextlib
import functools
import inspect
import types
import warnings
from collections.abc import Mapping

import jax
from jax.sharding import NamedSharding

from .. import _core
from ..options import Options
from . import annotations, arguments, building, rules
from .callers import Callers
from .meshes import check_mesh
from .stages import Traced
from .transforms import Call

_STATIC = ("static_argnums", "static_argnames")


@functools.lru_cache(maxsize=64)  # what is in it holds its function, and what that closes over
def _shared(shardings_given, key):
    """What functions of one key have in common: their callers."""
    return Callers(shardings_given)


def _callers_of(shardings_given, *parts):
    """The callers of a function with its options, so that it is compiled once, however often it is partitioned."""
    leaves, tree = jax.tree.flatten(parts)
    try:
        return _shared(shardings_given, (tree, tuple(leaves)))
    except TypeError:  # something in it has no hash
        return Callers(shardings_given)


class PartitionedFunction(_core.CachedFunction):
    """A function that is traced by JAX, partitioned by Shardonnay and run on the devices of its mesh.

    Each set of shardings of the arguments without a given one has a `jax.jit` of its own: within it JAX looks up types,
    static arguments and context, and moves arrays, as it does for any function.
    """

    def __init__(self, fn, build, jit_options, mesh, options, sharding_rules):
        """`build`: building.partitioned or .propagated. `jit_options`: what `jax.jit` is given, and priorities."""
        check_mesh(mesh)
        if not isinstance(options, Mapping | Options | None):
            raise TypeError(f"options: expected a dict of options, or a shardonnay.Options, got {options!r}")
        self._fn, self._build, self._mesh = fn, build, mesh
        self._options, self._rules = options or {}, rules.checked(sharding_rules or {})
        if isinstance(jit_options["in_shardings"], list):  # Positional arguments are a tuple; JAX takes a list for it.
            jit_options["in_shardings"] = tuple(jit_options["in_shardings"])
        self._given = [jit_options["in_shardings"], jit_options["out_shardings"]]
        self._jit_options = {
            name: arguments.named(annotations.plain(value), mesh) if name.endswith("shardings") else value
            for name, value in jit_options.items()
            if value is not None
        }
        traced_by = {name: value for name, value in self._jit_options.items() if name != "compiler_options"}
        self._inner = jax.jit(fn, keep_unused=True, **traced_by)  # JAX takes them from an outermost function only
        in_shardings = self._jit_options.get("in_shardings")
        all_given = in_shardings is not None and all(
            isinstance(leaf, NamedSharding) for leaf in arguments.leaves_with_none(in_shardings)
        )
        self._callers = _callers_of(all_given, fn, build, mesh, self._options, self._rules, jit_options)
        super().__init__(self._callers.cache)
        functools.update_wrapper(self, fn)

    def _make_caller(self, args, kwargs):
        """What a call is for that the cache does not know."""
        return self._callers.find(args, kwargs, self._caller)

    def _on_type_error(self, error):
        """Says what a caller's error means."""
        if "jvp" in str(error) and "custom_vjp" in str(error):
            raise TypeError(
                f"{getattr(self._fn, '__name__', self._fn)}: forward mode (jax.jvp) cannot go through a partitioned "
                "function; partition the function that jax.jvp makes of it: partition(lambda *args: jax.jvp(fn, ...))"
            ) from error

    def __repr__(self):
        return f"<{type(self).__name__} of {self._fn!r}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self  # It is a function; copies of what holds it share it, as they share other functions.

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def trace(self, *args, **kwargs):
        """The first of the stages of `jax.stages`. Arguments may be types (jax.ShapeDtypeStruct)."""
        self._check(args, kwargs)
        with self._context():
            traced = self._inner.trace(*args, **kwargs)
            own, given = arguments.shardings_of(args, kwargs), self._jit_options.get("in_shardings")
            known = arguments.known_shardings(args, kwargs, own, self._static(len(args)), given)
        return Traced(self, traced, self._dynamic(args, kwargs, known))

    def _check(self, args, kwargs):
        arguments.check_no_refs(getattr(self._fn, "__name__", self._fn), jax.tree.leaves((args, kwargs)))

    def _static(self, count):
        return arguments.static_positions(self._fn, *map(self._jit_options.get, _STATIC), count)

    def _dynamic(self, args, kwargs, values):
        """Those of `values`, one for each leaf of a call, that belong to arguments which are not static."""
        names = self._jit_options.get("static_argnames", ())
        names = (names,) if isinstance(names, str) else names
        return arguments.dynamic_leaves(args, kwargs, self._static(len(args)), names, values)

    def lower(self, *args, **kwargs):
        """`trace(...).lower()`."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args, **kwargs):
        """The types of the results, as `jax.eval_shape` gives them."""
        with self._context():
            return self._inner.eval_shape(*args, **kwargs)

    def clear_cache(self):
        """Forgets what was traced and compiled."""
        self._callers.clear()
        self._inner.clear_cache()

    def _context(self):
        if self._mesh is None:
            return contextlib.nullcontext()
        try:
            return jax.set_mesh(self._mesh)
        except ValueError:  # under a trace
            return jax.sharding.use_abstract_mesh(self._mesh.abstract_mesh)

    def source(self, traced, shardings, mesh=None):
        """The lowered function with the meshes that the user named, and what JAX has no words for."""
        given = [self._jit_options.get(name) for name in ("in_shardings", "out_shardings")]
        trees = traced.args_info[0], traced.out_info
        notes = annotations.Notes(*map(annotations.priorities, self._given, trees), self._rules)
        with warnings.catch_warnings(), self._context():
            warnings.simplefilter("ignore")  # the outer jit says it once more
            return building.Source.of(traced, [*jax.tree.leaves(given), *shardings], [mesh, self._mesh], notes)

    def build(self, source):
        """The program of a source."""
        return self._build(source, self._options)

    def plan(self, source):
        """What the program of a source would be."""
        if self._build is not building.partitioned:
            raise TypeError(
                f"{source.traced.fun_name}: after propagate XLA decides what devices run; expected "
                "shardonnay.jax.partition, whose programs are planned"
            )
        return building.planned(source, self._options)

    def compiler_options(self, given):
        """What XLA is given, `given` ahead of time after the function's own."""
        return {**(self._jit_options.get("compiler_options") or {}), **(given or {})}

    def _caller(self, mesh, shardings):
        """A `jax.jit` that traces, lowers and partitions the function when JAX traces it."""
        in_shardings = self._jit_options.get("in_shardings")

        @functools.wraps(self._fn)
        def body(*args, **kwargs):
            self._check(args, kwargs)
            leaves = jax.tree.leaves((args, kwargs))
            dynamic = self._dynamic(args, kwargs, leaves)
            if dynamic and not isinstance(dynamic[0], jax.core.Tracer):
                return self._fn(*args, **kwargs)  # JAX looks for a NaN, or jit is switched off
            own = shardings or (None,) * len(leaves)
            known = arguments.known_shardings(args, kwargs, own, self._static(len(args)), in_shardings)
            types_, keywords = arguments.abstract(args, kwargs, known)
            traced = self._inner.trace(*types_, **keywords)
            kinds = [leaf for leaf in jax.tree.leaves((types_, keywords)) if isinstance(leaf, jax.ShapeDtypeStruct)]
            source = self.source(traced, kinds, mesh)
            if source.devices() == 1:  # nothing to partition
                return self._inner(*args, **kwargs)
            program = self.build(source).program
            results = self._transformable(program, source, (args, kwargs), kinds)
            return jax.tree.unflatten(source.lowered.out_tree, results)

        return jax.jit(body, **self._jit_options)

    def _transformable(self, program, source, call, kinds):
        """The flat results of `program`, in a form that `jax.vmap` and `jax.grad` can transform.

        call: (args, kwargs). kinds: the types of its traced leaves.
        """
        leaves, tree = jax.tree.flatten(call)
        traced = [leaf for leaf in leaves if isinstance(leaf, jax.core.Tracer)]
        # JAX's cache keeps these functions as long as the body lives: they must hold neither the trace's values, nor
        # `self`, whose callers hold the body.
        static = [None if isinstance(leaf, jax.core.Tracer) else (leaf,) for leaf in leaves]
        inner, rules, meshes, make, options = self._inner, self._rules, source.meshes, self._build, self._options

        def flat(*values):
            left = iter(values)
            args, kwargs = jax.tree.unflatten(tree, [next(left) if held is None else held[0] for held in static])
            return tuple(jax.tree.leaves(inner(*args, **kwargs)))

        def build(function, kinds):
            traced = jax.jit(function, keep_unused=True).trace(*kinds)
            notes = annotations.Notes(table=rules, complete=False)
            return make(building.Source.of(traced, kinds, meshes, notes), options).program

        return Call(flat, kinds, build, program)(*traced)


class _FunctionOnMesh(PartitionedFunction):
    """One that was given its mesh."""

    def __call__(self, *args, **kwargs):
        with self._context():
            return super().__call__(*args, **kwargs)


def _decorated(build, fn, mesh, options, sharding_rules, **jit_options):
    if fn is None:
        return lambda fn: _decorated(build, fn, mesh, options, sharding_rules, **jit_options)
    made = PartitionedFunction if mesh is None else _FunctionOnMesh
    return made(fn, build, jit_options, mesh, options, sharding_rules)


def partition(
    fn=None,
    *,
    in_shardings=None,
    out_shardings=None,
    donate_argnums=None,
    donate_argnames=None,
    static_argnums=None,
    static_argnames=None,
    compiler_options=None,
    mesh=None,
    options=None,
    sharding_rules=None,
):
    """`jax.jit` with Shardonnay as the partitioner: `fn` runs on the devices of its shardings' mesh.

    All but the last three mean what they mean to `jax.jit`; without `fn` it is a decorator.

    in_shardings, out_shardings: may have `prioritized` shardings among them.
    mesh: on which PartitionSpecs are, in the shardings and within `fn`, as under `jax.set_mesh(mesh)`.
    compiler_options: XLA's. options: a dict of `shardonnay.compile`'s options, or an options object of its.
    sharding_rules: of custom calls by target: {"my_kernel": "b s d, d f -> b s f"}, texts or `ShardingRule`s.
    """
    return _decorated(building.partitioned, **locals())


def propagate(fn=None, **settings):
    """As `partition`, but XLA partitions: by the shardings that Shardonnay's propagation gives every value."""
    given = inspect.signature(partition).bind(fn, **settings)
    given.apply_defaults()
    return _decorated(building.propagated, **given.arguments)


setattr(propagate, "__signature__", inspect.signature(partition))
